// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"
)

const (
	actionsDiffer  = "action and resourcePolicySet.action differ; remove resourcePolicySet.action, which is deprecated"
	needsTransform = "action Transform needs a script in transform, or a mergePatch"
	twoTransforms  = "transform and mergePatch are both set; remove one of them"
	zonesDiffer    = "timeZone and the time zone in schedule differ; remove the TZ= prefix from schedule"
	noLimit        = "set maxCount, maxPercentage or both; without a limit, leave blastRadiusLimit out"
	needsValue     = `operation Equal or Different needs a value, also an empty one (value: ""); to test only whether the label is there, use Has or DoesNotHave`
	noKey          = "key must be a label key, for example app or example.com/team"
	noValue        = "value must be a label value: letters, digits, '-', '_' and '.', beginning and ending with a letter or digit; for several values, use several Cleaners or evaluate"
	noGroup        = `group must name one API group, for example apps; write "" for the core group; wildcards are not supported`
	noVersion      = "version must name one API version, for example v1; wildcards are not supported"
	noKind         = "kind must name one kind, for example ConfigMap; wildcards are not supported, use one selector for each kind"
	noNamespace    = "namespace must be the name of one namespace; to select several, use namespaceSelector"
	noSource       = "metricQueries need a metricSource; add it, for example {url: http://prometheus.monitoring.svc:9090}"
	noScheme       = "url must begin with http:// or https://, for example http://prometheus.monitoring.svc:9090"
	noLogs         = "logSource is for Pods only (group \"\", kind Pod); remove it, nothing else has logs"
	needsSecret    = "this type needs notificationRef, with the namespace and the name of the Secret that holds its settings"
	secretOnly     = "notificationRef must name a Secret; write apiVersion: v1 and kind: Secret"
	noPods         = "deleteOptions.podDeletion Evict concerns Pods only, and no resourceSelectors select them: write kind Pod, or leave podDeletion out"
	noSkip         = "onPartialView Skip and resourcePolicySet.aggregatedSelection are both set: that script judges all objects together, and must not miss one; leave onPartialView out"
	// kor#520: deletes that nobody looks at need a limit.
	needsLimit      = "action Delete by a finding needs a blastRadiusLimit; add it, for example {maxCount: 50}"
	alias           = "spec.resourcePolicySet.action"
	transformScript = "function transform() end"
)

var (
	slackSecret = map[string]any{"apiVersion": "v1", "kind": "Secret", "namespace": "team-a", "name": "slack"}
	slack       = map[string]any{"name": "chat", "type": "Slack", "notificationRef": slackSecret}
)

