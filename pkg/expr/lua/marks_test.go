// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilclock "k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// TestExpiresAt: the end of an object's time in Unix seconds, nil without one, and an error of what cannot be read.
func TestExpiresAt(t *testing.T) {
	t.Parallel()
	const over = "local ends = expiresAt(obj) return {matching = ends ~= nil and ends <= os.time()}"
	for name, test := range map[string]struct {
		kind, meta, script string
		want               bool
		wrong              string
	}{
		"no mark":     {"ConfigMap", "", "return {matching = expiresAt(obj) == nil}", true, ""},
		"never":       {"ConfigMap", `, "annotations": {"cleaner/ttl": "forever"}`, "return {matching = expiresAt(obj) == nil}", true, ""},
		"over":        {"ConfigMap", `, "annotations": {"cleaner/ttl": "1h"}`, over, true, ""},
		"not yet":     {"ConfigMap", `, "annotations": {"janitor/ttl": "1d"}`, over, false, ""},
		"exactly":     {"ConfigMap", `, "annotations": {"cleaner/ttl": "1h"}`, `return {matching = os.date("!%H:%M", expiresAt(obj)) == "13:00"}`, true, ""},
		"a label":     {"ConfigMap", `, "labels": {"cleanup.kyverno.io/ttl": "10m"}`, over, true, ""},
		"of a Pod":    {"Pod", `, "annotations": {"pod.kubernetes.io/lifetime": "1h"}, "ownerReferences": [{"name": "a"}]`, over, true, ""},
		"owned":       {"ConfigMap", `, "annotations": {"cleaner/ttl": "1h"}, "ownerReferences": [{"name": "a"}]`, over, false, ""},
		"one dialect": {"ConfigMap", `, "annotations": {"cleaner/ttl": "forever", "janitor/ttl": "1h"}`, "return {matching = expiresAt(obj, {'KubeJanitor'}) ~= nil}", true, ""},
		"odd":         {"ConfigMap", `, "annotations": {"cleaner/ttl": "1x"}`, over, false, `annotation cleaner/ttl "1x" cannot be read: write a duration such as`},
		"percent":     {"ConfigMap", `, "annotations": {"cleaner/ttl": "%s%d"}`, over, false, `annotation cleaner/ttl "%s%d" cannot be read`},
		"no dialect":  {"ConfigMap", "", "return {matching = expiresAt(obj, {'Klingon'}) ~= nil}", false, `"Klingon" is no dialect of time marks`},
		"no object":   {"ConfigMap", "", "return {matching = expiresAt(obj.metadata) ~= nil}", false, "expiresAt needs an object"},
		"a text":      {"ConfigMap", "", "return {matching = expiresAt('a') ~= nil}", false, "table expected"},
		"its own":     {"ConfigMap", "", "expiresAt = nil return {matching = expiresAt == nil}", true, ""},
		"a table":     {"ConfigMap", "", "return {matching = expiresAt({metadata = {creationTimestamp = '2026-01-01T00:00:00Z', annotations = {['cleaner/ttl'] = '1h'}}}) ~= nil}", true, ""},
	} {
		program, err := Compile("function evaluate() " + test.script + " end")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		session := program.NewSession(Options{Now: time.Date(2026, time.March, 1, 14, 0, 0, 0, time.UTC), Clock: utilclock.RealClock{}})
		raw := fmt.Sprintf(`{"apiVersion": "v1", "kind": %q, "metadata": {"name": "a", "creationTimestamp": "2026-03-01T12:00:00Z"%s}}`, test.kind, test.meta)
		got, err := session.Evaluate(t.Context(), object.Object{Kind: object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: test.kind}}, Raw: []byte(raw)})
		if got.Matching != test.want || (err != nil) != (test.wrong != "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: %t (%v), want %t (%s)", name, got.Matching, err, test.want, test.wrong)
		}
		session.Close()
	}
}
