// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// Judge is the stage that decides. It has no client and no clock: given the same view and the same answers of the
// scripts, it decides the same.
type Judge struct {
	Protection guard.Protection
	// MaxActions is how many objects a run may act on: one that would act on more touches nothing. Zero means any number.
	MaxActions int
}

// judge decides on a view. The guards come one after the other; the first that has something against an object decides.
func (s Judge) judge(ctx context.Context, t *task, c choice) *decision {
	d := &decision{choice: c, rulings: make([]*ruling, c.matched.Len())}
	d.leaveOutUnjudged()
	d.leaveOutUnknown()
	d.wait(t)
	d.incomplete = errors.Join(d.incomplete, s.protect(t, d))
	d.keepToPlan(t)
	d.judgeClock(t)
	if !t.acts() {
		return d
	}
	if d.incomplete == nil {
		d.incomplete = cmp.Or(d.hidden(), d.limitTo(t))
	}
	switch {
	case t.preview: // which shows what would be touched, and beside it why nothing would
		d.change(ctx, t)
		d.limit = cmp.Or(d.limit, guard.MaxActions(s.MaxActions, int(d.acting())))
	case d.incomplete != nil:
		d.leaveAlone(notAllRead)
	case d.limit != nil:
		d.leaveAlone(d.limit.Error())
	default:
		d.incomplete = t.engine.Memory.Act(d.acting())
		d.spare()
		d.change(ctx, t)
		d.keepToChanges(t)
		if d.incomplete != nil {
			d.leaveAlone(notActedDetail)
		} else if d.limit = guard.MaxActions(s.MaxActions, int(d.acting())); d.limit != nil {
			d.leaveAlone(notActedDetail)
		}
	}
	return d
}

// protect leaves alone what is protected, or in a namespace that is not selected any more.
func (s Judge) protect(t *task, d *decision) error {
	var errs []error
	action := t.cleaner.EffectiveAction()
	g := guards{action: action, selectors: d.view.selectors, namespaces: d.view.namespaces, cascade: d.cascade}
	d.rule(func(_ int, verdict stage.Verdict) *ruling {
		if t.engine.Aggregate() != nil { // else what the object says itself was looked at while it passed
			errs = append(errs, s.Protection.MarkOwn(action, &verdict))
		}
		if verdict.Reason != "" {
			return &ruling{result: verdict.Skip, detail: verdict.Reason}
		}
		if why := d.view.findings.Protects(verdict.Candidate); why != "" {
			return protected(action, verdict, why)
		}
		return g.against(verdict)
	})
	return errors.Join(errs...)
}

// leaveOutUnjudged leaves out the objects that some selector could not judge, whatever another one said of them. What
// would take them along is in the cascade.
func (d *decision) leaveOutUnjudged() {
	for i, verdict := range d.matched.All() {
		if d.view.unjudgedUIDs[verdict.UID] {
			d.rulings[i] = unjudged
		}
	}
}

// leaveOutUnknown leaves out the objects of which nobody knows whether they were found so. They do not stop the others.
func (d *decision) leaveOutUnknown() {
	for i, verdict := range d.matched.All() {
		if why, is := d.view.findings.Unknown(verdict.Candidate); is && d.rulings[i] == nil {
			d.rulings[i] = &ruling{result: v1alpha1.OutcomeUnknown, detail: why}
		}
	}
}

// judgeClock touches nothing by a wrong clock. A Scan goes on, but does not count as a run in which the objects
// matched.
func (d *decision) judgeClock(t *task) {
	if d.view.clock == nil {
		return
	}
	d.counts = nil
	if t.acts() {
		d.incomplete = errors.Join(d.incomplete, d.view.clock)
	}
}

// hidden says why what is to be acted on cannot be seen whole.
func (d *decision) hidden() error {
	var errs []error
	seen := map[schema.GroupVersionKind]bool{}
	for i, verdict := range d.matched.All() {
		if gvk := verdict.Kind.GroupVersionKind; d.acts(i, verdict) && !seen[gvk] {
			seen[gvk] = true
			errs = append(errs, d.view.hidden[gvk])
		}
	}
	return errors.Join(errs...)
}

// limitTo compares what the run would touch with the Cleaner's limit. The error says that it cannot.
func (d *decision) limitTo(t *task) error {
	spec := t.cleaner.Spec.BlastRadiusLimit
	matched := d.acting()
	if spec == nil || matched == 0 {
		return nil
	}
	var all int64
	if spec.MaxPercentage != nil {
		var err error
		if all, err = d.total(t); err != nil {
			return fmt.Errorf("counting for blastRadiusLimit: %w", err)
		}
	}
	d.limit = guard.BlastRadius(spec, matched, all)
	return nil
}

// total is how many objects there are of the kinds that can be acted on. Kinds that an aggregated script only looks
// things up in are not counted: of an aggregated selection, those that it chose are.
func (d *decision) total(t *task) (int64, error) {
	chosen := map[schema.GroupKind]bool{}
	for i, verdict := range d.matched.All() {
		if d.acts(i, verdict) {
			chosen[verdict.Kind.GroupKind()] = true
		}
	}
	var all int64
	for kind, total := range d.view.totals {
		switch {
		case t.engine.Aggregate() != nil && !chosen[kind]:
		case total.err != nil:
			return 0, total.err
		default:
			all += total.n
		}
	}
	return all, nil
}

// leaveAlone leaves alone all that was to be acted on.
func (d *decision) leaveAlone(reason string) {
	r := &ruling{result: v1alpha1.OutcomeNotActed, detail: reason}
	d.rule(func(int, stage.Verdict) *ruling { return r })
}

// spare leaves alone what admission denied, for as long as it is too early to ask again.
func (d *decision) spare() {
	d.rule(func(_ int, verdict stage.Verdict) *ruling {
		if reason := d.view.denied(verdict.Object); reason != "" {
			return &ruling{result: v1alpha1.OutcomeDenied, detail: reason}
		}
		return nil
	})
}
