// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

const (
	// eventReason is k8s-cleaner's.
	eventReason = "K8sCleaner"
	// eventParallel is how many Events of one run are written at once.
	eventParallel = 8
	// eventTimeout bounds the writing of one Event.
	eventTimeout = 10 * time.Second
)

// Event returns the channel that records one Event on each object that the run handled. controller and instance say who
// reports. An Event that was written before is not written again: its name is the run's and the object's.
func Event(live client.Client, clk clock.PassiveClock, controller, instance string) Channel {
	return func(ctx context.Context, message Message) error {
		handled := handledOf(message)
		errs := make([]error, len(handled))
		now := clk.Now()
		write := func(i int) error {
			err := fault.Logged(ctx, func() error {
				event := eventFor(message, handled[i], now)
				event.ReportingController, event.ReportingInstance = controller, instance
				bounded, cancel := context.WithTimeout(ctx, eventTimeout)
				defer cancel()
				return unwritten(live.Create(bounded, event), event.Namespace)
			})
			if p := (*fault.Error)(nil); errors.As(err, &p) {
				return permanent("%s", p)
			}
			return err
		}
		begun := make([]bool, len(handled))
		var silent atomic.Int32 // how many in a row got no answer
		asking, stop := context.WithCancel(ctx)
		defer stop()
		workqueue.ParallelizeUntil(asking, eventParallel, len(handled), func(i int) {
			begun[i], errs[i] = true, write(i)
			if failure := (*Error)(nil); !errors.As(errs[i], &failure) || !failure.again {
				silent.Store(0)
			} else if silent.Add(1) >= eventParallel {
				stop()
			}
		})
		for i := range errs {
			if !begun[i] {
				errs[i] = passing("it was not tried, because the API server did not answer, or there was no time left")
			}
		}
		return lacking(handled, errs)
	}
}

// handledOf are the objects of the run that an Event is due for, without what Events do not need.
func handledOf(message Message) []stage.Outcome {
	handled := []stage.Outcome{}
	for _, o := range message.Outcomes {
		if o.Handled(message.Run.Spec.Action) {
			o.Raw, o.Err = nil, nil
			handled = append(handled, o)
		}
	}
	return handled
}

// unwritten says why an Event was not written, in namespace. Nil when it is there.
func unwritten(err error, namespace string) error {
	var answer apierrors.APIStatus
	switch {
	case err == nil, apierrors.IsAlreadyExists(err):
		return nil
	case meta.IsNoMatchError(err):
		return permanent("the API server does not serve events.k8s.io/v1")
	case apiserver.IsAbsent(err, namespace), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return permanent("namespace %s is gone, or is being deleted, and takes no Events", namespace)
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota"): // Events end by themselves
		return passing("%s", refusal(err))
	case apierrors.IsForbidden(err):
		return permanent("%s. Let the operator's ServiceAccount create events of events.k8s.io there", refusal(err))
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return permanent("%s", refusal(err))
	case errors.As(err, &answer):
		return passing("%s", refusal(err))
	}
	return &Error{
		Reason: fmt.Sprintf("the API server did not answer, or not within %s", eventTimeout),
		again:  true,
	} // the words are the client's
}

// refusal is what the API server says of an Event, in one line.
func refusal(err error) string { return clean(v1alpha1.Truncate(err.Error(), longestReason/2)) }

// lacking says how many Events were not written, with the first cause, and which objects they are for.
func lacking(handled []stage.Outcome, errs []error) error {
	fault, first := &Error{Permanent: true}, ""
	for i, err := range errs {
		var failure *Error
		if !errors.As(err, &failure) {
			continue
		}
		if fault.Permanent = fault.Permanent && failure.Permanent; len(fault.unwritten) == 0 {
			first = fmt.Sprintf("on %s: %s", handled[i].Object, failure.Reason)
		}
		fault.unwritten = append(fault.unwritten, handled[i])
	}
	if len(fault.unwritten) == 0 {
		return nil
	}
	if len(fault.unwritten) > 1 {
		first = "the first, " + first
	}
	fault.Reason = fmt.Sprintf("%s could not be written; %s", many(int64(len(fault.unwritten)), "Event"), first)
	return fault
}

func eventFor(message Message, outcome stage.Outcome, now time.Time) *eventsv1.Event {
	// An Event about a cluster-scoped object is in the namespace default, as those of Kubernetes are.
	namespace := cmp.Or(outcome.Namespace, metav1.NamespaceDefault)
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: eventName(message, outcome)},
		EventTime:  metav1.NewMicroTime(now),
		Type:       corev1.EventTypeNormal,
		Reason:     eventReason,
		Action:     string(message.Run.Spec.Action),
		Regarding: corev1.ObjectReference{
			APIVersion: outcome.Kind.APIVersion(), Kind: outcome.Kind.Kind,
			Namespace: outcome.Namespace, Name: outcome.Name, UID: outcome.UID,
		},
		Related: &corev1.ObjectReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: "Cleaner", Name: message.Cleaner.Name, UID: message.Cleaner.UID,
		},
		Note: note(message, outcome),
	}
}

// eventName is the same whenever the notification of the run is about the object, and that of no other. It begins with
// the object's name, if an Event may have that.
func eventName(message Message, outcome stage.Outcome) string {
	name := v1alpha1.ShortName(outcome.Name, 200)
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		name = strings.ToLower(outcome.Kind.Kind)
	}
	sum := sha256.Sum256(
		fmt.Appendf(
			nil,
			"%s %s %s %s %s",
			message.id(),
			outcome.Kind.GroupKind(),
			outcome.Namespace,
			outcome.Name,
			outcome.UID,
		),
	)
	return name + "." + hex.EncodeToString(sum[:8])
}

// note says what happened to the object, in at most 1,024 bytes, which is what an Event takes.
func note(message Message, outcome stage.Outcome) string {
	text := fmt.Sprintf("Cleaner %s: %s", message.Cleaner.Name, word(message.Run, outcome.Result))
	if outcome.Result == v1alpha1.OutcomeMatched {
		text += suffix(outcome.Detail) // of one that is protected
	}
	if outcome.Message != "" {
		text += ": " + outcome.Message
	}
	return v1alpha1.Truncate(text, 1024)
}
