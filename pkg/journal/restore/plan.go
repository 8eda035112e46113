// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// parallel is how many objects are read or written at once.
const parallel = 8

// NothingError says that there is nothing that a run's objects could be restored from.
type NothingError struct{ text string }

func (e *NothingError) Error() string { return e.text }

func nothing(format string, args ...any) error {
	return &NothingError{fmt.Sprintf(format, args...)}
}

// Plan reads what the run deleted or changed, proves the copies against the CleanerRun, looks at the objects as they
// are now, and says what is to become of each; then it has the API server try every write, which saves nothing. What
// fails there is a Failed item. It changes nothing in the cluster.
func (r *Restorer) Plan(ctx context.Context, run *v1alpha1.CleanerRun, options Options) (*Plan, error) {
	p := &Plan{run: run, options: options, returning: map[string]bool{}}
	if err := restorable(run, options); err != nil {
		return nil, err
	}
	if err := r.read(ctx, p); err != nil {
		return nil, err
	}
	sort(p.Items)
	// Namespaces and definitions first: what is in one that comes back is judged by that.
	first := 0
	for first < len(p.Items) && rank(p.Items[first].Kind.GroupKind()) <= rankOfDefinitions {
		first++
	}
	for _, items := range [][]*Item{p.Items[:first], p.Items[first:]} {
		each(ctx, items, func(item *Item) { r.judge(ctx, p, item) })
		for _, item := range items {
			p.notice(item)
		}
	}
	each(ctx, p.Items, func(item *Item) { r.try(ctx, p, item) })
	return p, context.Cause(ctx)
}

// each does something with every item, several at once, until the context ends.
func each(ctx context.Context, items []*Item, do func(*Item)) {
	workqueue.ParallelizeUntil(ctx, parallel, len(items), func(i int) { do(items[i]) })
}

// restorable refuses runs that have left nothing to bring back.
func restorable(run *v1alpha1.CleanerRun, options Options) error {
	switch copies := run.Status.Copies; {
	case run.Spec.Action == v1alpha1.ActionScan:
		return nothing("run %s only reported (%s): it touched nothing that could be restored", run.Name, run.Spec.Action)
	case run.Status.Intent == nil:
		return nothing("run %s touched nothing that could be restored", run.Name)
	case run.Status.Phase == v1alpha1.RunExecuting && !options.Force:
		return nothing(
			"run %s is still going on; wait for its end, or use --force if its operator is gone for good",
			run.Name,
		)
	case copies == nil:
		return nothing(
			"run %s kept no copies: its Cleaner had set rollback.storage to None, or all it touched were objects without state, such as Events, finished Jobs and Pods that a controller manages",
			run.Name,
		)
	case copies.Dropped != "":
		return nothing("the copies of run %s were dropped: %s", run.Name, copies.Dropped)
	}
	return nil
}

// read makes the items: what the run touched, and what is asked for by name.
func (r *Restorer) read(ctx context.Context, p *Plan) error {
	intents, err := journal.ReadIntent(ctx, r.parts, p.run)
	if err != nil {
		return err
	}
	outcomes, err := journal.ReadOutcomes(ctx, r.parts, p.run)
	if err != nil {
		return err
	}
	complete(p.run, intents, outcomes)
	together := newTogether(intents, outcomes)
	items := map[identity]*Item{}
	for i := range intents {
		o, outcome := intents[i].Object(), outcomes[i].Outcome
		named := p.options.Only != nil
		if named && !p.options.Only(o) || !concerns(outcome, named) {
			continue
		}
		item := &Item{Object: o, Result: Planned, outcome: outcome, named: named}
		items[identityOf(o)] = item
		p.Items = append(p.Items, item)
	}
	err = r.copies(ctx, p.run, func(c journal.Copy) error {
		kind, err := kindOf(&c)
		if err != nil {
			return err
		}
		together.look(&c)
		// An object that changed while the run went on has several: the last is what the run deleted or changed.
		if item := items[identity{kind.GroupKind(), c.UID}]; item != nil {
			item.copy, item.Raw = &c, c.Object
		}
		return nil
	})
	together.settle()
	for _, item := range p.Items {
		if together.has(item) {
			item.outcome = v1alpha1.OutcomeDeleted
		}
	}
	return err
}

// copies hands the proved copies of a run to each.
func (r *Restorer) copies(ctx context.Context, run *v1alpha1.CleanerRun, each func(journal.Copy) error) error {
	return journal.ReadCopies(ctx, r.parts, run, each)
}

type identity struct {
	kind schema.GroupKind
	uid  types.UID
}

func identityOf(o object.Object) identity { return identity{o.Kind.GroupKind(), o.UID} }

