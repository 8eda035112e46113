// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const (
	sel     = "spec.resourcePolicySet.resourceSelectors[0]"
	filter  = sel + ".labelFilters[0]"
	cond    = sel + ".matchConditions[0]"
	note    = "spec.notifications[0]"
	account = "spec.serviceAccountRef"
	source  = sel + ".metricSource"
	query   = sel + ".metricQueries[0]"
	logs    = sel + ".logSource"
	secret  = source + ".secretRef"
	found   = sel + ".finding"
)

// rule is one rule of the CRD: a value at the path that is accepted, one that is not, and what the API server says then. A
// nil value takes the field away. with is around both.
type rule struct {
	path      string
	good, bad any
	want      string
	with      map[string]any
}

func letters(n int) string { return strings.Repeat("a", n) }

func many(n int, item func(i int) any) []any {
	items := make([]any, n)
	for i := range items {
		items[i] = item(i)
	}
	return items
}

var (
	anyFilter   = map[string]any{"key": "app", "operation": "Has"}
	equalFilter = map[string]any{"key": "app", "operation": "Equal", "value": "x"}
	anyCond     = map[string]any{"name": "true", "expression": "true"}
	anyFinding  = map[string]any{"type": "Unused"}
	anyExpired  = map[string]any{"type": "Expired"}
	anyQuery    = map[string]any{"name": "cpu", "query": "up"}
	anySource   = map[string]any{"url": "http://prometheus.mon.svc"}
	withQuery   = map[string]any{source: anySource, query: anyQuery}
	withSecret  = around(source, map[string]any{"url": "http://prometheus.mon.svc", "secretRef": map[string]any{"namespace": "mon", "name": "login"}})
	withLogs    = around(logs, map[string]any{"tailLines": 5})
	onlyPods    = around(sel+".kind", "Pod")
	podLogs     = map[string]any{sel + ".kind": "Pod", logs: map[string]any{"containers": []any{"app"}}}
	anyAccount  = map[string]any{"namespace": "team", "name": "cleaner"}
	report      = map[string]any{"name": "report", "type": "CleanerReport"}
	around      = func(path string, value any) map[string]any { return map[string]any{path: value} }
)

const (
	atLeastOne = "should be at least 1 chars long"
	unset      = "Required value"
	noSuch     = "Unsupported value"
	atLeast    = "should be greater than or equal to "
	atMost     = "should be less than or equal to "
	tooLong    = "Too long: may not be more than "
	tooMany    = "Too many: "
	noPattern  = "should match"
)

