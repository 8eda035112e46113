// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func marked(kind, meta string) object.Object {
	raw := fmt.Sprintf(`{"apiVersion": "v1", "kind": %q, "metadata": {"name": "a", "creationTimestamp": "2026-03-01T12:00:00Z"%s}}`, kind, meta)
	return object.Object{Kind: object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: kind}}, Raw: []byte(raw)}
}

// TestExpiresAt: the end of an object's time by its marks, the end of time without one, and an error of what cannot be read.
func TestExpiresAt(t *testing.T) {
	t.Parallel()
	const over, within = "expiresAt(object) <= now", "expiresAt(object) - now < duration('24h')"
	now := time.Date(2026, time.March, 1, 14, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		kind, meta, expression string
		want                   bool
		wrong                  string
	}{
		"no mark":      {"ConfigMap", "", over, false, ""},
		"never":        {"ConfigMap", "", "expiresAt(object) == timestamp('2200-01-01T00:00:00Z')", true, ""},
		"over":         {"ConfigMap", `, "annotations": {"cleaner/ttl": "1h"}`, over, true, ""},
		"exactly":      {"ConfigMap", `, "annotations": {"cleaner/ttl": "1h"}`, "expiresAt(object) == timestamp('2026-03-01T13:00:00Z')", true, ""},
		"not yet":      {"ConfigMap", `, "annotations": {"janitor/ttl": "1d"}`, over, false, ""},
		"soon":         {"ConfigMap", `, "annotations": {"janitor/ttl": "1d"}`, "expiresAt(object) < now + duration('24h')", true, ""},
		"difference":   {"ConfigMap", `, "annotations": {"janitor/ttl": "1d"}`, within, true, ""},
		"of never":     {"ConfigMap", "", within, false, ""},
		"of forever":   {"ConfigMap", `, "annotations": {"cleaner/ttl": "forever"}`, within, false, ""},
		"of far away":  {"ConfigMap", `, "annotations": {"cleaner/expires": "9999-12-31"}`, within, false, ""},
		"of long ago":  {"ConfigMap", `, "annotations": {"cleaner/expires": "0001-01-01"}`, within, true, ""},
		"a label":      {"ConfigMap", `, "labels": {"cleanup.kyverno.io/ttl": "10m"}`, over, true, ""},
		"of a Pod":     {"Pod", `, "annotations": {"pod.kubernetes.io/lifetime": "1h"}, "ownerReferences": [{}]`, over, true, ""},
		"of no Pod":    {"ConfigMap", `, "annotations": {"pod.kubernetes.io/lifetime": "1h"}`, over, false, ""},
		"owned":        {"ConfigMap", `, "annotations": {"cleaner/ttl": "1h"}, "ownerReferences": [{}]`, over, false, ""},
		"one dialect":  {"ConfigMap", `, "annotations": {"cleaner/ttl": "forever", "janitor/ttl": "1h"}`, "expiresAt(object, ['KubeJanitor']) <= now", true, ""},
		"two dialects": {"ConfigMap", `, "annotations": {"cleaner/ttl": "forever", "janitor/ttl": "1h"}`, "expiresAt(object, ['KubeJanitor', 'KubeCleaner']) <= now", false, ""},
		"odd": {
			"ConfigMap", `, "annotations": {"cleaner/ttl": "1x"}`, over, false,
			`condition "c": line 1, column 10: annotation cleaner/ttl "1x" cannot be read: write a duration such as 90m, 12h, 7d or 2w, or forever`,
		},
		"odd is not the opposite": {"ConfigMap", `, "annotations": {"cleaner/ttl": "1x"}`, "!(expiresAt(object) <= now)", false, "cannot be read"},
		"odd, and not asked for":  {"ConfigMap", `, "annotations": {"cleaner/ttl": "1x"}`, "expiresAt(object, ['Mayfly']) <= now", false, ""},
		"no such dialect":         {"ConfigMap", "", "expiresAt(object, ['Klingon']) <= now", false, `expiresAt: "Klingon" is no dialect of time marks; the dialects are [KubeCleaner`},
		"no object":               {"ConfigMap", "", "expiresAt(object.metadata) <= now", false, "expiresAt: it needs an object: write expiresAt(object)"},
	} {
		program, err := Compile([]v1alpha1.MatchCondition{{Name: "c", Expression: test.expression}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, _, err := program.NewRun(now).Evaluate(t.Context(), marked(test.kind, test.meta))
		if got != test.want || (err != nil) != (test.wrong != "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: %t (%v), want %t (%s)", name, got, err, test.want, test.wrong)
		}
	}
}

// TestExpiresAtOfDocs: the condition that the docs show can be judged of each object, with and without a mark.
func TestExpiresAtOfDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/reference/time-marks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```cel\n")
	expression, _, found := strings.Cut(block, "\n```")
	if !found {
		t.Fatal("the page shows no condition")
	}
	program, err := Compile([]v1alpha1.MatchCondition{{Name: "c", Expression: expression}})
	if err != nil {
		t.Fatal(err)
	}
	for meta, want := range map[string]bool{
		"":                                       false,
		`, "annotations": {"cleaner/ttl": "7d"}`: false, `, "annotations": {"cleaner/ttl": "12h"}`: true,
		`, "annotations": {"cleaner/ttl": "1h"}`: true, `, "annotations": {"cleaner/ttl": "forever"}`: false,
	} {
		o := marked("ConfigMap", meta)
		o.Raw = []byte(strings.Replace(string(o.Raw), `"name": "a"`, `"name": "preview-a"`, 1))
		got, _, err := program.NewRun(time.Date(2026, time.March, 1, 14, 0, 0, 0, time.UTC)).Evaluate(t.Context(), o)
		if got != want || err != nil {
			t.Errorf("%s of an object with %q: %t (%v), want %t", expression, meta, got, err, want)
		}
	}
}

// TestExpiresAtIsCheap: it reads the metadata only, and costs the same however large the object is.
func TestExpiresAtIsCheap(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]bool{
		"expiresAt(object) <= now": true, "expiresAt(object, ['Mayfly']) <= now && object.metadata.name != 'a'": true, "expiresAt(object) <= now && object.spec.on": false,
		"[object].exists(o, expiresAt(o) <= now)": false,
	} {
		program, err := Compile([]v1alpha1.MatchCondition{{Name: "c", Expression: expression}})
		if err != nil {
			t.Fatal(err)
		}
		if got := program.NewRun(time.Unix(0, 0)).ReadsMetadataOnly(); got != want {
			t.Errorf("%s reads metadata only: %t", expression, got)
		}
	}
	program, err := Compile([]v1alpha1.MatchCondition{{Name: "c", Expression: "expiresAt(object) <= now"}})
	if err != nil {
		t.Fatal(err)
	}
	large := marked("ConfigMap", `, "annotations": {"cleaner/ttl": "1h", "long": "`+strings.Repeat("a", 4<<20)+`"}`)
	if got, _, err := program.NewRun(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)).Evaluate(t.Context(), large); !got || err != nil {
		t.Errorf("of a large object: %t (%v)", got, err)
	}
}
