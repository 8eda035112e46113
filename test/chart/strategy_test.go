// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"context"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const managers = "kubecleaner-manager"

// TestStrategy: where the old Pod and a new one must not be there at the same time, the old one goes first.
func TestStrategy(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                           "RollingUpdate",
		`{replicas: 2}`:                "RollingUpdate",
		`{copies: {s3Secret: a}}`:      "RollingUpdate",
		`{copies: {existingClaim: a}}`: "Recreate",
		`{replicas: 0, copies: {existingClaim: a}}`:             "Recreate",
		`{replicas: 2, copies: {existingClaim: a}}`:             "RollingUpdate",
		`{extraArgs: ["--leader-elect=false"]}`:                 "Recreate",
		`{extraArgs: ["--leader_elect=F"]}`:                     "Recreate",
		`{extraArgs: ["--leader-elect=0", "--leader-elect"]}`:   "RollingUpdate",
		`{extraArgs: ["--leader-elect", "--leader-elect=0"]}`:   "Recreate",
		`{extraArgs: ["--leader-elect=true"]}`:                  "RollingUpdate",
		`{extraArgs: ["--leader-elect-lease-duration=20s"]}`:    "RollingUpdate",
		`{replicas: 0, extraArgs: ["--leader-elect=false"]}`:    "Recreate",
		`{extraArgs: ["--dry-run=false", "--log-format=text"]}`: "RollingUpdate",
	} {
		eachHelm(t, func(t *testing.T, h helm) {
			r, err := h.render("kubecleaner", chartDir, values(t, text))
			must(t, err)
			deployment := objects(t, r.manifest)["Deployment projectsveltos/"+managers]
			got, _, err := unstructured.NestedString(deployment.Object, "spec", "strategy", "type")
			must(t, err)
			if got != want {
				t.Errorf("with %s the strategy is %q, want %q", text, got, want)
			}
		})
	}
}

// TestStrategyChanges: an upgrade may change the strategy in both directions. The API server refuses Recreate together with rollingUpdate,
// which it sets itself where a Deployment says nothing.
func TestStrategyChanges(t *testing.T) {
	claim, alone := values(t, `{copies: {existingClaim: a}}`), values(t, `{extraArgs: ["--leader-elect=false"]}`)
	for name, h := range map[string]struct{ installs, upgrades helm }{
		"helm 3":                     {helm3{}, helm3{}},
		"helm 4":                     {helm4{}, helm4{}},
		"helm 4 after an old helm 3": {helm3{}, helm4{}},
	} {
		t.Run(name, func(t *testing.T) {
			admin := cluster(t)
			must(t, h.installs.install("kubecleaner", chartDir, nil, false))
			before := strategy(t, admin)
			for _, step := range []struct {
				name   string
				values map[string]any
				want   appsv1.DeploymentStrategy
			}{
				{"with a claim", claim, appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}},
				{"without leader election", alone, appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}},
				{"as before", nil, before},
				{"with a claim again", claim, appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}},
			} {
				if err := h.upgrades.upgrade("kubecleaner", chartDir, step.values, false); err != nil {
					t.Fatalf("%s: %v", step.name, err)
				}
				if diff := cmp.Diff(step.want, strategy(t, admin)); diff != "" {
					t.Errorf("the strategy %s (-want +got):\n%s", step.name, diff)
				}
			}
			objects := written(t, admin, h.upgrades, claim)
			must(t, h.upgrades.upgrade("kubecleaner", chartDir, claim, false))
			if diff := cmp.Diff(objects, written(t, admin, h.upgrades, claim)); diff != "" {
				t.Errorf("an upgrade that changes no value wrote (-before +after):\n%s", diff)
			}
		})
	}
}

// TestStrategyOfPatch: kubectl apply --server-side may add the patch of the page on copies to an operator that is there, and remove it.
func TestStrategyOfPatch(t *testing.T) {
	admin := cluster(t)
	page, err := os.ReadFile("../../docs/how-to/copies.md")
	must(t, err)
	patches := regexp.MustCompile("(?s)```yaml\n(patches:\n.*?)```").FindSubmatch(page)
	if patches == nil {
		t.Fatal("the page on copies shows no patches")
	}
	plain := built(t, "../../config/default")["Deployment projectsveltos/"+managers]
	text, err := plain.MarshalJSON()
	must(t, err)
	disk := filesys.MakeFsInMemory()
	must(t, disk.WriteFile("deployment.json", text))
	must(t, disk.WriteFile("kustomization.yaml", append([]byte("resources: [deployment.json]\n"), patches[1]...)))
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, ".")
	must(t, err)
	text, err = resources.Resources()[0].MarshalJSON()
	must(t, err)
	patched := &unstructured.Unstructured{}
	must(t, patched.UnmarshalJSON(text))

	t.Cleanup(func() { must(t, admin.Delete(context.WithoutCancel(t.Context()), plain)) })
	for i, o := range []*unstructured.Unstructured{plain, patched, plain, patched} {
		must(t, admin.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("kubectl")))
		want := []appsv1.DeploymentStrategyType{"RollingUpdate", "Recreate"}[i%2]
		if got := strategy(t, admin).Type; got != want {
			t.Errorf("after step %d the strategy is %s, want %s", i, got, want)
		}
	}
}

func strategy(t *testing.T, admin client.Client) appsv1.DeploymentStrategy {
	t.Helper()
	deployment := &appsv1.Deployment{}
	must(t, admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: managers}, deployment))
	return deployment.Spec.Strategy
}