// crossRules are the rules in CEL: on several fields, or with a message that says the way out.
var crossRules = []rule{
	{path: found + ".dialects", good: nil, bad: []any{"Kyverno"}, want: "dialects are for type Expired only; leave dialects out", with: around(found, anyFinding)},
	{path: alias, good: "Delete", bad: "Scan", want: actionsDiffer, with: around("spec.action", "Delete")},
	{path: alias, good: nil, bad: "Delete", want: actionsDiffer, with: around("spec.action", "Scan")},
	{path: "spec.transform", good: transformScript, bad: nil, want: needsTransform, with: around("spec.action", "Transform")},
	{path: "spec.transform", good: transformScript, bad: "", want: needsTransform, with: around("spec.action", "Transform")},
	{path: "spec.transform", good: transformScript, bad: nil, want: needsTransform, with: around(alias, "Transform")},
	{path: "spec.mergePatch", good: around("spec", nil), bad: nil, want: needsTransform, with: around("spec.action", "Transform")},
	{path: "spec.mergePatch", good: nil, bad: around("spec", nil), want: twoTransforms, with: around("spec.transform", transformScript)},
	{path: "spec.timeZone", good: "Europe/Rome", bad: "Europe/Paris", want: zonesDiffer, with: around("spec.schedule", "TZ=Europe/Rome 0 3 * * *")},
	{path: "spec.timeZone", good: "Europe/Rome", bad: "Europe/Paris", want: zonesDiffer, with: around("spec.schedule", "CRON_TZ=Europe/Rome 0 3 * * *")},
	{path: "spec.timeZone", good: nil, bad: "Europe/Rom", want: zonesDiffer, with: around("spec.schedule", "TZ=Europe/Rome 0 3 * * *")},
	{path: "spec.blastRadiusLimit", good: nil, bad: map[string]any{}, want: noLimit},
	{path: "spec.blastRadiusLimit", good: around("maxPercentage", 10), bad: map[string]any{}, want: noLimit},
	{path: "spec.blastRadiusLimit", good: map[string]any{"maxPercentage": 10, "maxCount": 3}, bad: map[string]any{}, want: noLimit},
	{path: "spec.blastRadiusLimit", good: around("maxCount", 5), bad: nil, want: needsLimit, with: map[string]any{"spec.action": "Delete", found: anyFinding}},
	{path: "spec.blastRadiusLimit", good: around("maxCount", 5), bad: nil, want: needsLimit, with: map[string]any{alias: "Delete", found: anyFinding}},
	{path: "spec.action", good: "Scan", bad: "Delete", want: needsLimit, with: around(found, anyFinding)},
	{path: "spec.action", good: nil, bad: "Delete", want: needsLimit, with: around(found, anyFinding)},
	{path: note + ".notificationRef", good: slackSecret, bad: nil, want: needsSecret, with: around(note, slack)},
	{path: note + ".notificationRef.namespace", good: "team-a", bad: nil, want: needsSecret, with: around(note, slack)},
	{path: note + ".notificationRef.namespace", good: "team-a", bad: "", want: needsSecret, with: around(note, slack)},
	{path: note + ".notificationRef.name", good: "slack", bad: nil, want: needsSecret, with: around(note, slack)},
	{path: note + ".notificationRef.name", good: "slack", bad: "", want: needsSecret, with: around(note, slack)},
	{path: note + ".notificationRef.kind", good: "Secret", bad: "ConfigMap", want: secretOnly, with: around(note, slack)},
	{path: note + ".notificationRef.kind", good: nil, bad: "secret", want: secretOnly, with: around(note, slack)},
	{path: note + ".notificationRef.kind", good: "", bad: "Secrets", want: secretOnly, with: around(note, slack)},
	{path: note + ".notificationRef.apiVersion", good: "v1", bad: "apps/v1", want: secretOnly, with: around(note, slack)},
	{path: note + ".notificationRef.apiVersion", good: nil, bad: "v2", want: secretOnly, with: around(note, slack)},
	{path: note + ".type", good: "CleanerReport", bad: "Webhook", want: needsSecret, with: around(note, report)},
	{path: "spec.deleteOptions.podDeletion", good: "Delete", bad: "Evict", want: noPods},
	{path: sel + ".kind", good: "Pod", bad: "ConfigMap", want: noPods, with: around("spec.deleteOptions", around("podDeletion", "Evict"))},
	{path: "spec.onPartialView", good: "Stop", bad: "Skip", want: noSkip, with: around("spec.resourcePolicySet.aggregatedSelection", "function evaluate() end")},
	{path: "spec.resourcePolicySet.aggregatedSelection", good: "", bad: "function evaluate() end", want: noSkip, with: around("spec.onPartialView", "Skip")},
	{path: sel + ".metricSource", good: anySource, bad: nil, want: noSource, with: around(sel+".metricQueries", []any{anyQuery})},
	{path: sel + ".metricSource.url", good: "https://a.b.svc", bad: "ldap://a.b.svc", want: noScheme, with: around(sel+".metricSource", anySource)},
	{path: sel + ".kind", good: "Pod", bad: "ConfigMap", want: noLogs, with: withLogs},
	{path: sel + ".group", good: "", bad: "apps", want: noLogs, with: map[string]any{sel + ".logSource": map[string]any{}, sel + ".kind": "Pod"}},
	{path: sel + ".group", good: "rbac.authorization.k8s.io", bad: "*", want: noGroup},
	{path: sel + ".group", good: "apps", bad: "Apps", want: noGroup},
	{path: sel + ".group", good: "apps", bad: "apps/v1", want: noGroup},
	{path: sel + ".version", good: "v2beta1", bad: "*", want: noVersion},
	{path: sel + ".version", good: "v1", bad: "apps/v1", want: noVersion},
	{path: sel + ".kind", good: "Pod", bad: "*", want: noKind},
	{path: sel + ".kind", good: "Pod", bad: "Pod,Node", want: noKind},
	{path: sel + ".namespace", good: "default", bad: "*", want: noNamespace},
	{path: sel + ".namespace", good: "a-1", bad: "a,b", want: noNamespace},
	{path: sel + ".namespace", good: "a-1", bad: "-a", want: noNamespace},
	{path: filter + ".value", good: "x", bad: nil, want: needsValue, with: around(filter, equalFilter)},
	{path: filter + ".value", good: "", bad: nil, want: needsValue, with: around(filter, map[string]any{"key": "app", "operation": "Different", "value": "x"})},
	{path: filter + ".value", good: nil, bad: "a b", want: noValue, with: around(filter, anyFilter)},
	{path: filter + ".value", good: "a.b_c-1", bad: "a,b", want: noValue, with: around(filter, equalFilter)},
	{path: filter + ".value", good: "A", bad: "!a", want: noValue, with: around(filter, equalFilter)},
	{path: filter + ".value", good: "1", bad: "a-", want: noValue, with: around(filter, equalFilter)},
	{path: filter + ".key", good: "example.com/team", bad: "example.com/", want: noKey, with: around(filter, anyFilter)},
	{path: filter + ".key", good: "a_b.c-d", bad: "a b", want: noKey, with: around(filter, anyFilter)},
	{path: filter + ".key", good: "A", bad: "a,b", want: noKey, with: around(filter, anyFilter)},
	{path: filter + ".key", good: "x/A", bad: "!a", want: noKey, with: around(filter, anyFilter)},
}

