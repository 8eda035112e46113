// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestMistakes: a wrong value is an error that names it.
func TestMistakes(t *testing.T) {
	for text, wants := range map[string][]string{
		`{replica: 2}`:                     {"replica'"},
		`{controller: {replicas: 2}}`:      {"controller"},
		`{replicas: two}`:                  {"replicas", "integer"},
		`{nameOverride: a.b}`:              {"nameOverride", "pattern"},
		`{fullnameOverride: a.b}`:          {"fullnameOverride", "pattern"},
		`{fullnameOverride: 1a}`:           {"fullnameOverride", "pattern"},
		`{image: {repository: ""}}`:        {"image", "repository", "pattern"},
		`{image: {repository: "foo:bar"}}`: {"image", "repository", "pattern"},
		`{image: {repository: "a:1/b:c"}}`: {"image", "repository", "pattern"},
		`{image: {repository: "a@b:1"}}`:   {"image", "repository", "pattern"},
		`{image: {tag: 1.0}}`:              {"image", "tag", "string"},
		`{image: {digest: sha256:12}}`:     {"image", "digest"},
		`{image: {pullPolicy: Sometimes}}`: {"pullPolicy", "IfNotPresent"},
		`{rbac: {mode: readonly}}`:         {"rbac", "mode", "readOnly"},
		`{rbac: {namespace: a}}`:           {"rbac", "namespace"},
		`{rbac: {mode: scoped, rules: [{apiGroups: [""], resources: [pods]}]}}`: {"rules", "verbs"},
		`{crds: {keep: "no"}}`:                                                      {"crds", "keep", "boolean"},
		`{scriptMemory: 768 MB}`:                                                    {"scriptMemory"},
		`{resources: {limits: {memory: lots}}}`:                                     {"limits", "memory"},
		`{extraArgs: ["-log-level=debug"]}`:                                         {"extraArgs", "0"},
		`{metrics: {serviceMonitor: true}}`:                                         {"serviceMonitor", "object"},
		`{metrics: {readers: [{name: prometheus}]}}`:                                {"readers", "namespace"},
		`{references: [{podTemplates: [spec]}]}`:                                    {"references", "kind"},
		`{copies: {existingClaim: Copies!}}`:                                        {"copies", "existingClaim"},
		`{copies: {existingClaim: a, path: copies}}`:                                {"copies", "path", "pattern"},
		`{copies: {existingClaim: a, path: /a/../b}}`:                               {"copies", "path", "pattern"},
		`{copies: {path: /pvc}}`:                                                    {"copies.path has no effect without copies.existingClaim"},
		`{copies: {existingClaim: a, path: /diagnostics-cert/a}}`:                   {"copies.path is /diagnostics-cert/a, where the container has something else"},
		`{serviceAccount: {create: false}}`:                                         {"serviceAccount.name is empty: with serviceAccount.create false"},
		`{commonLabels: {app.kubernetes.io/name: x}}`:                               {"commonLabels has app.kubernetes.io/name, which the chart sets itself"},
		`{podLabels: {app.kubernetes.io/component: x}}`:                             {"podLabels has app.kubernetes.io/component, which the chart sets itself"},
		`{rbac: {mode: scoped}}`:                                                    {"rbac.rules is empty: with rbac.mode scoped, list there what Cleaners may touch"},
		`{rbac: {rules: [{apiGroups: [""], resources: [pods], verbs: [list]}]}}`:    {"rbac.rules has no effect with rbac.mode full"},
		`{rbac: {mode: namespaces}}`:                                                {"rbac.namespaces is empty"},
		`{rbac: {namespaces: [a]}}`:                                                 {"rbac.namespaces has no effect with rbac.mode full"},
		`{resources: {limits: {memory: 1000Mi}}}`:                                   {"resources.limits.memory is 1000Mi: it must be at least 512Mi more than scriptMemory (768Mi)"},
		`{resources: {limits: {memory: 1279Mi}}}`:                                   {"it must be at least 512Mi more than scriptMemory (768Mi): 256Mi for --max-selection-memory, and 256Mi for the operator"},
		`{extraArgs: ["--max-selection-memory=512Mi"]}`:                             {"resources.limits.memory is 1280Mi: it must be at least 768Mi more than scriptMemory (768Mi): 512Mi for"},
		`{extraArgs: ["--max_selection_memory=1Gi"]}`:                               {"it must be at least 1280Mi more"},
		`{extraArgs: ["--max-selection-memory=lots"]}`:                              {"extraArgs has --max-selection-memory=lots: write an amount of memory such as 512Mi"},
		`{scriptMemory: 128Mi}`:                                                     {"scriptMemory is 128Mi: it must be at least 384Mi"},
		`{scriptMemory: 383Mi, resources: {limits: {memory: null}}}`:                {"scriptMemory is 383Mi: it must be at least 384Mi"},
		`{scriptMemory: 0.3Gi}`:                                                     {"scriptMemory is 0.3Gi: it must be at least 384Mi"},
		`{scriptMemory: null}`:                                                      {"scriptMemory is"},
		`{extraArgs: ["--max_script_memory=1Gi"]}`:                                  {"extraArgs has --max-script-memory: set the value scriptMemory instead"},
		`{extraArgs: ["--copies-path=/a"]}`:                                         {"set the value copies.existingClaim instead"},
		`{extraArgs: ["--health-addr=:8081"]}`:                                      {"extraArgs has --health-addr: the probes, Services and monitors of the chart use the default port"},
		`{extraArgs: ["--diagnostics-address=:8444"]}`:                              {"extraArgs has --diagnostics-address: the probes"},
		`{replicas: 2, extraArgs: ["--leader-elect=false"]}`:                        {"extraArgs has --leader-elect: more than one replica needs leader election"},
		`{extraEnv: [{name: GOMEMLIMIT, value: 1GiB}]}`:                             {"extraEnv has GOMEMLIMIT, which the chart sets itself"},
		`{metrics: {serviceMonitor: {enabled: true}, podMonitor: {enabled: true}}}`: {"metrics.serviceMonitor and metrics.podMonitor are both enabled"},
		`{dashboard: {enabled: true, insecureBehindProxy: true}}`:                   {"list the Pods of the proxy in dashboard.networkPolicy.from"},
		`{dashboard: {insecureBehindProxy: true, tls: {secretName: a}}}`:            {"dashboard.tls.secretName has no effect with dashboard.insecureBehindProxy"},
		`{dashboard: {hosts: ["*", a.example.com]}}`:                                {"dashboard.hosts has \"*\", which means any name"},
		`{dashboard: {url: "https://a.example.com/page"}}`:                          {"dashboard", "url"},
		`{extraArgs: ["--dashboard-url=https://a"]}`:                                {"set the value dashboard.url instead"},
		`{dashboard: {hosts: []}}`:                                                  {"dashboard", "hosts"},
		`{dashboard: {hosts: ["a.example.com:8443"]}}`:                              {"dashboard", "hosts", "0"},
		`{dashboard: {enabled: true, resources: {limits: {memory: 400Mi}}}}`:        {"dashboard.resources.limits.memory is 400Mi: it must be at least 496Mi"},
		`{metrics: {podMonitor: {enabled: true}}}`:                                  {"metrics.podMonitor.tokenSecret.name is empty"},
	} {
		t.Run(text, func(t *testing.T) {
			eachHelm(t, func(t *testing.T, h helm) {
				_, err := h.render("kubecleaner", chartDir, values(t, text))
				if err == nil {
					t.Fatal("it was accepted")
				}
				for _, want := range wants {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("the error lacks %q: %v", want, err)
					}
				}
			})
		})
	}
}

