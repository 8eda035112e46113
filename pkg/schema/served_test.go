// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// document is an OpenAPI v3 document with our schemas, from each of which drop takes properties away.
func document(t *testing.T, drop func(kind string, properties map[string]any)) string {
	t.Helper()
	ours, err := Ours()
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]any{}
	for kind, schema := range ours {
		properties := map[string]any{}
		for name, property := range schema.Properties {
			properties[name] = plainOf(property)
		}
		drop(kind, properties)
		schemas["x."+kind] = map[string]any{
			"properties":                      properties,
			"x-kubernetes-group-version-kind": []any{map[string]any{"group": v1alpha1.GroupVersion.Group, "version": "v1alpha1", "kind": kind}},
		}
	}
	text, err := json.Marshal(map[string]any{"components": map[string]any{"schemas": schemas}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func plainOf(s *Schema) map[string]any {
	plain, properties := map[string]any{}, map[string]any{}
	for name, property := range s.Properties {
		properties[name] = plainOf(property)
	}
	plain["properties"] = properties
	if s.Items != nil {
		plain["items"] = plainOf(s.Items)
	}
	if s.AdditionalProperties != nil {
		plain["additionalProperties"] = plainOf(s.AdditionalProperties)
	}
	if s.Default != nil {
		plain["default"] = s.Default
	}
	plain["x-kubernetes-preserve-unknown-fields"] = s.PreserveUnknown
	return plain
}

func nothing(string, map[string]any) {}

func dropping(kind, property string) func(string, map[string]any) {
	return func(of string, properties map[string]any) {
		if of == kind {
			delete(properties, property)
		}
	}
}

// answer is what the API server says to one request.
type answer struct {
	status     int
	etag, body string
}

// served asks a server that gives these answers, one after the other and then the last, on what it saw of requests.
func served(t *testing.T, answers ...answer) (s *Served, clk *clocktesting.FakeClock, matches *[]string) {
	t.Helper()
	matches = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*matches = append(*matches, r.Header.Get("If-None-Match"))
		now := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		if r.URL.Path != "/cluster"+documentPath {
			now.status = http.StatusTeapot
		}
		w.Header().Set("Etag", now.etag)
		w.WriteHeader(now.status)
		_, _ = w.Write([]byte(now.body))
	}))
	t.Cleanup(server.Close)
	clk = clocktesting.NewFakeClock(time.Now())
	var err error
	if s, err = NewServed(&rest.Config{Host: server.URL + "/cluster"}, server.Client(), clk); err != nil {
		t.Fatal(err)
	}
	s.pause = time.Millisecond
	return s, clk, matches
}

func TestServed(t *testing.T) {
	t.Parallel()
	whole := document(t, nothing)
	for name, test := range map[string]struct {
		answers []answer
		// lacks and err are what is said of the answers; none of them when nothing is.
		lacks, err string
	}{
		"all":                                    {answers: []answer{{200, `"a"`, whole}}},
		"a field less":                           {answers: []answer{{200, `"a"`, document(t, dropping("Cleaner", "spec"))}}, lacks: "lack fields of this version of KubeCleaner: Cleaner.spec. The API server drops them"},
		"a kind less":                            {answers: []answer{{200, `"a"`, strings.ReplaceAll(whole, "CleanerRun", "Other")}}, lacks: "lack fields of this version of KubeCleaner: CleanerRun. The"},
		"of another group":                       {answers: []answer{{200, `"a"`, strings.ReplaceAll(whole, v1alpha1.GroupVersion.Group, "example.com")}}, lacks: ": Cleaner, CleanerRun, Report. The"},
		"something else":                         {answers: []answer{{200, "", "{}"}}, lacks: ": Cleaner, CleanerRun, Report. The"},
		"forbidden":                              {answers: []answer{{403, "", ""}}, lacks: "does not show which fields of Cleaners it keeps (GET " + documentPath + ": 403 Forbidden): nothing runs."},
		"not there":                              {answers: []answer{{404, "", ""}}, lacks: "404 Not Found): nothing runs."},
		"not published yet":                      {answers: []answer{{404, "", ""}, {404, "", ""}, {404, "", ""}, {404, "", ""}, {200, `"a"`, whole}}},
		"away for a moment":                      {answers: []answer{{503, "", ""}, {503, "", ""}, {200, `"a"`, whole}}},
		"away":                                   {answers: []answer{{503, "", ""}}, err: "finding out whether the API server keeps all fields of Cleaners: GET " + documentPath + ": 503 Service Unavailable"},
		"no time":                                {answers: []answer{{429, "", ""}}, err: "429 Too Many Requests"},
		"no time for a while":                    {answers: append(slices.Repeat([]answer{{429, "", ""}}, 9), answer{200, `"a"`, whole})},
		"garbage":                                {answers: []answer{{200, "", whole[:len(whole)-1]}}, err: "unexpected end of JSON input"},
		"not modified, of nothing that was read": {answers: []answer{{304, "", ""}}, err: "304 Not Modified"},
		"a redirect":                             {answers: []answer{{302, "", ""}}, err: "302"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, _ := served(t, test.answers...)
			lacks, err := s.Check(t.Context())
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("the error is %v, want %q", err, test.err)
			}
			if (lacks == "") != (test.lacks == "") || !strings.Contains(lacks, test.lacks) {
				t.Errorf("it lacks %q, want %q", lacks, test.lacks)
			}
		})
	}
}

