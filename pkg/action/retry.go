// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// tries is how often a request is sent that gets no good answer although the API server answers otherwise, and
	// firstDelay the time between the first two of them.
	tries      = 4
	firstDelay = 100 * time.Millisecond
)

// undoneError is why a change has no good answer of which a live read showed that it did not take place. It may be sent
// again: it names the resourceVersion, so that at most one of both is carried out, should the first be on its way
// still.
type undoneError struct{ error }

func (e *undoneError) Unwrap() error { return e.error }

func isUndone(err error) bool { return whyUndone(err) != nil }

func whyUndone(err error) error {
	var undone *undoneError
	if errors.As(err, &undone) {
		return undone.error
	}
	return nil
}

// undone marks why a change got lost, if it may be otherwise next time.
func (a *Actor) undone(lost error) error {
	if !a.mayPass(lost) {
		return lost
	}
	return &undoneError{lost}
}

// isNothing reports whether an error says that nothing was done.
func isNothing(err error) bool {
	return isConflict(err) || isBusy(err) || isUndone(err) || isUnsent(err)
}

// errExpired is why a request was not sent: its permit is not valid any more.
var errExpired = errors.New("it waited for too long")

// persist makes an attempt that is made again while it may be otherwise next time.
func (a *Actor) persist(once attempt) attempt {
	failed := 0
	var lost error
	return func(ctx context.Context, o object.Object, patch object.JSON) (v1alpha1.OutcomeResult, string, error) {
		for {
			result, detail, err := once(ctx, o, patch)
			if errors.Is(err, errExpired) {
				why, unknown := a.permit.Renew(ctx)
				switch {
				case unknown != nil:
					return "", "", cmp.Or[error](whyUndone(lost), &unsentError{unknown})
				case why != "":
					return v1alpha1.OutcomeChanged, why, nil
				}
				continue
			}
			if isUnsent(err) && lost != nil { // the time before it was sent
				err = lost
			}
			if !isUndone(err) || !a.goOn(ctx, &failed, err) {
				return result, detail, err
			}
			lost = err
		}
	}
}

// mayPass reports whether an error speaks of the API server or of the way to it, so that the same request may be
// answered next time. A webhook that fails is asked no more often than one that denies: it may be what holds the server
// up.
func (a *Actor) mayPass(err error) bool {
	var p *fault.Error
	return isUnclear(err) && !errors.As(err, &p) && !a.final(err) && !isWebhookFailure(err)
}

func isWebhookFailure(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), `failed calling webhook "`)
}

// goOn waits until a request that got no good answer may be sent again. While the API server is away, that is as long
// as the run goes on. It returns false when that is over, or when the server answers others and this was the last of a
// few tries.
func (a *Actor) goOn(ctx context.Context, failed *int, err error) bool {
	if isBusy(err) {
		return waited(ctx, pause(err))
	}
	away, stopped := a.flow.untilAnswers(ctx, a.answers)
	switch {
	case stopped != nil:
		return false
	case away:
		*failed = 0
		return true
	}
	*failed++
	return *failed < tries && waited(ctx, wait.Jitter(firstDelay<<(*failed-1), 0.5))
}

// answers reports whether the API server is there and can reach its store. One that does not let us read that answers
// too.
func (a *Actor) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	err := a.client.Get().AbsPath("/readyz").MaxRetries(0).Do(ctx).Error()
	return !isUnclear(err)
}
