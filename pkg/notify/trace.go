// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// tracer makes spans of deliveries. It costs nothing unless the process sends traces somewhere.
var tracer = otel.Tracer("github.com/kubecleaner/kubecleaner/pkg/notify")

// deliver sends one notification.
func (o *Outbox) deliver(ctx context.Context, message Message, notification v1alpha1.Notification) error {
	sending, cancel := context.WithTimeout(ctx, timeoutOf(notification.Type))
	defer cancel()
	sending, span := tracer.Start(
		sending,
		"notify",
		trace.WithAttributes(
			attribute.String("kubecleaner.cleaner", message.Run.Spec.Cleaner),
			attribute.String(
				"kubecleaner.run",
				message.Run.Name,
			),
			attribute.String("kubecleaner.channel", string(notification.Type)),
		),
	)
	defer span.End()
	err := o.Deliver(sending, message, notification)
	if err != nil {
		span.SetStatus(otelcodes.Error, "not delivered")
	}
	return err
}
