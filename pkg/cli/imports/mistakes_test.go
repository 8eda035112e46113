// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// published are ideas that k8s-cleaner publishes and that are wrong, in short: kinds, then E: and words of evaluate, A: of the aggregated script,
// or T: of transform. want is part of what is said, and empty for what is right.
var published = []struct{ idea, want string }{
	{"Deployment StatefulSet DaemonSet T: annotations['previous-replicas'] = 3 obj.spec.replicas = 0", "stores 0 over the stored replicas"},
	{"Deployment T: if status.restartCount > 5 then obj.spec.replicas = 0", "one restarting container is enough"},
	{"Pod Deployment A: containerStatus.restartCount > 10", "one restarting container is enough"},
	{"ConfigMap A: string.match(name, '-%w+$') metadata.creationTimestamp", "keeps the oldest and reports the newest"},
	{"Deployment StatefulSet ConfigMap A: missing", "overlooks optional references"},
	{"Pod ConfigMap A: unused", "reports every kube-root-ca.crt"},
	{"Pod Secret Ingress ServiceAccount A: unused", "pull Secrets of accounts"},
	{"Deployment HorizontalPodAutoscaler A: orphaned", "stops after the first"},
	{"Pod ServiceAccount A: unused", "bindings of other namespaces"},
	{"ClusterRole ClusterRoleBinding RoleBinding A: unused", "aggregated roles"},
	{"Pod PersistentVolumeClaim A: unused", "own ephemeral volume"},
	{"PodDisruptionBudget Deployment StatefulSet A: matchLabels", "Pods of DaemonSets"},
	{"Namespace Pod A: empty", "looks at Pods only"},
	{"ReplicaSet E: obj.spec.replicas == 0", "kept for a rollback"},
	{"Job E: obj.status.succeeded == obj.spec.completions", "completions: 0"},
	{"ConfigMap E: obj.metadata.annotations['cleaner/ttl']", `fails on "1x"`},
	{"Pod E: obj.metadata.annotations['cleaner/expires']", `fails on "1x"`},
	{"Pod E: containerStatus.state.waiting.reason == 'CrashLoopBackOff'", "InvalidImageName"},
	{"Pod E: status.initContainerStatuses waiting.reason == 'CrashLoopBackOff'", ""},
	{"Pod E: reason == 'ErrImagePull'", "InvalidImageName"},
	{"Pod E: obj.metadata.deletionTimestamp ~= nil", "grace period"},
	{"Pod E: obj.status.phase == 'Succeeded'", ""},
	{"Service A: unused", ""},
	{"ConfigMap E: obj.metadata.labels.old", ""},
	{"Deployment E: obj.spec.replicas == 0", ""},
	{"Deployment T: obj.spec.replicas = 0", ""},
	{"Secret E: annotations['janitor/ttl']", ""},
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, p := range published {
		text, want := p.idea, p.want
		selected, script, _ := strings.Cut(text, ": ")
		words := strings.Fields(selected)
		var c v1alpha1.Cleaner
		kinds := words[:len(words)-1]
		for _, kind := range kinds {
			s := v1alpha1.ResourceSelector{Kind: kind}
			if words[len(words)-1] == "E" {
				s.Evaluate = script
			}
			c.Spec.ResourcePolicySet.ResourceSelectors = append(c.Spec.ResourcePolicySet.ResourceSelectors, s)
		}
		switch words[len(words)-1] {
		case "A":
			c.Spec.ResourcePolicySet.AggregatedSelection = script
		case "T":
			c.Spec.Transform = script
		}
		got := ""
		for _, m := range mistakes() {
			if m.in(&c, kinds) != "" {
				got = m.wrong
				found[m.wrong+m.instead] = true
				break
			}
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, m := range mistakes() {
		if !found[m.wrong+m.instead] {
			t.Errorf("no document has the mistake: %s", m.wrong)
		}
	}
}

// TestMistakesOfFindings: a Cleaner that does as it is advised makes none of them.
func TestMistakesOfFindings(t *testing.T) {
	t.Parallel()
	var c v1alpha1.Cleaner
	text := "spec: {schedule: '0 3 * * *', resourcePolicySet: {resourceSelectors: [{kind: Pod, finding: {type: Unhealthy}}, {kind: Secret, finding: {type: Unused}}]}}"
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	for _, m := range mistakes() {
		if at := m.in(&c, []string{"Pod", "Secret"}); at != "" {
			t.Errorf("%s: %s", at, m.wrong)
		}
	}
}

// TestMistakesOfSamples: the samples look for the same as the published ideas, without their mistakes.
func TestMistakesOfSamples(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"scan_unused_configmaps.yaml", "transform_pause_deployments.yaml"} {
		text, err := os.ReadFile("../../../config/samples/" + name)
		if err != nil {
			t.Fatal(err)
		}
		var c v1alpha1.Cleaner
		if err := yaml.Unmarshal(text, &c); err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, s := range c.Spec.ResourcePolicySet.ResourceSelectors {
			kinds = append(kinds, s.Kind)
		}
		for _, m := range mistakes() {
			if at := m.in(&c, kinds); at != "" {
				t.Errorf("%s: %s: %s", name, at, m.wrong)
			}
		}
	}
}
