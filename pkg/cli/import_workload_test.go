// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// closed is in what is written when nobody knows at what kube-janitor looks.
const closed = "name: flags-not-carried-over\n        expression: \"false\"\n"

// TestImportOfTwoJanitors is refused: the namespaces of one are none of the other's rules.
func TestImportOfTwoJanitors(t *testing.T) {
	t.Parallel()
	first := fmt.Sprintf(janitorWorkload, "--include-namespaces=a", "")
	second := strings.Replace(fmt.Sprintf(janitorWorkload, "--include-namespaces=b", ""), "name: kube-janitor", "name: other", 1)
	sidecar := strings.Replace(first, "        env:", "      - image: kube-janitor\n        env:", 1)
	for text, want := range map[string]string{
		first + janitorRule + "---\n" + second: `error: kube-janitor runs more than once in what was given: Deployment "kube-janitor" (standard input:8), Deployment "other" (standard input:26)`,
		sidecar + janitorRule:                  `Deployment "kube-janitor" (standard input:8), Deployment "kube-janitor" (standard input:11)`,
	} {
		got := call(t.Context(), t, text, nil, "import", "kube-janitor", "-")
		if got.code != codes.ExitError || got.out != "" || !strings.Contains(got.errOut, want) ||
			!strings.Contains(got.errOut, "hint: import each alone, from its own files: its workload and its rules   [E-IMP-002]") {
			t.Errorf("exit %d, want %q:\n%s%s", got.code, want, got.out, got.errOut)
		}
	}
}

// TestImportRecognisesJanitor by its image, its container and its workload. Any other workload may be it, too, if none is recognised.
func TestImportRecognisesJanitor(t *testing.T) {
	t.Parallel()
	const image, name, container = "hjacobs/kube-janitor:23.7.0", "name: kube-janitor", "name: janitor"
	workload := fmt.Sprintf(janitorWorkload, "--include-namespaces=dev", "")
	pod := strings.NewReplacer("apps/v1\nkind: Deployment", "v1\nkind: Pod", "  template:\n    spec:\n      containers:\n", "  containers:\n", "      -", "  -", "        ", "    ").Replace(workload)
	other := strings.NewReplacer(image, "registry/kube-janitor/app:1", name, "name: web").Replace(workload)
	owned := strings.NewReplacer("kind: Deployment", "kind: ReplicaSet", name, "name: kube-janitor, ownerReferences: [{kind: Deployment, name: kube-janitor}]").Replace(workload)
	const assumed = "note: no workload of kube-janitor was given: its default flags are assumed"
	const unknown = `standard input:1: warning: web: is not recognised as kube-janitor, and no other workload is`
	for title, test := range map[string]struct {
		text, want, says string
		code             int
	}{
		"a Pod":                 {pod, "in (dev)", "", codes.ExitDone},
		"the name of the image": {strings.Replace(workload, image, "registry:5000/my/kube-janitor-fork@sha256:aa", 1), "in (dev)", "", codes.ExitDone},
		"the container":         {strings.NewReplacer(name, "name: web", container, "name: kube-janitor-a", image, "app:1").Replace(workload), "in (dev)", "", codes.ExitDone},
		"the workload":          {strings.Replace(workload, image, "app:1", 1), "in (dev)", "", codes.ExitDone},
		"its own ReplicaSet":    {workload + "---\n" + owned, "in (dev)", "", codes.ExitDone},
		"beside another one":    {other + "---\n" + workload, "in (dev)", "", codes.ExitDone},
		"only another one":      {other, closed, unknown, codes.ExitPartial},
		"the tag of an image":   {strings.Replace(other, "registry/kube-janitor/app:1", "app:kube-janitor", 1), closed, unknown, codes.ExitPartial},
		"an object with a mark": {strings.Replace(other, "name: web", "name: web, annotations: {janitor/ttl: 1d}", 1), "notin (kube-system)", assumed, codes.ExitDone},
		"no workload":           {"# none\n", "notin (kube-system)", assumed, codes.ExitDone},
	} {
		got := call(t.Context(), t, test.text+janitorRule, nil, "import", "kube-janitor", "-", "--keep-action")
		if got.code != test.code || strings.Count(got.out, test.want) < 3 || !strings.Contains(got.errOut, test.says) ||
			(test.says == assumed) != strings.Contains(got.errOut, assumed) || strings.Contains(got.out, closed) != (test.want == closed) {
			t.Errorf("%s: exit %d, want %q and %q:\n%s%s", title, got.code, test.want, test.says, got.out, got.errOut)
		}
	}
}

// TestImportOfAnotherWorkloadFromCluster: the rules of a kube-janitor that is not recognised select nothing.
func TestImportOfAnotherWorkloadFromCluster(t *testing.T) {
	s := newSite(t)
	for _, text := range []string{
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: rules}, data: {rules.yaml: \"rules: [{id: a, resources: [pods], jmespath: spec, ttl: 1d}]\"}}",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {app: kube-janitor}}, spec: {selector: {matchLabels: {app: web}}, template: {" +
			"metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: app}], volumes: [{name: a, configMap: {name: rules}}]}}}}",
	} {
		var u unstructured.Unstructured
		must(t, yaml.Unmarshal([]byte(text), &u.Object))
		u.SetNamespace(s.namespace)
		must(t, s.Create(t.Context(), &u))
		t.Cleanup(func() { must(t, s.Delete(context.Background(), &u)) })
	}
	got := s.call(t.Context(), nil, "import", "kube-janitor", "--from-cluster")
	if got.code != codes.ExitPartial || !strings.Contains(got.out, "name: kube-janitor-a\n") || strings.Count(got.out, closed) != 13 ||
		!strings.Contains(got.errOut, "warning: no Deployment and no CronJob in the cluster is recognised as kube-janitor   [W-IMP-001]") ||
		!strings.Contains(got.errOut, "web: is not recognised as kube-janitor") {
		t.Errorf("exit %d, %d selectors are closed:\n%s%s", got.code, strings.Count(got.out, closed), got.out, got.errOut)
	}
}