// bounds are the rules on one field.
var bounds = []rule{
	{path: "spec", bad: nil, good: manifestSpec(), want: unset},
	{path: "spec.schedule", good: "@daily", bad: nil, want: unset},
	{path: "spec.schedule", good: "@", bad: "", want: atLeastOne},
	{path: "spec.schedule", good: letters(256), bad: letters(257), want: tooLong + "256"},
	{path: "spec.timeZone", good: "Europe/Rome", bad: "", want: atLeastOne},
	{path: "spec.timeZone", good: letters(64), bad: letters(65), want: tooLong + "64"},
	{path: "spec.startingDeadlineSeconds", good: 0, bad: -1, want: atLeast + "0"},
	{path: "spec.activeDeadlineSeconds", good: 1, bad: 0, want: atLeast + "1"},
	{path: "spec.activeDeadlineSeconds", good: 3600, bad: 3601, want: atMost + "3600"},
	{path: "spec.successfulRunsHistoryLimit", good: 0, bad: -1, want: atLeast + "0"},
	{path: "spec.successfulRunsHistoryLimit", good: 1000, bad: 1001, want: atMost + "1000"},
	{path: "spec.failedRunsHistoryLimit", good: 0, bad: -1, want: atLeast + "0"},
	{path: "spec.failedRunsHistoryLimit", good: 1000, bad: 1001, want: atMost + "1000"},
	{path: "spec.occurrenceThreshold", good: 1, bad: 0, want: atLeast + "1"},
	{path: "spec.action", good: "Scan", bad: "Erase", want: noSuch},
	{path: "spec.onPartialView", good: "Skip", bad: "Hope", want: noSuch},
	{path: "spec.approval.mode", good: "Required", bad: "Maybe", want: noSuch},
	{path: "spec.approval.expiresAfterSeconds", good: 60, bad: 59, want: atLeast + "60"},
	{path: "spec.approval.expiresAfterSeconds", good: 2592000, bad: 2592001, want: atMost + "2592000"},
	{path: "spec.transform", good: letters(65536), bad: letters(65537), want: tooLong + "65536"},
	{path: "spec.storeResourcePath", good: "", bad: letters(4097), want: tooLong + "4096"},
	{path: "spec.rollback.storage", good: "Volume", bad: "Attic", want: noSuch},
	{path: "spec.rollback.retentionSeconds", good: 60, bad: 59, want: atLeast + "60"},
	{path: "spec.rollback.maxBytes", good: 1, bad: 0, want: atLeast + "1"},
	{path: account + ".namespace", good: "team", bad: nil, want: unset, with: around(account, anyAccount)},
	{path: account + ".namespace", good: "team", bad: "", want: atLeastOne, with: around(account, anyAccount)},
	{path: account + ".namespace", good: letters(63), bad: letters(64), want: tooLong + "63", with: around(account, anyAccount)},
	{path: account + ".namespace", good: "team", bad: "Team", want: noPattern, with: around(account, anyAccount)},
	{path: account + ".name", good: "cleaner", bad: nil, want: unset, with: around(account, anyAccount)},
	{path: account + ".name", good: "cleaner", bad: "", want: atLeastOne, with: around(account, anyAccount)},
	{path: account + ".name", good: letters(253), bad: letters(254), want: tooLong + "253", with: around(account, anyAccount)},
	{path: account + ".name", good: "a.b", bad: "a/b", want: noPattern, with: around(account, anyAccount)},
	{path: "spec.transformOptions.allow", good: []any{"RBAC", "Finalizers"}, bad: []any{"RBAC", "RBAC", "RBAC", "RBAC"}, want: tooMany},
	{path: "spec.transformOptions.allow[0]", good: "OwnerReferences", bad: "Everything", want: noSuch},
	{path: "spec.deleteOptions.gracePeriodSeconds", good: 0, bad: -1, want: atLeast + "0"},
	{path: "spec.deleteOptions.propagationPolicy", good: "Orphan", bad: "Sideways", want: noSuch},
	{path: "spec.deleteOptions.podDeletion", good: "Delete", bad: "Drain", want: noSuch},
	{path: "spec.blastRadiusLimit.maxCount", good: 0, bad: -1, want: atLeast + "0"},
	{path: "spec.blastRadiusLimit.maxPercentage", good: 1, bad: 0, want: atLeast + "1"},
	{path: "spec.blastRadiusLimit.maxPercentage", good: 100, bad: 101, want: atMost + "100"},
	{path: "spec.notifications", good: []any{}, bad: many(33, func(i int) any {
		return map[string]any{"name": fmt.Sprint(i), "type": "Event"}
	}), want: tooMany},
	{path: note + ".name", good: "x", bad: nil, want: unset, with: around(note, report)},
	{path: note + ".name", good: "x", bad: "", want: atLeastOne, with: around(note, report)},
	{path: note + ".name", good: letters(253), bad: letters(254), want: tooLong + "253", with: around(note, report)},
	{path: note + ".type", good: "Event", bad: "Pigeon", want: noSuch, with: around(note, report)},
	{path: note + ".type", good: "Event", bad: nil, want: unset, with: around(note, report)},
	{path: note + ".notifyOn", good: []any{"Changes", "Failures"}, bad: []any{}, want: "should have at least 1 items", with: around(note, report)},
	{path: note + ".notifyOn", good: []any{"Always"}, bad: []any{"Matches", "Changes", "Failures", "Always", "Matches"}, want: "Too many: ", with: around(note, report)},
	{path: note + ".notifyOn", good: []any{"Always"}, bad: []any{"Matches", "Matches"}, want: "Duplicate value", with: around(note, report)},
	{path: note + ".notifyOn[0]", good: "Matches", bad: "Sometimes", want: noSuch, with: around(note, report)},
	{path: note + ".notificationRef.apiVersion", good: "v1", bad: letters(318), want: tooLong + "317", with: around(note, report)},
	{path: note + ".notificationRef.kind", good: "ConfigMap", bad: letters(64), want: tooLong + "63", with: around(note, report)},
	{path: note + ".notificationRef.namespace", good: "default", bad: letters(64), want: tooLong + "63", with: around(note, report)},
	{path: note + ".notificationRef.name", good: "slack", bad: letters(254), want: tooLong + "253", with: around(note, report)},
	{path: note + ".notificationRef.namespace", good: "", bad: "a/pods/b/proxy", want: noPattern, with: around(note, report)},
	{path: note + ".notificationRef.name", good: "slack.v2", bad: "../../../nodes/n/proxy/pods", want: noPattern, with: around(note, report)},
	{path: note + ".notificationRef.name", good: "", bad: "..", want: noPattern, with: around(note, report)},
	{path: "spec.resourcePolicySet", good: manifestSpec()["resourcePolicySet"], bad: nil, want: unset},
	{path: "spec.resourcePolicySet.action", good: "Delete", bad: "Erase", want: noSuch},
	{path: "spec.resourcePolicySet.aggregatedSelection", good: letters(65536), bad: letters(65537), want: tooLong + "65536"},
	{path: "spec.resourcePolicySet.resourceSelectors", good: []any{selectorOf("Pod")}, bad: nil, want: unset},
	{path: "spec.resourcePolicySet.resourceSelectors", good: []any{selectorOf("Pod")}, bad: []any{}, want: "should have at least 1 items"},
	{path: "spec.resourcePolicySet.resourceSelectors", good: many(64, func(int) any { return selectorOf("Pod") }), bad: many(65, func(int) any { return selectorOf("Pod") }), want: tooMany},
	{path: sel + ".group", good: "", bad: nil, want: unset},
	{path: sel + ".group", good: letters(253), bad: letters(254), want: tooLong + "253"},
	{path: sel + ".version", good: "v1beta1", bad: nil, want: unset},
	{path: sel + ".version", good: "v1", bad: "", want: atLeastOne},
	{path: sel + ".version", good: letters(63), bad: letters(64), want: tooLong + "63"},
	{path: sel + ".kind", good: "Pod", bad: nil, want: unset},
	{path: sel + ".kind", good: "Pod", bad: "", want: atLeastOne},
	{path: sel + ".kind", good: letters(63), bad: letters(64), want: tooLong + "63"},
	{path: sel + ".namespace", good: "", bad: letters(64), want: tooLong + "63"},
	{path: sel + ".namespaceSelector", good: "env in (a,b)", bad: letters(4097), want: tooLong + "4096"},
	{path: found + ".type", good: "Unused", bad: "Useless", want: noSuch, with: around(found, anyFinding)},
	{path: found + ".type", good: "Finished", bad: nil, want: unset, with: around(found, anyFinding)},
	{path: found + ".minConfidence", good: "Weak", bad: "Sure", want: noSuch, with: around(found, anyFinding)},
	{path: found + ".forSeconds", good: 0, bad: -1, want: atLeast + "0", with: around(found, anyFinding)},
	{path: found + ".forSeconds", good: 3153600000, bad: 3153600001, want: atMost + "3153600000", with: around(found, anyFinding)},
	{path: found + ".dialects[0]", good: "Kyverno", bad: "Klingon", want: noSuch, with: around(found, anyExpired)},
	{path: found + ".dialects", good: []any{"Kyverno"}, bad: []any{}, want: "should have at least 1 items", with: around(found, anyExpired)},
	{
		path: found + ".dialects", good: []any{"KubeCleaner", "KubeJanitor", "K8sTTLController", "Kyverno", "Mayfly", "PodReaper"},
		bad: many(7, func(int) any { return "Kyverno" }), want: tooMany, with: around(found, anyExpired),
	},
	{path: sel + ".minAgeSeconds", good: 0, bad: -1, want: atLeast + "0"},
	{path: sel + ".minAgeSeconds", good: 3153600000, bad: 3153600001, want: atMost + "3153600000"},
	{path: sel + ".metricQueries", good: many(64, func(int) any { return anyQuery }), bad: many(65, func(int) any { return anyQuery }), want: tooMany, with: around(sel+".metricSource", anySource)},
	{path: query + ".name", good: "x", bad: nil, want: unset, with: withQuery},
	{path: query + ".name", good: "x", bad: "", want: atLeastOne, with: withQuery},
	{path: query + ".name", good: letters(253), bad: letters(254), want: tooLong + "253", with: withQuery},
	{path: query + ".query", good: "x", bad: nil, want: unset, with: withQuery},
	{path: query + ".query", good: "x", bad: "", want: atLeastOne, with: withQuery},
	{path: query + ".query", good: letters(65536), bad: letters(65537), want: tooLong + "65536", with: withQuery},
	{path: sel + ".metricSource.url", good: "http://a.b.svc", bad: nil, want: unset, with: withSecret},
	{path: sel + ".metricSource.url", good: "http://a.b.svc", bad: "", want: atLeastOne, with: withSecret},
	{path: sel + ".metricSource.url", good: "http://" + letters(4089), bad: "http://" + letters(4090), want: tooLong + "4096", with: withSecret},
	{path: sel + ".metricSource.path", good: letters(4096), bad: letters(4097), want: tooLong + "4096", with: withSecret},
	{path: secret + ".namespace", good: "x", bad: nil, want: unset, with: withSecret},
	{path: secret + ".namespace", good: "x", bad: "", want: atLeastOne, with: withSecret},
	{path: secret + ".namespace", good: letters(63), bad: letters(64), want: tooLong + "63", with: withSecret},
	{path: secret + ".name", good: "x", bad: nil, want: unset, with: withSecret},
	{path: secret + ".name", good: "x", bad: "", want: atLeastOne, with: withSecret},
	{path: secret + ".name", good: letters(253), bad: letters(254), want: tooLong + "253", with: withSecret},
	{path: secret + ".namespace", good: "mon", bad: "..", want: noPattern, with: withSecret},
	{path: secret + ".name", good: "a.b-1", bad: "../x", want: noPattern, with: withSecret},
	{path: logs + ".containers", good: many(64, func(int) any { return "app" }), bad: many(65, func(int) any { return "app" }), want: tooMany, with: podLogs},
	{path: logs + ".containers[0]", good: "a", bad: "", want: atLeastOne, with: podLogs},
	{path: logs + ".containers[0]", good: letters(63), bad: letters(64), want: tooLong + "63", with: podLogs},
	{path: logs + ".tailLines", good: 1, bad: 0, want: atLeast + "1", with: onlyPods},
	{path: logs + ".tailLines", good: 1_000_000, bad: -1, want: atLeast + "1", with: onlyPods},
	{path: sel + ".evaluate", good: letters(65536), bad: letters(65537), want: tooLong + "65536"},
	{path: sel + ".matchConditions", good: many(64, condition), bad: many(65, condition), want: tooMany},
	{path: cond + ".name", good: "x", bad: nil, want: unset, with: around(cond, anyCond)},
	{path: cond + ".name", good: "x", bad: "", want: atLeastOne, with: around(cond, anyCond)},
	{path: cond + ".name", good: letters(63), bad: letters(64), want: tooLong + "63", with: around(cond, anyCond)},
	{path: cond + ".expression", good: "true", bad: nil, want: unset, with: around(cond, anyCond)},
	{path: cond + ".expression", good: "1", bad: "", want: atLeastOne, with: around(cond, anyCond)},
	{path: cond + ".expression", good: letters(16384), bad: letters(16385), want: tooLong + "16384", with: around(cond, anyCond)},
	{path: cond + ".message", good: letters(1024), bad: letters(1025), want: tooLong + "1024", with: around(cond, anyCond)},
	{path: sel + ".labelFilters", good: many(32, func(int) any { return anyFilter }), bad: many(33, func(int) any { return anyFilter }), want: tooMany},
	{path: filter + ".key", good: "app", bad: nil, want: unset, with: around(filter, anyFilter)},
	{path: filter + ".key", good: "a", bad: "", want: atLeastOne, with: around(filter, anyFilter)},
	{path: filter + ".key", good: letters(253) + "/" + letters(63), bad: letters(254) + "/" + letters(63), want: tooLong + "317", with: around(filter, anyFilter)},
	{path: filter + ".operation", good: "DoesNotHave", bad: "Like", want: noSuch, with: around(filter, anyFilter)},
	{path: filter + ".operation", good: "Different", bad: nil, want: unset, with: around(filter, equalFilter)},
	{path: filter + ".value", good: letters(63), bad: letters(64), want: tooLong + "63", with: around(filter, equalFilter)},
}

