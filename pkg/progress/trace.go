// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// tracer makes spans of runs. It costs nothing unless the process sends traces somewhere.
var tracer = otel.Tracer("github.com/kubecleaner/kubecleaner/pkg/run")

// Trace begins the span of a part of a run. What it returns ends it.
func Trace(ctx context.Context, part string) (end func()) {
	_, span := tracer.Start(ctx, part)
	return func() { span.End() }
}

// TraceRun begins the span of a run of the Cleaner. What it returns ends it, and says how the run ended, in the words
// of the record about the run as a whole. What a span has goes to another service, so no object is named.
func TraceRun(
	ctx context.Context, cleaner string, trigger v1alpha1.RunTrigger,
) (context.Context, func(*v1alpha1.CleanerRun)) {
	ctx, span := tracer.Start(ctx, "run", trace.WithAttributes(
		attribute.String("kubecleaner.cleaner", cleaner),
		attribute.String("kubecleaner.trigger", string(trigger)),
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
