// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// listing watches what lists of a resource ask for, and lets a test change it.
type listing struct {
	mu      sync.Mutex
	accepts []string
}

// watchLists makes whole objects of all lists whose path ends like this, if whole is true, and takes note of what was asked for.
func (b *bench) watchLists(suffix string, whole bool) *listing {
	l := &listing{}
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, suffix) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.accepts = append(l.accepts, r.Header.Get("Accept"))
			if whole {
				r.Header.Set("Accept", "application/json")
			}
		}
		return nil, nil
	})
	return l
}

// askedForMetadata reports whether all lists did, and fails the test when they differ.
func (l *listing) askedForMetadata(t *testing.T) bool {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, accept := range l.accepts {
		if strings.HasPrefix(accept, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1") {
			n++
		}
	}
	if len(l.accepts) == 0 || n != 0 && n != len(l.accepts) {
		t.Errorf("%d of %d lists asked for metadata: %q", n, len(l.accepts), l.accepts)
	}
	return n > 0
}

// reading are scripts and conditions, and whether metadata is enough for them.
var reading = []struct {
	name, script, condition string
	metadata                bool
}{
	{name: "labels alone", metadata: true},
	{name: "labels and annotations", script: `function evaluate() return {matching = obj.metadata.labels.group == "1", message = (obj.metadata.annotations or {}).note} end`, metadata: true},
	{name: "kind", script: `function evaluate() return {matching = true, message = obj.kind .. " of " .. obj.apiVersion} end`, metadata: true},
	{name: "owner and managers", script: `function evaluate()
  local m = obj.metadata
  local said = tostring(m.ownerReferences) .. m.creationTimestamp .. m.resourceVersion .. m.uid
  for _, f in ipairs(m.managedFields) do said = said .. f.manager .. f.operation .. (f.fieldsV1 and "f" or "") end
  return {matching = string.sub(m.name, -1) ~= "3", message = said}
end`, metadata: true},
	{name: "a script that fails", script: `function evaluate() return {matching = obj.metadata.annotations.note == "x"} end`, metadata: true},
	{name: "condition on the name", condition: `object.metadata.name.endsWith("1") && object.kind != "x"`, metadata: true},
	{name: "condition that fails", condition: `object.metadata.annotations.note == "1"`, metadata: true},
	{name: "both", condition: `has(object.metadata.labels.group)`, script: `function evaluate() return {matching = obj["metadata"].labels.group == "0"} end`, metadata: true},
	{name: "data", script: `function evaluate() return {matching = obj.data ~= nil or obj.spec ~= nil} end`},
	{name: "condition on data", condition: `has(object.data) || has(object.spec)`},
	{name: "script that reads less than the condition", condition: `object != {}`, script: `function evaluate() return {matching = obj.metadata.name ~= nil} end`},
	{name: "condition that reads less than the script", condition: `object.metadata.name != ""`, script: `function evaluate(o) return {matching = o.data ~= nil or o.spec ~= nil} end`},
	{name: "all fields", script: `function evaluate() local n = 0 for k in pairs(obj) do n = n + 1 end return {matching = n > 3, message = tostring(n > 3)} end`},
}

// Where metadata is enough, that alone is asked of the API server; and what comes of it is what comes of whole objects, word for word.
func TestScanOfMetadataSaysTheSame(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 6 {
		b.configMap(fmt.Sprintf("cm-%d", i), func(cm *corev1.ConfigMap) {
			cm.Labels["group"], cm.Data = fmt.Sprint(i%2), map[string]string{"n": strings.Repeat("x", 100*i)}
			if i%3 == 0 {
				cm.Annotations = map[string]string{"note": fmt.Sprint(i)}
			}
			if i == 5 {
				cm.Annotations = map[string]string{v1alpha1.ProtectAnnotation: "true"}
			}
		})
		w := b.widget(fmt.Sprintf("w-%d", i), `{"stale": true}`)
		w.SetLabels(map[string]string{"group": fmt.Sprint(i % 2)})
		must(t, b.user.Update(t.Context(), w))
	}
	selectors := map[string]v1alpha1.ResourceSelector{"configmaps": kind("", "v1", "ConfigMap", b.namespace), "widgets": kind(widgetGroup, "v1", "Widget", b.namespace)}
	for resource, selector := range selectors {
		selector.LabelFilters = has("group")
		for _, test := range reading {
			t.Run(resource+" "+test.name, func(t *testing.T) {
				selector := selector
				selector.Evaluate = test.script
				if test.condition != "" {
					selector.MatchConditions = []v1alpha1.MatchCondition{{Name: "c", Expression: test.condition, Message: "as the condition says"}}
				}
				asked := b.watchLists("/"+b.namespace+"/"+resource, false)
				got := b.run(b.cleaner(v1alpha1.ActionScan, selecting(selector)))
				if metadata := asked.askedForMetadata(t); metadata != test.metadata {
					t.Errorf("only metadata was asked for: %t, want %t", metadata, test.metadata)
				}
				b.watchLists("/"+b.namespace+"/"+resource, true)
				want := b.run(b.cleaner(v1alpha1.ActionScan, selecting(selector)))
				times := cmpopts.IgnoreFields(v1alpha1.CleanerRunStatus{}, "StartTime", "JudgedTime", "CompletionTime", "Duration")
				transitions := cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")
				if diff := cmp.Diff(want.Status, got.Status, times, transitions); diff != "" {
					t.Errorf("of whole objects (-), of metadata (+):\n%s", diff)
				}
				if got.Status.Considered != 6 {
					t.Errorf("%d objects were judged", got.Status.Considered)
				}
			})
		}
	}
	b.wantUntouched()
}

// The whole of the metadata is the same: also what no script of the tests above looks at.
func TestMetadataIsTheSameInBothForms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("cm", func(cm *corev1.ConfigMap) {
		cm.Finalizers, cm.Annotations = []string{"example.com/keep"}, map[string]string{"a": "<>&\u2028", "empty": ""}
		cm.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "u"}}
	})
	b.pod("pod", "cm")
	b.widget("w", `{"stale": true}`)
	for _, path := range []string{
		"/api/v1/namespaces/" + b.namespace + "/configmaps", "/api/v1/namespaces/" + b.namespace + "/pods", "/apis/" + widgetGroup + "/v1/namespaces/" + b.namespace + "/widgets",
	} {
		of := func(accept string) (metadata []string) {
			var list struct {
				Items []struct{ Metadata json.RawMessage }
			}
			must(t, json.Unmarshal(rawGetAs(t, path, accept), &list))
			for _, item := range list.Items {
				metadata = append(metadata, string(item.Metadata))
			}
			return metadata
		}
		whole, partial := of("application/json"), of("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
		if len(whole) == 0 || len(whole) != len(partial) {
			t.Fatalf("%s: %d and %d objects", path, len(whole), len(partial))
		}
		for i := range whole {
			wantJSON(t, path, whole[i], partial[i])
		}
	}
}
