// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// A ConfigMap may be read by the name that a Spring application has, wherever that is said.
func TestNamesOfSpringApplications(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		labels, container string
		isWeak            bool
	}{
		"a variable":                {"", "env: [{name: SPRING_APPLICATION_NAME, value: bank}]", true},
		"a variable like the name":  {"", "env: [{name: spring.application.name, value: bank}]", true},
		"an option of Java":         {"", "env: [{name: JAVA_TOOL_OPTIONS, value: '-Xmx1g -Dspring.application.name=bank'}]", true},
		"an option with quotes":     {"", "env: [{name: JAVA_OPTS, value: '\"-Dspring.application.name=bank\"'}]", true},
		"an argument":               {"", "args: [--spring.application.name=bank]", true},
		"a command in a shell":      {"", "command: [sh, -c, \"exec java -Dspring.application.name='bank' -jar a.jar\"]", true},
		"JSON":                      {"", `env: [{name: SPRING_APPLICATION_JSON, value: '{"spring": {"application": {"name": "bank"}}}'}]`, true},
		"flat JSON":                 {"", `env: [{name: SPRING_APPLICATION_JSON, value: '{"spring.application.name": "bank"}'}]`, true},
		"the name of a ConfigMap":   {"", "env: [{name: SPRING_CLOUD_KUBERNETES_CONFIG_NAME, value: bank}]", true},
		"the name of a source":      {"", "env: [{name: SPRING_CLOUD_KUBERNETES_CONFIG_SOURCES_0_NAME, value: bank}]", true},
		"the argument of a source":  {"", "args: ['--spring.cloud.kubernetes.config.sources[0].name=bank']", true},
		"a label":                   {"app.kubernetes.io/instance: bank", "image: a", true},
		"another label":             {"other: bank", "image: a", false},
		"another variable":          {"", "env: [{name: SPRING_PROFILES_ACTIVE, value: bank}]", false},
		"a part of another option":  {"", "env: [{name: JAVA_OPTS, value: -Dmy.spring.application.name=bank}]", false},
		"JSON that cannot be read":  {"", "env: [{name: SPRING_APPLICATION_JSON, value: '{\"spring.application.name\": bank'}]", false},
		"the name of its namespace": {"", "env: [{name: SPRING_CLOUD_KUBERNETES_CONFIG_NAMESPACE, value: bank}]", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := find(t, scenario{cluster: cluster(readAll, of("v1 ConfigMap shop/bank-prod", ""),
				of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1, template: {metadata: {labels: {"+test.labels+"}}, spec: {containers: [{name: main, "+test.container+"}]}}}"))})
			seen := false
			for _, f := range found {
				if f.Kind.Kind != "ConfigMap" {
					continue
				}
				seen = true
				if (f.Confidence == v1alpha1.ConfidenceWeak) != test.isWeak {
					t.Errorf("it is %s: %s", f.Confidence, f.Reason)
				}
			}
			if !seen {
				t.Error("it is not found")
			}
		})
	}
}
