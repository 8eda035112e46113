// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// requestTimeout bounds each change, and readTimeout each reading. A cancelled run does not shorten them: the object in
	// hand is finished. It is not begun anew, though, so that a stop takes no longer than both.
	requestTimeout = 20 * time.Second
	readTimeout    = 5 * time.Second
)

// send sends a request that changes an object. A server that has no time (429) has done nothing, and is asked again when it says,
// as long as the run goes on. No other request is sent again, as client-go would send those that a 5xx with Retry-After answers: it
// may have been carried out, and would be carried out twice, or be told as somebody else's doing.
func (a *Actor) send(ctx context.Context, request *rest.Request) (answer []byte, code int, err error) {
	bounded, cancel := inHand(ctx, requestTimeout)
	defer cancel()
	for {
		answer, code, err = do(bounded, request.MaxRetries(0))
		if !isBusy(err) || !waited(ctx, bounded, pause(err)) {
			return answer, code, err
		}
	}
}

// isBusy reports whether the server had no time for a request.
func isBusy(err error) bool { return apierrors.IsTooManyRequests(err) && !denied(err) }

// pause is how long a server that has no time wants to be left alone.
func pause(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return time.Duration(max(1, seconds)) * time.Second
}

// waited reports whether there was time to wait. A run that was stopped has none, nor has a request whose time would be over.
func waited(run, request context.Context, pause time.Duration) bool {
	if end, ok := request.Deadline(); ok && time.Until(end) <= pause {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-run.Done():
		return false
	case <-timer.C:
		return true
	}
}

// read reads the live object.
func (a *Actor) read(ctx context.Context, o object.Object) ([]byte, error) {
	bounded, cancel := inHand(ctx, readTimeout)
	defer cancel()
	body, _, err := do(bounded, a.client.Get().AbsPath(o.Path()))
	return body, err
}

// do sends a request once. A panic on the way is an error that leaves open whether the request was carried out.
func do(ctx context.Context, request *rest.Request) (answer []byte, code int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a fault of KubeCleaner; please report it with the operator's log: %v", p)
			klog.FromContext(ctx).Error(err, "A request panicked", "stack", string(debug.Stack()))
		}
	}()
	result := request.Do(ctx).StatusCode(&code)
	if err := result.Error(); err != nil { // Raw's own says less of what the server said
		return nil, code, err
	}
	answer, err = result.Raw()
	return answer, code, err
}

// inHand is the context of a request that a cancelled run lets finish.
func inHand(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), timeout)
}

// errForeign is why an answer that reads as success counts as lost.
var errForeign = errors.New("the answer is not an API server's; something between the operator and the API server may have written it")

// isUnclear: what a webhook denied did not take place, whatever code it chose.
func isUnclear(err error) bool { return object.IsUnclear(err) && !denied(err) }
