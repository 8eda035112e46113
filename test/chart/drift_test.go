// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// What the chart adds to the objects of config. Nothing else may differ but the Namespace, which helm install --create-namespace makes.
var (
	addedLabels      = []string{"app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart"}
	addedAnnotations = []string{"helm.sh/resource-policy"}
)

// TestDrift: as the release kubecleaner in the namespace projectsveltos, the chart has the objects of config.
func TestDrift(t *testing.T) {
	v := ciValues(t)
	for name, c := range map[string]struct {
		values string // a file of ci
		paths  []string
	}{
		"default":          {"default", []string{"default"}},
		"read-only":        {"read-only", []string{"overlays/read-only"}},
		"scoped":           {"scoped", []string{"overlays/scoped"}},
		"service-accounts": {"service-accounts", []string{"overlays/service-accounts"}},
		"monitoring":       {"monitoring", []string{"default", "prometheus", "grafana"}},
		"dashboard":        {"dashboard", []string{"default", "dashboard"}},
		"policies":         {"policies", []string{"default", "policy", "flowcontrol"}},
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string]*unstructured.Unstructured{}
			for _, path := range c.paths {
				maps.Copy(want, built(t, "../../config/"+path))
			}
			delete(want, "Namespace /projectsveltos")
			eachHelm(t, func(t *testing.T, h helm) {
				r, err := h.render("kubecleaner", chartDir, ofRelease(t, v[c.values]))
				must(t, err)
				got := objects(t, r.manifest)
				for name, o := range got {
					without(o, want[name])
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("config and the chart differ (-config +chart); make chart, or edit the templates:\n%s", diff)
				}
			})
		})
	}
}

// ofRelease are values with the image of config: a release writes its own into the chart.
func ofRelease(t *testing.T, values map[string]any) map[string]any {
	t.Helper()
	text, err := os.ReadFile("../../config/manager/manager.yaml")
	must(t, err)
	_, image, _ := strings.Cut(string(text), " image: ")
	image, _, _ = strings.Cut(image, "\n")
	repository, tag, found := strings.Cut(image, ":")
	if !found {
		t.Fatalf("config/manager/manager.yaml has the image %q", image)
	}
	values = maps.Clone(values)
	values["image"] = map[string]any{"repository": repository, "tag": tag}
	return values
}

// TestDashboardHasNoRights: nothing is bound to the account of the page, and its Pod gets no token.
func TestDashboardHasNoRights(t *testing.T) {
	everything := built(t, "../../config/default")
	maps.Copy(everything, built(t, "../../config/dashboard"))
	mounts := 0
	for name, o := range everything {
		for _, path := range [][]string{{"automountServiceAccountToken"}, {"spec", "template", "spec", "automountServiceAccountToken"}} {
			if mounted, there, _ := unstructured.NestedBool(o.Object, path...); there && !mounted && o.GetName() == "kubecleaner-dashboard" {
				mounts++
			}
		}
		subjects, _, _ := unstructured.NestedSlice(o.Object, "subjects")
		for _, subject := range subjects {
			if s, _ := subject.(map[string]any); s["name"] != "kubecleaner-manager" {
				t.Errorf("%s is for %v", name, subject)
			}
		}
	}
	if mounts != 2 {
		t.Errorf("the ServiceAccount and the Pod say %d times that no token is mounted", mounts)
	}
	text, err := json.Marshal(everything["Deployment projectsveltos/kubecleaner-dashboard"].Object)
	must(t, err)
	if bytes.Contains(text, []byte("serviceAccountToken")) {
		t.Error("a volume has a token")
	}
}

// built is what kustomize build prints.
func built(t *testing.T, path string) map[string]*unstructured.Unstructured {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), path)
	must(t, err)
	out := map[string]*unstructured.Unstructured{}
	for _, resource := range resources.Resources() {
		text, err := resource.MarshalJSON()
		must(t, err)
		o := &unstructured.Unstructured{}
		must(t, json.Unmarshal(text, &o.Object))
		if o.GetKind() == "ValidatingAdmissionPolicy" { // each overlay adds empty lines to folded texts, which CEL does not mind
			must(t, json.Unmarshal(bytes.ReplaceAll(text, []byte(`\n\n`), []byte(`\n`)), &o.Object))
		}
		out[key(o)] = o
	}
	return out
}

// without removes what the chart adds. config/prometheus and config/grafana do not have the label part-of.
func without(o, want *unstructured.Unstructured) {
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	added := addedLabels
	if want != nil && want.GetLabels()["app.kubernetes.io/part-of"] == "" {
		added = append(slices.Clone(added), "app.kubernetes.io/part-of")
	}
	maps.DeleteFunc(labels, func(name, _ string) bool { return slices.Contains(added, name) })
	maps.DeleteFunc(annotations, func(name, _ string) bool { return slices.Contains(addedAnnotations, name) })
	if len(annotations) == 0 {
		annotations = nil
	}
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
}
