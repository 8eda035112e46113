// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Upstream: unpaged lists. Required: pages, all of them seen.
func TestPagedListIsSeenWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t, oldServer)
	b.configMaps(b.namespace, "cm", 1200)
	path := "/namespaces/" + b.namespace + "/configmaps"
	run := b.run(b.cleaner(v1alpha1.ActionScan))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1200 of 1200 objects matched.")
	if n := b.requests.count("GET", path); n != 3 {
		t.Fatalf("%d requests listed 1,200 objects, want 3 of up to 500", n)
	}
	if listed := len(outcomes(run)); listed+int(run.Status.ObjectsOmitted) != 1200 {
		t.Fatalf("the record lists %d objects, and says that %d more are not listed", listed, run.Status.ObjectsOmitted)
	}
	t.Run("a page cut once", func(t *testing.T) { b.brokenOnce(t, path) })
	t.Run("a page cut each time", func(t *testing.T) { b.brokenAlways(t, path) })
	t.Run("410 once", func(t *testing.T) { b.expiredOnce(t, path) })
	t.Run("410 always", func(t *testing.T) { b.expiredAlways(t, path) })
	t.Run("pages of two resource versions", func(t *testing.T) { b.twoVersions(t, path) })
	b.wantUntouched()
}

// A page that breaks off is read again, from page 1. What was seen before is not counted twice.
func (b *bench) brokenOnce(t *testing.T, path string) {
	b.answering(path, func(page int, r *http.Request, body []byte) *http.Response {
		if page == 2 {
			return cutOff(r, body)
		}
		return answer(r, http.StatusOK, body)
	})
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionScan, evaluate(`function evaluate() return {matching = true} end`))), v1alpha1.ReasonCompleted, "1200 of 1200 objects matched.")
}

// A server that writes lists object by object is asked for all at once, and in smaller pages when it breaks off.
func TestLargePages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 1200)
	path := "/namespaces/" + b.namespace + "/configmaps"
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionScan)), v1alpha1.ReasonCompleted, "1200 of 1200 objects matched.")
	if n := b.requests.count("GET", path); n != 1 {
		t.Fatalf("%d requests listed 1,200 objects, want 1", n)
	}
	var limits []string
	b.answering(path, func(page int, r *http.Request, body []byte) *http.Response {
		limits = append(limits, r.URL.Query().Get("limit"))
		if page == 1 {
			return cutOff(r, body)
		}
		return answer(r, http.StatusOK, body)
	})
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionScan)), v1alpha1.ReasonCompleted, "1200 of 1200 objects matched.")
	if !slices.Equal(limits, []string{"20000", "10000"}) {
		t.Fatalf("the limits were %v", limits)
	}
}

// A broken page means zero actions and a condition with the cause: the second page is cut in its middle each time.
func (b *bench) brokenAlways(t *testing.T, path string) {
	b.answering(path, func(_ int, r *http.Request, body []byte) *http.Response {
		if r.URL.Query().Has("continue") {
			return cutOff(r, body)
		}
		return answer(r, http.StatusOK, body)
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete, evaluate(`function evaluate() return {matching = true} end`)))
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the run could not read or judge everything: resourceSelectors[0]: listing ConfigMap ("+"/api/v1"+path+"): ",
		"the response ended in the middle of the list")
	wantLeftAlone(t, run)
}

// 410 in the middle of pages: restart from page 1. What was seen before is not counted twice.
func (b *bench) expiredOnce(t *testing.T, path string) {
	before := b.requests.count("GET", path)
	b.answering(path, func(page int, r *http.Request, body []byte) *http.Response {
		if page == 2 {
			return refusal(t, r, apierrors.NewResourceExpired("The provided continue parameter is too old"))
		}
		return answer(r, http.StatusOK, body)
	})
	run := b.run(b.cleaner(v1alpha1.ActionScan))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1200 of 1200 objects matched.")
	if n := b.requests.count("GET", path) - before; n != 5 {
		t.Fatalf("%d requests, want 2 before the restart and 3 after it", n)
	}
}

