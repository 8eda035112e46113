// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package stop knows whether acting is off, and why: because the operator runs with --dry-run, or because somebody
// stopped all acting by an annotation on the operator's own namespace.
package stop

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const (
	// patience is how long a run waits for the first answer about the namespace.
	patience = 10 * time.Second
	// maxReason bounds the reason that somebody gives, in bytes.
	maxReason = 256
	// tries is how often the API server is asked that answers and cannot say, with pauses that grow.
	tries        = 5
	firstPause   = 200 * time.Millisecond
	longestPause = 5 * time.Second
)

// Error is why a run was stopped before its next object.
type Error struct{ why string }

// Error implements error.
func (e *Error) Error() string { return e.why }

// Because is the Error of a reason.
func Because(why string) error { return &Error{why} }

// Switch says whether acting is off. All its methods may be called at once.
type Switch struct {
	// Changes gets a value after each change. Who is slow gets one for several. Nil when nothing ever changes.
	Changes chan struct{}

	namespace string
	client    metadata.Getter
	// asked is closed when the first attempt to read the namespace has ended.
	asked chan struct{}

	mu       sync.Mutex
	wasAsked bool
	// why acting is off. Empty when it is on, or when that is not known yet.
	why string
	// fault is why it is not known. Nil when it is known.
	fault error
	// acting are the runs that act, each with what stops it.
	acting map[int]context.CancelCauseFunc
	last   int
}

// Fixed is a Switch that always says the same; with an empty reason acting is on.
func Fixed(why string) *Switch { return &Switch{why: why} }

// Watching is a Switch that goes by the annotation on the operator's namespace. It knows nothing before Start.
func Watching(client metadata.Interface, namespace string) *Switch {
	return &Switch{
		Changes: make(
			chan struct{},
			1,
		),
		namespace: namespace,
		client:    client.Resource(namespaces),
		asked:     make(chan struct{}),
		fault: fmt.Errorf(
			"the operator's namespace %s was not read yet",
			namespace,
		),
		acting: map[int]context.CancelCauseFunc{},
	}
}

// Why says why acting is off, as far as is known. Empty when it is on.
func (s *Switch) Why() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why
}

// Wait waits until something is known, and returns why nothing is.
func (s *Switch) Wait(ctx context.Context) error {
	if s.asked == nil {
		return nil
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-s.asked:
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

// Confirm asks the API server, before a run acts: the watch may be broken without anybody having noticed. It returns an
// *Error when acting is off, and any other error when nobody knows. While the API server is away it is asked again
// until the context ends; when it answers that it cannot say, a few times.
func (s *Switch) Confirm(ctx context.Context) error {
	pause := firstPause
	for failed := 1; ; failed++ {
		err := s.confirm(ctx)
		var answer apierrors.APIStatus
		var away *url.Error
		switch {
		case errors.As(err, &answer):
			if code := answer.Status().Code; failed == tries ||
				code < http.StatusInternalServerError && code != http.StatusTooManyRequests {
				return err
			}
		case !errors.As(err, &away):
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		pause = min(2*pause, longestPause)
	}
}

// confirm asks once.
func (s *Switch) confirm(ctx context.Context) error {
	if s.client != nil {
		if err := s.Wait(ctx); err != nil {
			return s.unknown(err)
		}
		limited, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		namespace, err := s.client.Get(limited, s.namespace, metav1.GetOptions{})
		switch {
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case err != nil:
			return s.unknown(err)
		case namespace.Name != s.namespace || namespace.UID == "":
			return s.unknown(errors.New("the answer is not an API server's"))
		}
		if why := reasonOf(namespace); why != "" {
			return &Error{why}
		}
	}
	if why := s.Why(); why != "" { // the watch may be ahead
		return &Error{why}
	}
	return nil
}

// unknown says that nobody knows whether acting is stopped, and the way out.
func (s *Switch) unknown(err error) error {
	return fmt.Errorf("it is not known whether all acting is stopped (annotation %s on namespace %s): %w. "+
		"The operator must be able to get, list and watch its own namespace, which the environment variable NAMESPACE names", v1alpha1.StopAnnotation, s.namespace, err)
}

// off says why nobody may act now: an *Error, or why that is not known. Nil when acting is on.
func (s *Switch) off() error {
	if s.why != "" {
		return &Error{s.why}
	}
	return s.fault
}

// WhileActing is a context for acting: it ends as soon as acting is off, with an *Error, or as soon as that is not
// known any more.
func (s *Switch) WhileActing(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if off := s.off(); off != nil {
		cancel(off)
	}
	if s.acting == nil {
		return ctx, func() { cancel(nil) }
	}
	s.last++
	id := s.last
	s.acting[id] = cancel
	return ctx, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.acting, id)
	}
}

// set takes note of what is known now.
func (s *Switch) set(why string, fault error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setLocked(why, fault)
}

// failed takes note of an attempt to read the namespace that failed. What is known already holds until there is another
// answer.
func (s *Switch) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != nil {
		s.setLocked("", fmt.Errorf("the operator's namespace %s cannot be watched: %w", s.namespace, err))
	}
}

// setLocked stops the runs that act, if they must not any more, before anybody can see the change.
func (s *Switch) setLocked(why string, fault error) {
	before, knew := s.why, s.fault == nil
	s.why, s.fault = why, fault
	if off := s.off(); off != nil {
		for _, cancel := range s.acting {
			cancel(off)
		}
	}
	if !s.wasAsked {
		s.wasAsked = true
		close(s.asked)
	}
	if why == before && knew == (fault == nil) {
		return
	}
	klog.Background().Info("Whether acting is stopped has changed", "why", why, "fault", fault)
	select {
	case s.Changes <- struct{}{}:
	default:
	}
}

// reasonOf says why acting is off by the annotations of the operator's namespace. Empty when it is on.
func reasonOf(namespace metav1.Object) string {
	value, stopped := namespace.GetAnnotations()[v1alpha1.StopAnnotation]
	if !stopped {
		return ""
	}
	return Words(value)
}

// Words are the reason for which acting is off when the annotation has the value. It goes into status, logs and
// messages.
func Words(value string) string {
	printable := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, value)
	reason := v1alpha1.Truncate(strings.Join(strings.Fields(printable), " "), maxReason)
	if reason == "" {
		return v1alpha1.StopWords + " (no reason was given)"
	}
	return fmt.Sprintf("%s (%s)", v1alpha1.StopWords, reason)
}
