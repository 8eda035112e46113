// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// labelFilter is one label filter; an empty value is none.
func labelFilter(key string, operation v1alpha1.Operation, value string) v1alpha1.LabelFilter {
	f := v1alpha1.LabelFilter{Key: key, Operation: operation}
	if value != "" {
		f.Value = ptr.To(value)
	}
	return f
}

// emptyValue is a filter that compares with the empty value.
func emptyValue(key string, operation v1alpha1.Operation) v1alpha1.LabelFilter {
	return v1alpha1.LabelFilter{Key: key, Operation: operation, Value: ptr.To("")}
}

func filtering(filters ...v1alpha1.LabelFilter) func(*v1alpha1.Cleaner) {
	return edited(func(s *v1alpha1.ResourceSelector) { s.LabelFilters = filters })
}

// labelFilters: Equal, Different (also matches objects without the key), Has, DoesNotHave. All must hold. Sent to the server.
func TestLabelFilterOperations(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, labels := range map[string]map[string]string{
		"one": {"app": "one"}, "dash": {"app": "a-b"}, "under": {"app": "a_b"}, "dot": {"app": "a.b"},
		"empty": {"app": ""}, "none": {}, "both": {"app": "one", "example.com/team": "Red-1_2.3"},
	} {
		b.configMap(name, func(cm *corev1.ConfigMap) { cm.Labels = labels })
	}
	const equal, different, has, doesNotHave = v1alpha1.OperationEqual, v1alpha1.OperationDifferent, v1alpha1.OperationHas, v1alpha1.OperationDoesNotHave
	tests := map[string]struct {
		filters []v1alpha1.LabelFilter
		want    string
	}{
		"Equal":                            {[]v1alpha1.LabelFilter{labelFilter("app", equal, "one")}, "both one"},
		"Equal with -":                     {[]v1alpha1.LabelFilter{labelFilter("app", equal, "a-b")}, "dash"},
		"Equal with _":                     {[]v1alpha1.LabelFilter{labelFilter("app", equal, "a_b")}, "under"},
		"Equal with .":                     {[]v1alpha1.LabelFilter{labelFilter("app", equal, "a.b")}, "dot"},
		"Equal with a prefixed key":        {[]v1alpha1.LabelFilter{labelFilter("example.com/team", equal, "Red-1_2.3")}, "both"},
		"Equal, another case":              {[]v1alpha1.LabelFilter{labelFilter("app", equal, "One")}, ""},
		"Equal to the empty value":         {[]v1alpha1.LabelFilter{emptyValue("app", equal)}, "empty"},
		"Different from the empty value":   {[]v1alpha1.LabelFilter{emptyValue("app", different)}, "both dash dot none one under"},
		"Different, also without the key":  {[]v1alpha1.LabelFilter{labelFilter("app", different, "one")}, "dash dot empty none under"},
		"Has":                              {[]v1alpha1.LabelFilter{labelFilter("app", has, "")}, "both dash dot empty one under"},
		"Has ignores the value":            {[]v1alpha1.LabelFilter{labelFilter("app", has, "one")}, "both dash dot empty one under"},
		"DoesNotHave":                      {[]v1alpha1.LabelFilter{labelFilter("app", doesNotHave, "")}, "none"},
		"all must hold":                    {[]v1alpha1.LabelFilter{labelFilter("app", equal, "one"), labelFilter("example.com/team", doesNotHave, "")}, "one"},
		"two Different":                    {[]v1alpha1.LabelFilter{labelFilter("app", different, "one"), labelFilter("app", different, "a.b")}, "dash empty none under"},
		"Equal and Different of one value": {[]v1alpha1.LabelFilter{labelFilter("app", equal, "one"), labelFilter("app", different, "one")}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			run := b.run(b.cleaner(v1alpha1.ActionScan, filtering(test.filters...)))
			wantRun(t, run, v1alpha1.ReasonCompleted)
			got := slices.Sorted(maps.Keys(outcomes(run)))
			if diff := cmp.Diff(strings.Fields(test.want), got, cmp.Transformer("join", func(s []string) string { return strings.Join(s, " ") })); diff != "" {
				t.Fatalf("what matched (-want +got):\n%s", diff)
			}
			if run.Status.Considered != int64(len(got)) {
				t.Fatalf("%d objects were considered, want %d: the server filters", run.Status.Considered, len(got))
			}
		})
	}
}

