// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// liveObject is an object as the API server sends it.
func liveObject(t *testing.T, group, kind, text string) *object.Object {
	t.Helper()
	o, err := object.New(object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}, Resource: "things"}, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &o
}

func copyFrom(t *testing.T, group, kind, text, patch string) *journal.Copy {
	t.Helper()
	o := liveObject(t, group, kind, text)
	c := &journal.Copy{
		APIVersion: o.Kind.APIVersion(), Kind: kind, Resource: "things", Namespace: o.Namespace, Name: o.Name,
		UID: o.UID, ResourceVersion: o.ResourceVersion, Object: json.RawMessage(text),
	}
	if patch != "" {
		c.Patch = json.RawMessage(patch)
	}
	return c
}

const (
	copied  = `{"metadata":{"name":"a","namespace":"n","uid":"1","resourceVersion":"7","generateName":"x","generation":3,"creationTimestamp":"2026-01-01T00:00:00Z","selfLink":"/x"},"data":{"k":"v"}}`
	another = `{"metadata":{"name":"a","namespace":"n","uid":"2","resourceVersion":"9"},"data":{"k":"other"}}`
	equals  = `{"metadata":{"name":"a","namespace":"n","uid":"2","resourceVersion":"9","finalizers":["f"],"ownerReferences":[{"uid":"o"}],"annotations":{"apps.projectsveltos.io/restored-from":"run"}},"data":{"k":"v"},"status":{"x":1}}`
	still   = `{"metadata":{"name":"a","namespace":"n","uid":"1","resourceVersion":"8"},"data":{"k":"v"}}`
	ending  = `{"metadata":{"name":"a","namespace":"n","uid":"1","resourceVersion":"8","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["example.com/f"]},"data":{"k":"v"}}`
)

