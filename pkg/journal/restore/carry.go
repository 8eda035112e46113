// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

const (
	// attempts is how often an object that keeps changing is judged anew.
	attempts = 3
	// endPatience is how long a Namespace may take to end before it can be created again, and a kind to be served.
	endPatience = 5 * time.Minute
	// lookAgain is the time between two looks at what is waited for.
	lookAgain = 250 * time.Millisecond
)

// Progress shows how far a restore has come. It may be called by several goroutines at once.
type Progress struct {
	// Waiting says what is waited for. Done is called with each item that has its result.
	Waiting func(what string)
	Done    func(*Item)
}

// Carry carries the plan out: what others need comes first. A cancelled context ends it before the next object. The
// results are in the plan's items.
func (r *Restorer) Carry(ctx context.Context, p *Plan, progress Progress) {
	for first := 0; first < len(p.Items); {
		last := first + 1
		for last < len(p.Items) && rank(p.Items[last].Kind.GroupKind()) == rank(p.Items[first].Kind.GroupKind()) {
			last++
		}
		each(ctx, p.Items[first:last], func(item *Item) {
			if item.Result != Planned {
				return
			}
			r.carry(ctx, p, item, progress)
			progress.Done(item)
		})
		first = last
	}
	for _, item := range p.Items {
		if item.Result == Planned {
			item.Result, item.Reason = Interrupted, "the restore was stopped before it reached this object"
		}
	}
}

// carry brings one object back. What changed since it was judged is judged again.
func (r *Restorer) carry(ctx context.Context, p *Plan, item *Item, progress Progress) {
	if err := r.await(ctx, p, item, progress); err != nil {
		item.fail(err)
		return
	}
	var unclear error
	for range attempts {
		_, err := r.write(ctx, item, false)
		if err == nil {
			item.Result = Restored
			r.bringStatus(ctx, p, item)
			return
		}
		if item.mayLose(err, p.options) {
			continue
		}
		switch {
		case apiserver.IsUnclear(err): // it may have been done
			unclear = err
		case !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err):
			item.fail(err)
			return
		}
		step, notes := item.Step, item.Notes
		r.judge(ctx, p, item)
		switch {
		case item.Result == Already && unclear != nil:
			item.Step, item.Result, item.Notes = step, Restored, notes
			r.bringStatus(ctx, p, item)
			return
		case item.Result != Planned:
			return
		}
	}
	item.fail(errors.Join(errors.New("it kept changing; try again"), unclear))
}

// await waits until a Namespace that is ending is gone, and until the API server serves a kind that was restored.
func (r *Restorer) await(ctx context.Context, p *Plan, item *Item, progress Progress) error {
	switch {
	case item.Kind.GroupKind() == (schema.GroupKind{Kind: "Namespace"}) && item.live != nil && item.Step == StepCreate:
		progress.Waiting("the deletion of " + item.String())
		return r.until(
			ctx,
			item.String()+" is still being deleted; try again when it is gone",
			func(ctx context.Context) (bool, error) {
				live, err := r.live(ctx, item.Kind, "", item.Name)
				return err == nil && live == nil, err
			},
		)
	case p.returning[item.Kind.Resource+"."+item.Kind.Group]:
		progress.Waiting("the API server to serve " + item.Kind.Kind)
		return r.until(
			ctx,
			fmt.Sprintf("the API server does not serve %s of %s yet; try again", item.Kind.Kind, item.Kind.APIVersion()),
			func(ctx context.Context) (bool, error) {
				_, err := r.live(ctx, item.Kind, item.Namespace, item.Name)
				if apiserver.IsKindAbsent(err) {
					return false, nil
				}
				if err != nil {
					return false, err
				}
				return r.serves(ctx, item.Kind)
			},
		)
	}
	return nil
}

// until waits, and says that it was in vain.
func (r *Restorer) until(ctx context.Context, inVain string, done wait.ConditionWithContextFunc) error {
	err := wait.PollUntilContextTimeout(ctx, lookAgain, endPatience, true, done)
	if wait.Interrupted(err) {
		return errors.New(inVain)
	}
	return err
}

// bringStatus writes the status of a new object, where that is a write of its own.
func (r *Restorer) bringStatus(ctx context.Context, p *Plan, item *Item) {
	if !p.options.Status || item.Step == StepPutBack {
		return
	}
	before := decoded(item.Kind, item.copy.Object)
	status, has := before["status"]
	subresource, err := r.hasStatus(ctx, item.Kind)
	if !has || !subresource && err == nil {
		return
	}
	if err == nil {
		err = r.writeStatus(ctx, item, status)
	}
	if err != nil {
		item.Notes = append(item.Notes, item.mask("its status could not be restored: "+err.Error()))
	}
}

func (r *Restorer) writeStatus(ctx context.Context, item *Item, status any) error {
	payload, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	_, err = send(ctx, trial(r.client.Patch(types.MergePatchType).AbsPath(item.Path(), "status"), false).Body(payload))
	return err
}