// What was read is good for a second; then the API server is asked whether it has changed.
func TestServedFollowsTheServer(t *testing.T) {
	t.Parallel()
	less := document(t, dropping("Cleaner", "status"))
	s, clk, matches := served(t, answer{200, `"a"`, document(t, nothing)}, answer{304, `"a"`, ""}, answer{200, `"b"`, less}, answer{304, `"b"`, ""}, answer{500, "", ""}, answer{500, "", ""}, answer{500, "", ""}, answer{200, `"a"`, document(t, nothing)})
	check := func(step time.Duration, wantLacks, wantErr bool) {
		t.Helper()
		clk.Step(step)
		if lacks, err := s.Check(t.Context()); (lacks != "") != wantLacks || (err != nil) != wantErr {
			t.Fatalf("it says %q, %v", lacks, err)
		}
	}
	check(0, false, false)
	check(fresh/2, false, false)
	check(fresh, false, false)
	check(fresh, true, false)
	check(fresh, true, false)
	check(fresh, false, true) // nobody knows
	check(0, false, false)    // so it is asked again at once
	check(-time.Hour, false, false)
	want := []string{"", `"a"`, `"a"`, `"b"`, `"b"`, `"b"`, `"b"`, `"b"`, `"a"`}
	if diff := cmp.Diff(want, *matches); diff != "" {
		t.Fatalf("the requests' If-None-Match (-want +got):\n%s", diff)
	}
}

// Who has no time gets no answer: above all not an old one.
func TestServedStops(t *testing.T) {
	t.Parallel()
	s, clk, _ := served(t, answer{200, `"a"`, document(t, nothing)})
	if lacks, err := s.Check(t.Context()); lacks != "" || err != nil {
		t.Fatal(lacks, err)
	}
	clk.Step(time.Hour)
	cause := errors.New("enough")
	stopped, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := s.Check(stopped); err == nil {
		t.Error("it answers although it could not ask")
	}
	s.turn <- struct{}{} // somebody else asks
	if _, err := s.Check(stopped); !errors.Is(err, cause) {
		t.Errorf("the error is %v", err)
	}
}

// A field that gets a default changes what stored Cleaners say without an edit, which reads as a loss of fields: the operator would
// refuse them all after an upgrade. Defaults of new fields belong into the code.
func TestNoFurtherDefaultsInTheSpec(t *testing.T) {
	t.Parallel()
	ours, err := Ours()
	if err != nil {
		t.Fatal(err)
	}
	bare := func(s *Schema) *Schema { return withoutDefaults(s) }
	got := Differences("spec", bare(ours["Cleaner"].Properties["spec"]), ours["Cleaner"].Properties["spec"])
	want := []string{
		"spec.failedRunsHistoryLimit (default 1)",
		"spec.occurrenceThreshold (default 1)",
		"spec.resourcePolicySet.resourceSelectors[].excludeDeleted (default true)",
		"spec.successfulRunsHistoryLimit (default 3)",
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the defaults in the spec (-want +got):\n%s", diff)
	}
}

func withoutDefaults(s *Schema) *Schema {
	if s == nil {
		return nil
	}
	bare := &Schema{Properties: map[string]*Schema{}, Items: withoutDefaults(s.Items), AdditionalProperties: withoutDefaults(s.AdditionalProperties), PreserveUnknown: s.PreserveUnknown}
	for name, property := range s.Properties {
		bare.Properties[name] = withoutDefaults(property)
	}
	return bare
}
