// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

const (
	// requestTimeout bounds each change, and readTimeout each reading. A cancelled run does not shorten them: the object
	// in hand is finished. It is not begun anew, though, so that a stop takes no longer than both.
	requestTimeout = 20 * time.Second
	readTimeout    = 5 * time.Second
)

// send sends a request that changes an object. A server that has no time (429) has done nothing, and is asked again
// when it says, as long as the run goes on. No other request is sent again here, as client-go would send those that a
// 5xx with Retry-After answers: it may have been carried out, and would be carried out twice, or be reported as
// somebody else's doing.
func (a *Actor) send(ctx context.Context, request *rest.Request) (answer []byte, code int, err error) {
	for {
		answer, code, err = a.do(ctx, requestTimeout, request, a.permit)
		if !isBusy(err) || !waited(ctx, pause(err)) {
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

// Live reads an object as it is now, as often as it takes. It is nil when the API server says that there is none of the
// name.
func (a *Actor) Live(ctx context.Context, o object.Object) (*object.Object, error) {
	for tries := 0; ; {
		live, err := a.read(ctx, o)
		if isGone(err, o) {
			return nil, nil
		}
		if !isBusy(err) && !a.mayPass(err) || !a.goOn(ctx, &tries, err) {
			return live, err
		}
	}
}

// read reads an object once, also when the run was stopped: what is in hand is finished.
func (a *Actor) read(ctx context.Context, o object.Object) (*object.Object, error) {
	body, _, err := a.do(ctx, readTimeout, a.client.Get().AbsPath(o.Path()), nil)
	if isUnsent(err) {
		body, _, err = a.do(context.WithoutCancel(ctx), readTimeout, a.client.Get().AbsPath(o.Path()), nil)
	}
	if err != nil {
		return nil, err
	}
	live, err := object.New(o.Kind, body)
	if err != nil {
		return nil, err
	}
	return &live, nil
}

// do sends a request once, when there is room for it. A panic on the way is an error that leaves open whether the
// request was carried out.
func (a *Actor) do(
	ctx context.Context,
	timeout time.Duration,
	request *rest.Request,
	permit Permit,
) (answer []byte, code int, err error) {
	err = fault.Logged(ctx, func() error {
		if err := apiserver.CheckPath(request.URL().Path); err != nil {
			return err
		}
		return a.flow.pass(ctx, func() (err error) {
			if permit != nil && !permit.IsValid() { // it waited for too long until it could pass
				return &unsentError{errExpired}
			}
			bounded, cancel := inHand(ctx, timeout)
			defer cancel()
			result := request.MaxRetries(0).Do(bounded).StatusCode(&code)
			if err := result.Error(); err != nil { // Raw's own says less of what the server said
				return err
			}
			answer, err = result.Raw()
			return err
		})
	})
	return answer, code, err
}

// inHand is the context of a request that a cancelled run lets finish.
func inHand(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), timeout)
}

// errForeign is why an answer that reads as success counts as lost.
var errForeign = errors.New(
	"the answer is not an API server's; something between the operator and the API server may have written it",
)

// isUnclear: what was not sent did not take place, nor did what a webhook denied, whatever code it chose.
func isUnclear(err error) bool { return apiserver.IsUnclear(err) && !denied(err) && !isUnsent(err) }
