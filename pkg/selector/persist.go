// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

const (
	// maxTries is how often a request may fail. An API server that fails at each of them, and is back each time, may fail
	// because of it. An answer to come back later does not count.
	maxTries = 5
	// firstPause is the time between the first two tries, and between the first two looks whether the API server is back.
	// It doubles until longestPause.
	firstPause   = 200 * time.Millisecond
	longestPause = 5 * time.Second
	// longestWait is how long the API server is left alone at most when it asks for that.
	longestWait = 30 * time.Second
	// readyTimeout is how long the API server may take to say whether it is there.
	readyTimeout = 5 * time.Second
)

// Patient returns the Reader for a run: it sends a request again that failed, and waits for an API server that is away
// until the end of the context.
func (r *Reader) Patient() *Reader {
	patient := *r
	patient.patient = true
	return &patient
}

// hasty is the Reader for what may as well be left out.
func (r *Reader) hasty() *Reader {
	hasty := *r
	hasty.patient = false
	return &hasty
}

// request is one for the path. client-go sends some again by itself, for ten seconds; a patient Reader does that
// better.
func (r *Reader) request(path string) *rest.Request {
	request := r.client.Get().AbsPath(path)
	if r.patient {
		return request.MaxRetries(0)
	}
	return request
}

// TriedError says how often a request was sent that got no answer to go by.
type TriedError struct {
	Tries  int
	During time.Duration
	// Err is why the last try failed.
	Err error
	// Stopped is why there were no more tries. Nil when there were enough.
	Stopped error

	began  time.Time
	failed int
}

// again is after one more try without an answer to go by.
func (e *TriedError) again(err error) *TriedError {
	next := &TriedError{Tries: e.Tries + 1, Err: err, began: e.began, failed: e.failed}
	if !isBusy(err) {
		next.failed++
	}
	return next
}

// until is the error when there are no more tries.
func (e *TriedError) until(now time.Time, stopped error) *TriedError {
	return &TriedError{Tries: e.Tries, During: now.Sub(e.began), Err: e.Err, Stopped: stopped}
}

// Error implements error.
func (e *TriedError) Error() string {
	times := "once"
	if e.Tries > 1 {
		times = fmt.Sprintf("%d times", e.Tries)
	}
	return fmt.Sprintf("%s (tried %s during %s)", e.Err, times, e.During.Round(100*time.Millisecond))
}

// Trouble says what the API server did at the last try.
func (e *TriedError) Trouble() string {
	if apierrors.IsTooManyRequests(e.Err) {
		return "was too busy"
	}
	return "did not answer"
}

// Unwrap makes it both of its errors.
func (e *TriedError) Unwrap() []error {
	if e.Stopped == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Stopped}
}

// mayPass reports whether the same request may be answered next time.
func mayPass(err error) bool { return apiserver.IsUnclear(err) || apierrors.IsTooManyRequests(err) }

// isBusy reports whether the server asks to come back later because it has no time now. A server that cannot fill its
// cache of a kind says the same, with the reason. That may never pass: the kind's conversion webhook may be broken.
func isBusy(err error) bool {
	later := apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) && suggested(err) > 0
	return later && !strings.Contains(err.Error(), "storage is (re)initializing")
}

// persist sends a request until it gets an answer to go by, or until another try is not worth it: worth says so of its
// errors.
func (r *Reader) persist(ctx context.Context, worth func(error) bool, send func() error) error {
	if !r.patient {
		return send()
	}
	pauses := wait.Backoff{Duration: firstPause, Factor: 2, Jitter: 0.5, Steps: math.MaxInt, Cap: longestPause}
	tried := &TriedError{began: r.clock.Now()}
	defer r.report(nil)
	for {
		err := send()
		stopped := context.Cause(ctx)
		switch {
		case err != nil && stopped != nil && tried.Err != nil:
			return tried.until(r.clock.Now(), stopped)
		case err == nil, stopped != nil, !worth(err):
			return err
		}
		tried = tried.again(err)
		r.report(tried)
		away, stopped := r.awaitAnswer(ctx, &pauses)
		switch {
		case stopped != nil:
			return tried.until(r.clock.Now(), stopped)
		case tried.failed == maxTries:
			return tried.until(r.clock.Now(), nil)
		case !away && !waited(ctx, max(pauses.Step(), suggested(err))):
			return tried.until(r.clock.Now(), context.Cause(ctx))
		}
	}
}

// report says what the trouble is with a request. Nil when there is none any more.
func (r *Reader) report(trouble *TriedError) {
	if r.onTrouble != nil {
		r.onTrouble(trouble)
	}
}

// awaitAnswer waits until the API server answers, and reports whether it was away.
func (r *Reader) awaitAnswer(ctx context.Context, pauses *wait.Backoff) (away bool, stopped error) {
	for !r.answers(ctx) {
		if !away {
			away = true
			klog.FromContext(ctx).Info("The API server does not answer; the run waits for it")
		}
		if !waited(ctx, pauses.Step()) {
			return true, context.Cause(ctx)
		}
	}
	return away, nil
}

// answers reports whether the API server is there and can reach its store. One that does not let us read that answers
// too, and so does one whose certificate is wrong.
func (r *Reader) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	err := r.client.Get().AbsPath("/readyz").MaxRetries(0).Do(ctx).Error()
	return !apiserver.IsUnclear(err) || errors.As(err, new(*tls.CertificateVerificationError)) // which will not pass
}

// suggested is how long the server wants to be left alone, and up to half as long again, so that not all come back at
// once.
func suggested(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return min(wait.Jitter(time.Duration(seconds)*time.Second, 0.5), longestWait)
}

// waited reports whether the context lasted for so long.
func waited(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// read sends a request for a whole document.
func (r *Reader) read(ctx context.Context, request *rest.Request) (body []byte, err error) {
	err = r.persist(ctx, mayPass, func() error {
		result := request.Do(ctx)
		if err := result.Error(); err != nil { // Raw's own says less of what the server said
			return err
		}
		var err error
		body, err = result.Raw()
		return err
	})
	return body, err
}
