// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// collector is an OpenTelemetry collector, as far as it takes traces.
type collector struct {
	mu      sync.Mutex
	spans   []*tracepb.Span
	service string
	odd     []string
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	var request coltracepb.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("X-Tenant") != "team-a" {
		c.odd = append(c.odd, fmt.Sprintf("%s %s %v: %v", r.Method, r.URL.Path, r.Header, err))
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, resource := range request.ResourceSpans {
		for _, attribute := range resource.Resource.Attributes {
			if attribute.Key == "service.name" {
				c.service = attribute.Value.GetStringValue()
			}
		}
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// cleanerOf is the Cleaner that a span names, or "".
func cleanerOf(span *tracepb.Span) string {
	for _, a := range span.Attributes {
		if a.Key == "kubecleaner.cleaner" {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// TestTraces: a run is a trace of its stages and its notifications, which names the run, and no object.
func TestTraces(t *testing.T) {
	c := &collector{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "X-Tenant=team-a")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
	w := newWorld(t, newClient(t), v1alpha1.ActionDelete, 3)
	m := startManager(t, "--leader-elect=false", "--tracing-endpoint="+server.URL)
	w.start()
	eventually(t, "the run has ended", w.isOver)
	m.stop(t) // what was not sent yet is sent now

	c.mu.Lock()
	defer c.mu.Unlock()
	var root *tracepb.Span
	for _, span := range c.spans {
		if span.Name == "run" && len(span.ParentSpanId) == 0 && cleanerOf(span) == w.cleaner.Name {
			root = span
		}
		if text := span.String(); strings.Contains(text, "victim-") {
			t.Errorf("it names an object: %s", text)
		}
	}
	if root == nil || len(c.odd) > 0 || c.service != "kubecleaner" {
		t.Fatalf("there is no trace of the run: %v; of service %q; odd requests: %q", c.spans, c.service, c.odd)
	}
	attributes := map[string]string{}
	for _, a := range root.Attributes {
		attributes[a.Key] = a.Value.GetStringValue() + fmt.Sprint(a.Value.GetIntValue())
	}
	for key, want := range map[string]string{
		"kubecleaner.cleaner": w.cleaner.Name + "0", "kubecleaner.action": "Delete0", "kubecleaner.trigger": "Manual0", "kubecleaner.phase": "Completed0",
		"kubecleaner.matched": "3", "kubecleaner.acted": "3", "kubecleaner.failed": "0",
	} {
		if attributes[key] != want {
			t.Errorf("%s is %q, want %q", key, attributes[key], want)
		}
	}
	var stages []string
	for _, span := range c.spans {
		if string(span.ParentSpanId) == string(root.SpanId) && string(span.TraceId) == string(root.TraceId) {
			stages = append(stages, span.Name)
		}
	}
	if want := []string{"list", "judge", "record", "act", "record", "notify"}; !slices.Equal(stages, want) {
		t.Errorf("the stages are %q, want %q", stages, want)
	}
}
