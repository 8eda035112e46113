// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

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