// Each of the rules decides about one object: the copy, what is there, what the run says, and what was asked for.
func TestDecide(t *testing.T) {
	const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n","annotations":{"apps.projectsveltos.io/restored-from":"run"}},"data":{"k":"v"}}`
	const over = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n","uid":"2","resourceVersion":"9","annotations":{"apps.projectsveltos.io/restored-from":"run"}},"data":{"k":"v"}}`
	const exists = "an object with this name exists, with other content; --force overwrites it with the copy"
	tests := map[string]struct {
		copy, patch, live string
		facts             facts
		options           Options
		step              Step
		result            Result
		reason, body      string
	}{
		"deleted":                        {copied, "", "", facts{outcome: "Deleted"}, Options{}, StepCreate, Planned, "", body},
		"ended since":                    {copied, "", "", facts{outcome: "Terminating"}, Options{}, StepCreate, Planned, "", body},
		"found gone":                     {copied, "", "", facts{outcome: "FoundGone"}, Options{}, StepCreate, Planned, "", body},
		"found gone, and replaced":       {copied, "", another, facts{outcome: "FoundGone"}, Options{}, "", Exists, exists, ""},
		"outcome unknown, and gone":      {copied, "", "", facts{}, Options{}, StepCreate, Planned, "", body},
		"outcome unknown, still there":   {copied, "", still, facts{}, Options{}, "", Left, "it is still there: the run did not delete it", ""},
		"not known, and gone":            {copied, "", "", facts{outcome: unknown}, Options{}, "", Left, "the outcome of the run is not known, so it may not have touched it; to restore it anyway, name it with --only", ""},
		"not known, and asked for":       {copied, "", "", facts{outcome: unknown, named: true}, Options{}, StepCreate, Planned, "", body},
		"failed":                         {copied, "", "", facts{outcome: "Failed"}, Options{}, "", Left, "the outcome of the run is Failed, so it most probably did not touch it; to restore it anyway, name it with --only", ""},
		"failed, and asked for":          {copied, "", "", facts{outcome: "Failed", named: true}, Options{}, StepCreate, Planned, "", body},
		"abandoned, asked for, is there": {copied, "", still, facts{outcome: "Abandoned", named: true}, Options{}, "", Left, "it is still there: the run did not delete it", ""},
		"somebody else's deed":           {copied, "", "", facts{outcome: "Gone"}, Options{}, "", Left, "somebody else deleted it before the run came to it; to restore it anyway, name it with --only", ""},
		"protected, and asked for":       {copied, "", "", facts{outcome: "Protected", named: true}, Options{Force: true}, "", Left, "the run did not touch it: the outcome is Protected", ""},
		"no copy":                        {"", "", "", facts{outcome: "Deleted"}, Options{}, "", Left, "no copy was kept of it", ""},
		"present and equal":              {copied, "", equals, facts{outcome: "Deleted"}, Options{}, "", Already, "", ""},
		"equal, and not marked":          {copied, "", strings.Replace(equals, `,"annotations":{"apps.projectsveltos.io/restored-from":"run"}`, "", 1), facts{outcome: "Deleted"}, Options{}, "", Already, "it is as its copy is, but no restore made it: nothing keeps its Cleaner from deleting it again", ""},
		"present and different":          {copied, "", another, facts{outcome: "Deleted"}, Options{}, "", Exists, exists, ""},
		"present, different, force":      {copied, "", another, facts{outcome: "Deleted"}, Options{Force: true}, StepOverwrite, Planned, "", over},
		"ending":                         {copied, "", ending, facts{outcome: "Terminating"}, Options{Force: true}, "", Failed, "it is still being deleted, held by the finalizers example.com/f; try again when it is gone", ""},
		"ending with its namespace":      {copied, "", ending, facts{outcome: "Terminating", returns: true}, Options{}, StepCreate, Planned, "", body},
		"changed":                        {copied, `{"data":{"k":"w"}}`, `{"metadata":{"name":"a","namespace":"n","uid":"1","resourceVersion":"8"},"data":{"k":"w"}}`, facts{outcome: "Transformed"}, Options{}, StepPutBack, Planned, "", `{"data":{"k":"v"},"metadata":{"resourceVersion":"8","annotations":{"apps.projectsveltos.io/restored-from":"run"}}}`},
		"changed and put back":           {copied, `{"data":{"k":"w"}}`, still, facts{outcome: "Transformed"}, Options{}, "", Already, "", ""},
		"changed and edited":             {copied, `{"data":{"k":"w"}}`, `{"metadata":{"name":"a","namespace":"n","uid":"1","resourceVersion":"8"},"data":{"k":"x"}}`, facts{outcome: "Transformed"}, Options{}, "", ChangedSince, "it was edited since at data.k; with --force that is overwritten", ""},
		"changed and gone":               {copied, `{"data":{"k":"w"}}`, "", facts{outcome: "Transformed"}, Options{}, "", Left, "somebody deleted it after the run had changed it", ""},
		"changed and replaced":           {copied, `{"data":{"k":"w"}}`, another, facts{outcome: "Transformed"}, Options{}, "", ChangedSince, "another object with this name was created since; --force restores the fields in that object", ""},
		"changed and ending":             {copied, `{"data":{"k":"w"}}`, ending, facts{outcome: "Transformed"}, Options{Force: true}, "", Left, "it is being deleted, held by the finalizers example.com/f", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var c *journal.Copy
			if test.copy != "" {
				c = copyFrom(t, "", "ConfigMap", test.copy, test.patch)
			}
			test.facts.run = "run"
			if test.live != "" {
				test.facts.live = liveObject(t, "", "ConfigMap", test.live)
			}
			got := decide(c, test.facts, test.options)
			if got.step != test.step || got.result != test.result || got.reason != test.reason {
				t.Errorf("got %s %s %q, want %s %s %q", got.step, got.result, got.reason, test.step, test.result, test.reason)
			}
			var want map[string]any
			if test.body != "" {
				want = decode(t, test.body)
			}
			if diff := cmp.Diff(want, got.body); diff != "" {
				t.Errorf("what is sent (-want +got):\n%s", diff)
			}
		})
	}
}

// A copy that cannot be read is a failure only where the copy is needed.
func TestUnreadableCopy(t *testing.T) {
	const byName = "; to restore it anyway, name it with --only"
	tests := map[string]struct {
		facts  facts
		result Result
		reason string
	}{
		"deleted":               {facts{outcome: "Deleted"}, Failed, "no such file"},
		"changed":               {facts{outcome: "Transformed"}, Failed, "no such file"},
		"protected":             {facts{outcome: "Protected", named: true}, Left, "the run did not touch it: the outcome is Protected"},
		"somebody else's deed":  {facts{outcome: "Gone"}, Left, "somebody else deleted it before the run came to it" + byName},
		"failed":                {facts{outcome: "Failed"}, Left, "the outcome of the run is Failed, so it most probably did not touch it" + byName},
		"failed, and asked for": {facts{outcome: "Failed", named: true}, Failed, "no such file"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := copyFrom(t, "", "ConfigMap", copied, "")
			c.Object, c.Problem = nil, errors.New("no such file")
			item := &Item{Object: *liveObject(t, "", "ConfigMap", copied), copy: c, outcome: test.facts.outcome, named: test.facts.named}
			item.Raw = nil
			(&Restorer{}).judge(t.Context(), &Plan{run: &v1alpha1.CleanerRun{}}, item) // it asks no API server
			if item.Result != test.result || item.Reason != test.reason {
				t.Errorf("got %s %q, want %s %q", item.Result, item.Reason, test.result, test.reason)
			}
		})
	}
}