func condition(i int) any { return map[string]any{"name": fmt.Sprint(i), "expression": "true"} }

func manifestSpec() map[string]any {
	return map[string]any{"schedule": "@daily", "resourcePolicySet": map[string]any{"resourceSelectors": []any{selectorOf("Pod")}}}
}

func selectorOf(kind string) map[string]any {
	return map[string]any{"group": "", "version": "v1", "kind": kind}
}

func (b *bench) tryRule(t *testing.T, r rule) {
	t.Helper()
	if err := b.apply(manifest(t, copied(r.with), around(r.path, r.good))); err != nil {
		t.Errorf("%v was refused: %v", r.good, err)
	}
	err := b.apply(manifest(t, copied(r.with), around(r.path, r.bad)))
	if err == nil {
		t.Fatalf("%v was accepted", r.bad)
	}
	wantTexts(t, "the refusal", err.Error(), r.want)
	field := steps(r.path)
	if name := field[len(field)-1]; !strings.Contains(err.Error(), name) {
		t.Errorf("the refusal %q does not name %s", err, name)
	}
}

// copied keeps rules apart that share what is around them.
func copied(with map[string]any) map[string]any {
	out := map[string]any{}
	for path, value := range with {
		if object, ok := value.(map[string]any); ok {
			value = copied(object)
		}
		out[path] = value
	}
	return out
}