// Upstream: label filters concatenated as text. Required: bad values are an admission error. Test: values with commas,
// spaces, `!`.
func TestBadLabelFiltersAreRefusedAtAdmission(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const badValue = "value must be a label value: letters, digits, '-', '_' and '.', beginning and ending with a letter or digit; for several values, use several Cleaners or evaluate"
	const badKey = "key must be a label key, for example app or example.com/team"
	tests := map[string]struct {
		filter v1alpha1.LabelFilter
		want   string
	}{
		"comma":             {labelFilter("app", v1alpha1.OperationEqual, "a,b"), badValue},
		"space":             {labelFilter("app", v1alpha1.OperationEqual, "a b"), badValue},
		"exclamation mark":  {labelFilter("app", v1alpha1.OperationDifferent, "!a"), badValue},
		"in (...)":          {labelFilter("app", v1alpha1.OperationEqual, "in(a)"), badValue},
		"equals sign":       {labelFilter("app", v1alpha1.OperationEqual, "a=b"), badValue},
		"ends with -":       {labelFilter("app", v1alpha1.OperationEqual, "a-"), badValue},
		"newline":           {labelFilter("app", v1alpha1.OperationEqual, "a\n"), badValue},
		"bad value of Has":  {labelFilter("app", v1alpha1.OperationHas, "a,b"), badValue},
		"too long":          {labelFilter("app", v1alpha1.OperationEqual, strings.Repeat("a", 64)), "may not be more than 63"},
		"key with a comma":  {labelFilter("app,other", v1alpha1.OperationHas, ""), badKey},
		"key with !":        {labelFilter("!app", v1alpha1.OperationHas, ""), badKey},
		"key with a space":  {labelFilter("app in", v1alpha1.OperationHas, ""), badKey},
		"key too long":      {labelFilter(strings.Repeat("a", 64), v1alpha1.OperationHas, ""), badKey},
		"key of two /":      {labelFilter("a/b/c", v1alpha1.OperationHas, ""), badKey},
		"Equal, no value":   {labelFilter("app", v1alpha1.OperationEqual, ""), `operation Equal or Different needs a value, also an empty one (value: ""); to test only whether the label is there, use Has or DoesNotHave`},
		"unknown operation": {labelFilter("app", "In", "a"), `Unsupported value: "In": supported values: "Equal", "Different", "Has", "DoesNotHave"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := &v1alpha1.Cleaner{}
			c.GenerateName, c.Spec.Schedule = "bad-", "@daily"
			c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{kind("", "v1", "ConfigMap", b.namespace)}
			filtering(test.filter)(c)
			err := b.user.Create(t.Context(), c)
			if err == nil {
				_ = b.user.Delete(t.Context(), c)
				t.Fatal("the API server took it")
			}
			wantTexts(t, "the error", err.Error(), test.want, "spec.resourcePolicySet.resourceSelectors[0].labelFilters[0]")
		})
	}
}

// What the CRD lets pass and the API library does not is a condition, and nothing is read.
func TestLabelFilterWithTooLongPrefix(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("mine")
	c := b.cleaner(v1alpha1.ActionDelete, filtering(labelFilter(strings.Repeat("a", 254)+"/a", v1alpha1.OperationDoesNotHave, "")))
	wantCondition(t, b.reconcile(c), v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidExpression,
		"resourceSelectors[0]: labelFilters[0]: ", "prefix part must be no more than 253")
	wantRun(t, b.run(c), v1alpha1.ReasonViewIncomplete, "labelFilters[0]: ")
	b.wantUntouched()
}

// TestServerThatIgnoresLabels: an API server behind the API server need not know label selectors. What it sends besides is not selected.
func TestServerThatIgnoresLabels(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("labelled")
	b.configMap("other", func(cm *corev1.ConfigMap) { cm.Labels = nil })
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/configmaps") {
			query := r.URL.Query()
			query.Del("labelSelector")
			r.URL.RawQuery = query.Encode()
		}
		return nil, nil
	})
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionDelete)), v1alpha1.ReasonCompleted, "1 of 1 object matched; 1 deleted.")
	if !b.exists("other") {
		t.Error("it does not have the label, and was deleted")
	}
}