// A copy of another object than it says is never used.
func TestCopyOfAnotherObject(t *testing.T) {
	c := copyFrom(t, "", "ConfigMap", copied, "")
	c.Name = "b"
	if got := decide(c, facts{outcome: v1alpha1.OutcomeDeleted}, Options{Force: true}); got.result != Failed || got.reason != "the copy of ConfigMap b holds another object: ConfigMap n/a" {
		t.Errorf("%+v", got)
	}
}

// Rules 2 to 5, by kind: what is created from a copy, and what is reported.
func TestDesired(t *testing.T) {
	const head = `{"metadata":{"name":"a","uid":"1","resourceVersion":"7"`
	tests := map[string]struct {
		group, kind, copy string
		facts             facts
		options           Options
		want              string // without metadata.name and the mark
		notes             []string
	}{
		"owners": { // Velero#7862: one that was gone took the restored object along
			"", "ConfigMap", head + `,"ownerReferences":[{"kind":"K","name":"there","uid":"o1"},{"kind":"K","name":"gone","uid":"o2"}]}}`,
			facts{owners: map[string]string{"o1": "", "o2": "it is gone"}},
			Options{},
			`{"metadata":{"ownerReferences":[{"kind":"K","name":"there","uid":"o1"}]}}`,
			[]string{"the reference to its owner K gone was dropped: it is gone"},
		},
		"finalizers":          {"", "ConfigMap", head + `,"finalizers":["a/b","kubernetes.io/pvc-protection"]}}`, facts{}, Options{}, `{"metadata":{}}`, []string{"its finalizers were dropped: a/b"}},
		"finalizers, kept":    {"", "ConfigMap", head + `,"finalizers":["a/b"]}}`, facts{}, Options{KeepFinalizers: true}, `{"metadata":{"finalizers":["a/b"]}}`, nil},
		"a namespace's own":   {"", "Namespace", head + `},"spec":{"finalizers":["kubernetes"]}}`, facts{}, Options{}, `{"metadata":{}}`, nil},
		"status":              {"g", "K", head + `},"status":{"a":1}}`, facts{}, Options{}, `{"metadata":{}}`, nil},
		"status, asked for":   {"g", "K", head + `},"status":{"a":1}}`, facts{}, Options{Status: true}, `{"metadata":{},"status":{"a":1}}`, nil},
		"status, for itself":  {"g", "K", head + `},"status":{"a":1}}`, facts{subresource: true}, Options{Status: true}, `{"metadata":{}}`, nil},
		"Service":             {"", "Service", head + `},"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"healthCheckNodePort":30001,"ports":[{"port":80,"nodePort":30000}]}}`, facts{}, Options{}, `{"metadata":{},"spec":{"ports":[{"port":80}]}}`, nil},
		"Service, headless":   {"", "Service", head + `},"spec":{"clusterIP":"None","clusterIPs":["None"]}}`, facts{}, Options{}, `{"metadata":{},"spec":{"clusterIP":"None","clusterIPs":["None"]}}`, nil},
		"Service of another":  {"serving.example.com", "Service", head + `},"spec":{"clusterIP":"10.0.0.1"}}`, facts{}, Options{}, `{"metadata":{},"spec":{"clusterIP":"10.0.0.1"}}`, nil},
		"Pod":                 {"", "Pod", head + `},"spec":{"nodeName":"n","x":1}}`, facts{}, Options{}, `{"metadata":{},"spec":{"x":1}}`, nil},
		"Job":                 {"batch", "Job", head + `,"labels":{"controller-uid":"1","app":"x"}},"spec":{"selector":{"matchLabels":{"controller-uid":"1"}},"template":{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":"1","job-name":"a"}}}}}`, facts{}, Options{}, `{"metadata":{"labels":{"app":"x"}},"spec":{"template":{"metadata":{"labels":{"job-name":"a"}}}}}`, nil},
		"Job, manual":         {"batch", "Job", head + `},"spec":{"manualSelector":true,"selector":{"matchLabels":{"a":"1"}}}}`, facts{}, Options{}, `{"metadata":{},"spec":{"manualSelector":true,"selector":{"matchLabels":{"a":"1"}}}}`, nil},
		"PVC":                 {"", "PersistentVolumeClaim", head + `,"annotations":{"pv.kubernetes.io/bind-completed":"yes","mine":"1"}},"spec":{"volumeName":"pv-1"}}`, facts{}, Options{}, `{"metadata":{"annotations":{"mine":"1"}},"spec":{}}`, []string{"it was bound to PersistentVolume pv-1; the claim comes back unbound, and what the volume held is not in the copy"}},
		"PV":                  {"", "PersistentVolume", head + `},"spec":{"claimRef":{"name":"c","namespace":"n","uid":"u","resourceVersion":"1"}}}`, facts{}, Options{}, `{"metadata":{},"spec":{"claimRef":{"name":"c","namespace":"n"}}}`, nil},
		"an aggregated role":  {"rbac.authorization.k8s.io", "ClusterRole", head + `},"aggregationRule":{"x":1},"rules":[{"verbs":["*"]}]}`, facts{}, Options{}, `{"metadata":{},"aggregationRule":{"x":1}}`, nil},
		"exact values remain": {"g", "K", head + `},"spec":{"n":9007199254740993,"f":0.10,"l":[],"m":{}}}`, facts{}, Options{}, `{"metadata":{},"spec":{"n":9007199254740993,"f":0.10,"l":[],"m":{}}}`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.facts.outcome, test.facts.run = v1alpha1.OutcomeDeleted, "run"
			got := decide(copyFrom(t, test.group, test.kind, test.copy, ""), test.facts, test.options)
			want := decode(t, test.want)
			want["kind"], want["apiVersion"] = test.kind, schema.GroupVersion{Group: test.group, Version: "v1"}.String()
			want["metadata"].(map[string]any)["name"] = "a"
			mark(want, "run")
			if diff := cmp.Diff(want, got.body); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.notes, got.notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// Rule 5: tokens, and what had finished, are not brought back.
func TestNotRestored(t *testing.T) {
	for _, test := range []struct{ group, kind, rest, want string }{
		{"", "Secret", `"type":"kubernetes.io/service-account-token"`, "it is a token, which the cluster would not accept any more; make a new one"},
		{"", "Secret", `"type":"Opaque"`, ""},
		{"", "Pod", `"status":{"phase":"Succeeded"}`, "the Pod had finished"},
		{"", "Pod", `"status":{"phase":"Failed"}`, "the Pod had finished"},
		{"", "Pod", `"status":{"phase":"Running"}`, ""},
		{"batch", "Job", `"status":{"conditions":[{"type":"Complete","status":"True"}]}`, "the Job had finished, and would run again"},
		{"batch", "Job", `"status":{"conditions":[{"type":"Failed","status":"False"}]}`, ""},
		{"example.com", "Job", `"status":{"conditions":[{"type":"Complete","status":"True"}]}`, ""},
	} {
		c := copyFrom(t, test.group, test.kind, `{"metadata":{"name":"a","uid":"1","resourceVersion":"7"},`+test.rest+`}`, "")
		got := decide(c, facts{outcome: v1alpha1.OutcomeDeleted}, Options{Force: true})
		if got.reason != test.want || (got.result == Left) != (test.want != "") {
			t.Errorf("%s %s: %s %q, want %q", test.kind, test.rest, got.result, got.reason, test.want)
		}
	}
}

// Rule 6.
func TestOrder(t *testing.T) {
	var items []*Item
	for _, kind := range []schema.GroupKind{
		{Group: "example.com", Kind: "Thing"},
		{Group: "networking.k8s.io", Kind: "Ingress"},
		{Group: "apps", Kind: "Deployment"},
		{Kind: "Service"},
		{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"},
		{Group: "rbac.authorization.k8s.io", Kind: "Role"},
		{Kind: "ServiceAccount"},
		{Kind: "ConfigMap"},
		{Kind: "Secret"},
		{Kind: "PersistentVolumeClaim"},
		{Kind: "PersistentVolume"},
		{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
		{Kind: "Namespace"},
	} {
		items = append(items, &Item{Object: object.Object{Kind: object.Kind{GroupVersionKind: kind.WithVersion("v1")}}})
	}
	sort(items)
	var got []string
	for _, item := range items {
		got = append(got, item.Kind.Kind)
	}
	want := []string{
		"Namespace", "CustomResourceDefinition", "PersistentVolume", "PersistentVolumeClaim", "Secret", "ConfigMap", "ServiceAccount", "Role", "RoleBinding",
		"Service", "Deployment", "Ingress", "Thing",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if rank(items[1].Kind.GroupKind()) != rankOfDefinitions {
		t.Error("rankOfDefinitions is not that of definitions")
	}
}