// TestRightValues: these look wrong and are not.
func TestRightValues(t *testing.T) {
	for text, want := range map[string]string{
		`{image: {repository: "host:5000/foo", tag: v1}}`:          "image: host:5000/foo:v1",
		`{image: {repository: localhost/a_b/c--d.e, tag: v1}}`:     "image: localhost/a_b/c--d.e:v1",
		`{image: {repository: "[2001:db8::1]:5000/foo", tag: v1}}`: "image: [2001:db8::1]:5000/foo:v1",
		`{image: {repository: foo, tag: v1}}`:                      "image: foo:v1",
		`{nameOverride: 1a, fullnameOverride: a-1}`:                "name: a-1-metrics",
	} {
		t.Run(text, func(t *testing.T) {
			eachHelm(t, func(t *testing.T, h helm) {
				out, err := h.render("kubecleaner", chartDir, values(t, text))
				must(t, err)
				if !strings.Contains(strings.NewReplacer(`"`, "", "'", "").Replace(out.manifest), want+"\n") {
					t.Errorf("it lacks %q", want)
				}
			})
		})
	}
}

// TestSchemaIsWhole: values.yaml and values.schema.json have the same values, so that no value is without a check or a default.
func TestSchemaIsWhole(t *testing.T) {
	text, err := os.ReadFile(chartDir + "/values.schema.json")
	must(t, err)
	var schema map[string]any
	must(t, json.Unmarshal(text, &schema))
	defaults, err := os.ReadFile(chartDir + "/values.yaml")
	must(t, err)
	compare(t, "", schema, values(t, string(defaults)))
}

// optional are values without a default: a parent's, and lists of a Pod's resources.
var optional = regexp.MustCompile(`^\.(enabled|(dashboard\.)?resources\.(claims|requests\.memory|limits\.memory))$`)

func compare(t *testing.T, path string, schema, defaults map[string]any) {
	t.Helper()
	properties, _ := schema["properties"].(map[string]any)
	if properties == nil {
		return // a map of the user's own keys
	}
	for name := range defaults {
		if _, ok := properties[name]; !ok && schema["additionalProperties"] == false {
			t.Errorf("the schema lacks %s.%s", path, name)
		}
	}
	for name, property := range properties {
		value, ok := defaults[name]
		if !ok && !optional.MatchString(path+"."+name) {
			t.Errorf("values.yaml lacks %s.%s", path, name)
		}
		field, _ := property.(map[string]any)
		if below, ok := value.(map[string]any); ok {
			compare(t, path+"."+name, field, below)
		}
	}
}

// TestReleaseNames: YAML takes some for numbers or truths, and Services have no name that begins with a digit.
func TestReleaseNames(t *testing.T) {
	for name, want := range map[string]string{"true": "", "a": "", "123": "123-kubecleaner is no name for a Service", "a.b": "a.b-kubecleaner is no name for a Service"} {
		eachHelm(t, func(t *testing.T, h helm) {
			out, err := h.render(name, chartDir, map[string]any{"extraArgs": []any{"--diagnostics-address=0"}})
			switch {
			case want == "" && err != nil:
				t.Errorf("%s: %v", name, err)
			case want == "" && !strings.Contains(out.manifest, "app.kubernetes.io/instance: \""+name+"\""):
				t.Errorf("%s is not a text in the labels", name)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("%s: the error is %v, want %q", name, err, want)
			}
		})
	}
}
