// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
)

// traceTo sends one span to an address, and returns what was logged of that.
func traceTo(t *testing.T, address string) string {
	t.Helper()
	var log strings.Builder
	logger := logr.FromSlogHandler(slog.NewTextHandler(&log, nil))
	stop, err := startTracing(t.Context(), &options{tracingEndpoint: address}, logger)
	if err != nil {
		t.Fatal(err)
	}
	_, span := otel.Tracer("test").Start(t.Context(), "test")
	span.End()
	stop()
	return log.String()
}

// What goes with the spans is for the collector that was named: it cannot send it on.
func TestTracesFollowNoRedirect(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer c4n4ry")
	var asked, elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == tracesPath && r.Header.Get("Authorization") == "Bearer c4n4ry" {
			asked.Add(1)
		}
		http.Redirect(w, r, other.URL+tracesPath, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(collector.Close)
	log := traceTo(t, collector.URL)
	if asked.Load() == 0 || elsewhere.Load() != 0 {
		t.Errorf("the collector was asked %d times, the other server %d times", asked.Load(), elsewhere.Load())
	}
	if !strings.Contains(log, "Could not send") || strings.Contains(log, "c4n4ry") {
		t.Errorf("it logs %s", log)
	}
}

// A collector's answer does not fill the log.
func TestTracesLogLittleOfAnAnswer(t *testing.T) {
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
	}))
	t.Cleanup(collector.Close)
	if log := traceTo(t, collector.URL); !strings.Contains(log, "Could not send") || len(log) > 4*maxTraceError {
		t.Errorf("it logs %d bytes: %.300s", len(log), log)
	}
}
