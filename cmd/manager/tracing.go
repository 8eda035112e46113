// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelresource "go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const (
	// tracesPath is where a collector takes traces, unless the address says another (OTLP specification 1.9, "OTLP/HTTP
	// Request").
	tracesPath = "/v1/traces"
	// lastTraces bounds how long the traces that were not sent yet may take when the operator stops.
	lastTraces = 3 * time.Second
	// traceTimeout bounds one request to the collector, and maxTraceError what is logged of one that failed, in bytes.
	traceTimeout  = 10 * time.Second
	maxTraceError = 500
)

// startTracing sends traces to the collector that the options name, if they name one, until what it returns is called.
// A collector that does not answer costs traces, and nothing else: they are sent beside the work, and those that there
// is no room for are dropped.
func startTracing(ctx context.Context, o *options, logger logr.Logger) (stop func(), err error) {
	if o.tracingEndpoint == "" {
		return func() {}, nil
	}
	logger = logger.WithName("tracing")
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { // it has what the collector answered
		logger.Info("Could not send traces", "cause", v1alpha1.Truncate(err.Error(), maxTraceError))
	}))
	address, err := url.Parse(o.tracingEndpoint)
	if err != nil {
		return nil, fmt.Errorf("--tracing-endpoint: %w", err)
	}
	if strings.Trim(address.Path, "/") == "" {
		address.Path = tracesPath
	}
	// What goes with the spans, a token for example, is for this collector and no other.
	plain := &http.Client{
		Timeout:       traceTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	exporter, err := otlptracehttp.New(
		ctx,
		otlptracehttp.WithEndpointURL(address.String()),
		otlptracehttp.WithHTTPClient(plain),
	)
	if err != nil {
		return nil, fmt.Errorf("starting to trace: %w", err)
	}
	// What the environment says goes before ours.
	about, err := otelresource.New(ctx, otelresource.WithAttributes(
		attribute.String("service.name", reporter), attribute.String("service.version", versionString()),
		attribute.String("k8s.namespace.name", o.namespace),
	), otelresource.WithTelemetrySDK(), otelresource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("starting to trace: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	otel.SetTracerProvider(provider)
	return func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTraces)
		defer cancel()
		if err := provider.Shutdown(ending); err != nil {
			logger.Info("Could not send the last traces", "cause", v1alpha1.Truncate(err.Error(), maxTraceError))
		}
	}, nil
}