func TestCRDRules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, r := range crossRules {
		name := strings.TrimPrefix(r.path, "spec.") + ": " + r.want[:min(40, len(r.want))]
		t.Run(name, func(t *testing.T) { b.tryRule(t, r) })
	}
}

func TestCRDAcceptsJustTheAlias(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, action := range []string{"Delete", "Scan", "Transform"} {
		if err := b.apply(manifest(t, around(alias, action), around("spec.transform", transformScript))); err != nil {
			t.Errorf("%s: %v", action, err)
		}
	}
}

func TestCRDRefusesTwoNotificationsOfOneName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	two := func(first, second string) error {
		return b.apply(manifest(t, around("spec.notifications", []any{
			map[string]any{"name": first, "type": "Event"}, map[string]any{"name": second, "type": "CleanerReport"},
		})))
	}
	must(t, two("one", "two"))
	err := two("one", "one")
	if err == nil || !strings.Contains(err.Error(), `spec.notifications[1]: Duplicate value: `) || !strings.Contains(err.Error(), `{"name":"one"}`) {
		t.Fatalf("the API server says %v", err)
	}
}

func TestCRDRefusesUnknownFields(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for path, want := range map[string]string{
		"spec.scedule":                   `unknown field "spec.scedule"`,
		"spec.deleteOptions.force":       `unknown field "spec.deleteOptions.force"`,
		"spec.resourcePolicySet.actions": `unknown field "spec.resourcePolicySet.actions"`,
		sel + ".evalaute":                `unknown field "spec.resourcePolicySet.resourceSelectors[0].evalaute"`,
	} {
		if err := b.apply(manifest(t, around(path, "x"))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the API server says %v", path, err)
		}
	}
}
