// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/progress"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// startProgress begins to count, and to write from time to time into the record how far the run has come. The run does
// not care whether that succeeds.
func (s Record) startProgress(
	ctx context.Context, record *v1alpha1.CleanerRun, stage metrics.Stage, total int,
) *progress.Meter {
	holder := journal.HolderOf(record)
	return progress.Start(ctx, s.Clock, progress.Hooks{
		Show: func(ctx context.Context, shown v1alpha1.RunProgress) bool {
			return !errors.Is(s.showProgress(ctx, holder, shown), journal.ErrTaken)
		},
		Begun: func(stage metrics.Stage) func() {
			_, span := tracer.Start(ctx, string(stage))
			return func() { span.End() }
		},
		Took: s.Metrics.StageEnded,
	}, stage, total)
}

func (s Record) showProgress(ctx context.Context, holder journal.Holder, shown v1alpha1.RunProgress) error {
	err := fault.Logged(ctx, func() error { return s.Journal.ShowProgress(ctx, holder, shown) })
	if err != nil {
		klog.FromContext(ctx).V(1).Info("Did not write the progress of the run", "cause", err.Error())
	}
	return err
}

// observerOf counts what is listed.
func observerOf(m *progress.Meter) selector.Observer {
	return selector.Observer{
		Lists: func(kind object.Kind) { m.List(kind.Kind) }, Judged: m.Did, Candidate: func(stage.Candidate) { m.Matched() },
	}
}

// tracer makes spans of runs. It costs nothing unless the process sends traces somewhere.
var tracer = otel.Tracer("github.com/kubecleaner/kubecleaner/pkg/run")

// traceRun begins the span of a run. What it returns ends it, and says how the run ended: in the words of the record
// that are about the run as a whole. What a span has goes to another service, so no object is named.
func traceRun(ctx context.Context, request Request) (context.Context, func(*v1alpha1.CleanerRun)) {
	ctx, span := tracer.Start(ctx, "run", trace.WithAttributes(
		attribute.String("kubecleaner.cleaner", request.Cleaner),
		attribute.String("kubecleaner.trigger", string(request.Trigger)),
	))
	return ctx, func(record *v1alpha1.CleanerRun) {
		defer span.End()
		if record == nil {
			return
		}
		status := &record.Status
		span.SetAttributes(
			attribute.String("kubecleaner.run", record.Name),
			attribute.String("kubecleaner.action", string(record.Spec.Action)),
			attribute.String("kubecleaner.phase", string(status.Phase)),
			attribute.String("kubecleaner.reason", status.Reason),
			attribute.Int64("kubecleaner.considered", status.Considered),
			attribute.Int64("kubecleaner.matched", status.Matched),
			attribute.Int64("kubecleaner.acted", status.Acted),
			attribute.Int64("kubecleaner.skipped", status.Skipped),
			attribute.Int64("kubecleaner.failed", status.Failed),
		)
		if !status.Phase.Good() {
			span.SetStatus(codes.Error, status.Reason)
		}
	}
}