func TestCRDBounds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, r := range bounds {
		t.Run(strings.TrimPrefix(r.path, "spec.")+": "+r.want, func(t *testing.T) { b.tryRule(t, r) })
	}
}

// TestEveryRuleOfTheCRDIsTried walks the published schema of what users write: a rule that no row above or in crossRules
// tries is a mistake.
func TestEveryRuleOfTheCRDIsTried(t *testing.T) {
	t.Parallel()
	tried := func(path, want string) {
		if !slices.ContainsFunc(bounds, func(r rule) bool { return r.path == path && strings.Contains(r.want, strings.TrimSpace(want)) }) {
			t.Errorf("no row tries %s: %s", path, want)
		}
	}
	spec := rootOf(crd(t, "cleaners")).Properties["spec"]
	check := func(path string, p *apiextensionsv1.JSONSchemaProps) {
		for text, isThere := range map[string]bool{
			noSuch: p.Enum != nil, atLeast: p.Minimum != nil, atMost: p.Maximum != nil, atLeastOne: p.MinLength != nil,
			tooLong: p.MaxLength != nil, tooMany: p.MaxItems != nil, noPattern: p.Pattern != "", "should have at least": p.MinItems != nil,
		} {
			if isThere {
				tried(path, text)
			}
		}
		for _, name := range p.Required {
			tried(path+"."+name, unset)
		}
		for _, validation := range p.XValidations {
			if !slices.ContainsFunc(crossRules, func(r rule) bool { return r.want == validation.Message }) {
				t.Errorf("no row tries %s: %s", path, validation.Message)
			}
		}
	}
	check("spec", &spec)
	properties(&spec, "spec", check)
}