// 410 in the middle of pages: at most three times, then fail.
func (b *bench) expiredAlways(t *testing.T, path string) {
	before := b.requests.count("GET", path)
	b.answering(path, func(_ int, r *http.Request, body []byte) *http.Response {
		if r.URL.Query().Has("continue") {
			return refusal(t, r, apierrors.NewResourceExpired("The provided continue parameter is too old"))
		}
		return answer(r, http.StatusOK, body)
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "the continue token of the list has expired (410)")
	wantLeftAlone(t, run)
	if n := b.requests.count("GET", path) - before; n != 6 {
		t.Fatalf("%d requests, want three attempts of 2", n)
	}
}

// Pages of two resource versions are no consistent view.
func (b *bench) twoVersions(t *testing.T, path string) {
	b.answering(path, func(page int, r *http.Request, body []byte) *http.Response {
		if page != 2 {
			return answer(r, http.StatusOK, body)
		}
		var list struct {
			Metadata struct{ ResourceVersion string }
		}
		if err := json.Unmarshal(body, &list); err != nil {
			t.Error(err)
		}
		was := fmt.Appendf(nil, `"resourceVersion":%q,"continue"`, list.Metadata.ResourceVersion)
		if !bytes.Contains(body, was) {
			t.Errorf("the page has no %s", was)
		}
		return answer(r, http.StatusOK, bytes.Replace(body, was, []byte(`"resourceVersion":"1","continue"`), 1))
	})
	run := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "the list is not consistent: one page is of resource version ", `another of "1"`)
	wantLeftAlone(t, run)
}

// wantLeftAlone fails the test unless every object that matched was left alone because the view was not complete.
func wantLeftAlone(t *testing.T, run *v1alpha1.CleanerRun) {
	t.Helper()
	for _, o := range run.Status.Objects {
		if o.Outcome != v1alpha1.OutcomeNotActed || o.Reason != "the run could not read or judge everything" {
			t.Fatalf("%s is %s: %s", o.Name, o.Outcome, o.Reason)
		}
	}
	if run.Status.Acted != 0 {
		t.Fatalf("%d objects were acted on", run.Status.Acted)
	}
}

// An error of the server's means zero actions, never an empty list; and so does an answer that is no list.
func TestAnswerThatIsNoListIsNeverEmpty(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("mine")
	tests := map[string]struct {
		code       int
		body, want string
	}{
		"500":                {http.StatusInternalServerError, `{"kind":"Status","status":"Failure","message":"etcd is away","code":500}`, "etcd is away"},
		"404":                {http.StatusNotFound, `{"kind":"Status","status":"Failure","reason":"NotFound","message":"no such kind any more","code":404}`, "no such kind any more"},
		"an empty answer":    {http.StatusOK, ``, "the response ended in the middle of the list"},
		"an empty object":    {http.StatusOK, `{}`, "the response is not a list: it has no metadata or no items"},
		"no items":           {http.StatusOK, `{"metadata":{"resourceVersion":"7"}}`, "the response is not a list: it has no metadata or no items"},
		"no metadata":        {http.StatusOK, `{"items":[]}`, "the response is not a list: it has no metadata or no items"},
		"no version":         {http.StatusOK, `{"metadata":{},"items":[]}`, `the list is not consistent: one page is of resource version ""`},
		"a page of a portal": {http.StatusOK, `<html>please log in</html>`, "invalid character '<'"},
		"an item of nothing": {http.StatusOK, `{"metadata":{"resourceVersion":"7"},"items":[{}]}`, "has no name, uid or resourceVersion"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b.answering("/"+b.namespace+"/configmaps", func(_ int, r *http.Request, _ []byte) *http.Response {
				return answer(r, test.code, []byte(test.body))
			})
			c := b.cleaner(v1alpha1.ActionDelete, aggregated(`function evaluate() error("the aggregated script was called") end`))
			run := b.run(c)
			wantRun(t, run, v1alpha1.ReasonViewIncomplete, "resourceSelectors[0]: listing ConfigMap ", test.want)
			wantCounts(t, run, v1alpha1.RunCounts{})
			b.wantUntouched()
		})
	}
	b.wantNames("mine")
}
