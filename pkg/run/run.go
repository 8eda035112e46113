// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package run carries out one run of a Cleaner: it reads a view, judges it, records the decision, reads again what may
// have been used unseen, acts, and records and reports the outcomes. Each stage takes the value that the one before it
// made. Only Act writes to objects that are not the operator's own.
package run

import (
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/deadline"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/progress"
	"github.com/kubecleaner/kubecleaner/pkg/transport"
)

// Runner carries out runs. Each stage has what it uses.
type Runner struct {
	Begin  Begin
	Check  Check
	Read   Read
	Judge  Judge
	Act    Act
	Record Record
	// Delivery delivers the notifications of a run that has ended.
	Delivery *notify.Delivery
}

// Request says which run to carry out.
type Request struct {
	// Cleaner is the Cleaner's name, and UID the one that was asked for: one that was created again under the name is
	// another.
	Cleaner string
	UID     types.UID
	// Nominal is when the run was due.
	Nominal time.Time
	Trigger v1alpha1.RunTrigger
	// Spec is the stamp of the spec that is to be carried out, unless that was edited meanwhile. Empty when it is not
	// known.
	Spec string
	// Account is as which ServiceAccount the run was asked for, as namespace/name. Empty when that is not known.
	Account string
	// WhileSuspended is true for a run that was asked for although the schedule was stopped.
	WhileSuspended bool
	// Memory is how much the run's scripts may use, in bytes. Zero means as much as any run may.
	Memory int64
	// Lighten, if not nil, is called before the run acts, when sandbox.SmallMemory is enough from then on.
	Lighten func()
	// Outgrown is called when this was not enough before the run acts, or to resume one that was cut off, and a run can
	// have more. The record then has no end: the run begins anew, under the same record, with more. Nil ends the run.
	Outgrown func()
}

// Run carries out one run and returns its record, or the error for which it has none: then nothing was read or touched.
// The record has ended, unless the operator stops, another operator has the run, or the end could not be written. With
// both, somebody deleted the record while the run went on: the error is journal.ErrGone.
func (r *Runner) Run(ctx context.Context, request Request) (record *v1alpha1.CleanerRun, err error) {
	ctx, traced := progress.TraceRun(transport.ForCleaner(ctx, request.Cleaner), request.Cleaner, request.Trigger)
	defer func() { traced(record) }()
	defer r.Check.Identities.Lists.Enter()()
	limited, cancel := deadline.Limit(ctx, r.Begin.Clock, deadline.Max, deadline.Max)
	defer cancel()
	begun, err := r.Begin.begin(limited, request)
	if err != nil {
		return nil, err
	}
	record = begun.record
	t := &task{
		request: request, cleaner: begun.cleaner, record: record, action: record.Spec.Action, now: r.Begin.Clock.Now(),
	}
	switch phase := record.Status.Phase; {
	case phase.Final():
		return record, nil
	case phase == v1alpha1.RunExecuting:
		r.recover(limited, t, begun.closing())
		return record, nil
	}
	if journal.HasFailedTooOften(record) {
		r.endAndNotify(ctx, t, gaveUp(record))
		return record, nil
	}
	ctx = logr.NewContext(ctx, klog.FromContext(ctx).WithValues("cleaner", request.Cleaner, "run", record.Name))
	klog.FromContext(ctx).Info("Run started", "action", record.Spec.Action, "trigger", request.Trigger)
	panicked := fault.Logged(ctx, func() error { r.carryOut(ctx, begun, t); return nil })
	if panicked == nil {
		return record, t.gone
	}
	if err := fault.Logged(ctx, func() error { return r.fail(ctx, begun.cleaner, record, panicked) }); err != nil {
		klog.FromContext(ctx).Error(err, "Could not bring a run to its end that panicked")
	}
	return record, nil
}

// carryOut is a run from top to bottom. One that takes too long is stopped; its end is written for as long as somebody
// waits for it.
func (r *Runner) carryOut(ctx context.Context, b *begun, t *task) {
	running, cancel := deadline.LimitRun(ctx, r.Begin.Clock, t.cleaner, t.record)
	defer cancel()
	if refused := r.prepare(running, b, t); refused != nil {
		if !errors.Is(context.Cause(running), r.Act.Stopping) { // else it is left to the next leader
			r.endAndNotify(ctx, t, refused)
		}
		return
	}
	defer t.end()
	decision := r.decide(running, t)
	if r.Record.outgrew(running, t, decision.incomplete) {
		return // it begins anew with more memory
	}
	if decision.incomplete == nil {
		t.record.Status.JudgedTime = &metav1.Time{Time: r.Record.Clock.Now()}
	}
	intent := r.Record.intend(running, t, decision)
	confirmed := r.Record.saveCounts(running, t, r.confirm(running, t, intent))
	outcomes := r.Act.act(running, t, confirmed)
	r.Record.saveLost(ctx, t, outcomes)
	if outcomes.left {
		return // another operator goes on with the run
	}
	if r.Record.end(ctx, t, outcomes, context.Cause(running)) {
		r.notify(ctx, t, outcomes)
		r.Record.dropNeedless(ctx, t.record, outcomes.list)
	}
}

// decide reads the view and judges it: it lets the aggregated script choose, reads what a Delete would take along with
// what was chosen, and asks the guards.
func (r *Runner) decide(ctx context.Context, t *task) *decision {
	chosen := r.Judge.choose(ctx, t, r.Read.read(ctx, t))
	if chosen.incomplete == nil {
		chosen.cascade, chosen.incomplete = r.Read.readCascade(ctx, t, chosen)
		chosen.cascadeRead = r.Read.Clock.Now()
	}
	t.progress.Enter(metrics.StageJudge, 0)
	return r.Judge.judge(ctx, t, chosen)
}

// notify delivers the outcomes.
func (r *Runner) notify(ctx context.Context, t *task, outcomes *outcomes) {
	t.progress.Enter(metrics.StageNotify, 0)
	r.Delivery.Notify(ctx, t.cleaner, t.record, outcomes.toNotify(t))
}

// prepare opens what the run reads and judges with, or says why it may not read anything.
func (r *Runner) prepare(ctx context.Context, b *begun, t *task) *refusal {
	if refused := r.Check.mayRun(b); refused != nil {
		return refused
	}
	if refused := r.Check.prepare(ctx, t); refused != nil {
		return refused
	}
	if refused := r.Record.approved(ctx, t); refused != nil {
		t.engine.Close()
		return refused
	}
	t.progress = r.Record.startProgress(ctx, t.record, metrics.StageList, 0)
	t.observer = observerOf(t.progress)
	return nil
}

// endAndNotify ends a run that has no outcomes but those in its record.
func (r *Runner) endAndNotify(ctx context.Context, t *task, end *refusal) {
	if r.Record.close(ctx, t, end) {
		r.Delivery.Notify(ctx, t.cleaner, t.record, nil)
	}
}