// judge looks at the cluster, and decides.
func (r *Restorer) judge(ctx context.Context, p *Plan, item *Item) {
	if item.copy != nil && item.copy.Problem != nil { // a file that is not there, or not as the run wrote it
		if why := untouched(facts{outcome: item.outcome, named: item.named}); why != "" {
			item.take(leave(Left, "%s", why))
			return
		}
		item.fail(item.copy.Problem)
		return
	}
	f, err := r.facts(ctx, p, item)
	if apiserver.IsKindAbsent(err) {
		err = fmt.Errorf("the cluster does not serve %s of %s any more", item.Kind.Kind, item.Kind.APIVersion())
	}
	if err != nil {
		item.fail(err)
		return
	}
	item.live = f.live
	decision := decide(item.copy, f, p.options)
	if decision.doubtful && item.live != nil {
		if f.resent = r.resend(ctx, item); f.resent != nil {
			decision = decide(item.copy, f, p.options)
		}
	}
	item.take(decision)
}

func (r *Restorer) facts(ctx context.Context, p *Plan, item *Item) (facts, error) {
	f := facts{run: string(p.run.UID), outcome: item.outcome, named: item.named, owners: map[string]string{}}
	namespaces := namespaceKind()
	f.returns = p.returning[namespaces.Path("", item.Namespace)] && item.Namespace != "" ||
		item.Kind.GroupKind() == namespaces.GroupKind()
	if item.copy == nil {
		return f, nil
	}
	var err error
	if f.live, err = r.live(ctx, item.Kind, item.Namespace, item.Name); err != nil && !p.comesFirst(item, err) {
		return f, err
	}
	if f.subresource, err = r.hasStatus(ctx, item.Kind); err != nil && !p.comesFirst(item, err) {
		return f, fmt.Errorf("asking what %s serves: %w", item.Kind.APIVersion(), err)
	}
	metadata, err := apiserver.Metadata(item.Object)
	if err != nil {
		return f, err
	}
	for _, owner := range metadata.OwnerReferences {
		if _, known := f.owners[string(owner.UID)]; !known {
			f.owners[string(owner.UID)] = r.whyNotOwner(ctx, item.Namespace, owner)
		}
	}
	return f, nil
}

// definitions are the kind of CustomResourceDefinitions.
var definitions = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

func namespaceKind() object.Kind {
	return object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, Resource: "namespaces"}
}

// notice takes note of what comes back and others need.
func (p *Plan) notice(item *Item) {
	if item.Step != StepCreate {
		return
	}
	switch item.Kind.GroupKind() {
	case schema.GroupKind{Kind: "Namespace"}:
		p.returning[item.Path()] = true
	case definitions:
		p.returning[item.Name] = true // it is PLURAL.GROUP
	}
}

// comesFirst reports whether an error is only that the item's namespace or kind is not there yet, which the same
// restore brings back.
func (p *Plan) comesFirst(item *Item, err error) bool {
	return isNamespaceMissing(err, item.Namespace) && p.returning[namespaceKind().Path("", item.Namespace)] ||
		apiserver.IsKindAbsent(err) && p.returning[item.Kind.Resource+"."+item.Kind.Group]
}

// try has the API server check a step.
func (r *Restorer) try(ctx context.Context, p *Plan, item *Item) {
	if item.Result != Planned {
		return
	}
	answer, err := r.write(ctx, item, true)
	if item.mayLose(err, p.options) {
		answer, err = r.write(ctx, item, true)
	}
	switch {
	case err == nil && item.Step == StepPutBack:
		err = wouldUndo(item, answer)
	case isNamespaceMissing(err, item.Namespace) && !p.comesFirst(item, err):
		err = fmt.Errorf(
			"namespace %s does not exist, or is being deleted: create it, after the deletion has finished",
			item.Namespace,
		)
	case err == nil, p.comesFirst(item, err), item.waitsForEnd():
		return
	case p.options.Force && strings.Contains(err.Error(), "does not support dry run"):
		item.Notes = append(item.Notes, "it could not be tried before, because a webhook does not support that")
		return
	}
	if err != nil {
		item.fail(err)
	}
}

// waitsForEnd reports whether the item is made when the object of its name, which is ending, is gone.
func (i *Item) waitsForEnd() bool { return i.live != nil && i.live.Deleting && i.Step == StepCreate }

// wouldUndo looks at the answer to a patch whether every field would be as it was.
func wouldUndo(item *Item, answer []byte) error {
	patch, err := item.StoredPatch(object.JSON(item.copy.Patch))
	if err != nil {
		return err
	}
	left := notUndone(patch, decoded(item.Kind, item.copy.Object), decoded(item.Kind, answer))
	if len(left) == 0 {
		return nil
	}
	return errors.New("the API server would not restore " + strings.Join(left, ", "))
}