// TestEveryReferenceHasAPattern: the names in a reference become parts of a path, so each has a pattern, and that none leads elsewhere. In a
// list of references, as in a field.
func TestEveryReferenceHasAPattern(t *testing.T) {
	t.Parallel()
	found := 0
	for _, kind := range []string{"cleaners", "cleanerruns"} {
		spec := rootOf(crd(t, kind)).Properties["spec"]
		properties(&spec, "spec", func(path string, p *apiextensionsv1.JSONSchemaProps) {
			field := path[strings.LastIndex(path, ".")+1:]
			parent, _ := strings.CutSuffix(path, "."+field)
			if !strings.HasSuffix(strings.TrimSuffix(parent, "[0]"), "Ref") || field != "name" && field != "namespace" {
				return
			}
			found++
			pattern, err := regexp.Compile(p.Pattern)
			if err != nil || p.Pattern == "" {
				t.Errorf("%s has no pattern: %q, %v", path, p.Pattern, err)
				return
			}
			for _, text := range []string{"..", ".", "../../../nodes/n/proxy/pods", "a/b", "%2e%2e", "a%2fb", "a?b", "a#b", "a\n"} {
				if pattern.MatchString(text) {
					t.Errorf("%s accepts %q", path, text)
				}
			}
		})
	}
	if found < 2*4 { // notificationRef, serviceAccountRef of both, metricSource.secretRef
		t.Errorf("only %d fields of references were found", found)
	}
}
