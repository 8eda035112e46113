// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var (
	cleaners    = schema.GroupVersionKind{Group: "apps.projectsveltos.io", Version: "v1alpha1", Kind: "Cleaner"}
	runs        = schema.GroupVersionKind{Group: "apps.projectsveltos.io", Version: "v1alpha1", Kind: "CleanerRun"}
	definitions = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
)

// k8sCleaner writes a chart like that of k8s-cleaner: its CustomResourceDefinitions are either templates, which the release owns, or in
// the directory crds, which it does not own.
func k8sCleaner(t *testing.T, crds string) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile("../k8scleaner/crds.yaml")
	must(t, err)
	for _, sub := range []string{"crds", "templates"} {
		must(t, os.Mkdir(dir+"/"+sub, 0o700))
	}
	for path, text := range map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: k8s-cleaner\nversion: 0.23.0\n",
		crds:         string(text),
		"templates/deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: k8s-cleaner-controller}
spec:
  selector: {matchLabels: {app: k8s-cleaner}}
  template:
    metadata: {labels: {app: k8s-cleaner}}
    spec: {containers: [{name: controller, image: projectsveltos/k8s-cleaner:v0.23.0}]}
`,
	} {
		must(t, os.WriteFile(dir+"/"+path, []byte(text), 0o600))
	}
	return dir
}

// TestUpgradeFromK8sCleaner: an upgrade of k8s-cleaner's release to this chart keeps every Cleaner, and removes k8s-cleaner's operator.
func TestUpgradeFromK8sCleaner(t *testing.T) {
	for name, c := range map[string]struct {
		crds          string
		takeOwnership bool
	}{
		"the release owns the CRDs":     {"templates/crds.yaml", false},
		"the CRDs belong to no release": {"crds/crds.yaml", true},
	} {
		t.Run(name, func(t *testing.T) {
			eachHelm(t, func(t *testing.T, h helm) {
				admin := cluster(t)
				must(t, helm3{}.install("k8s-cleaner", k8sCleaner(t, c.crds), nil, false))
				cleaner(t, admin)
				before := kept(t, admin, cleaners)
				must(t, h.upgrade("k8s-cleaner", chartDir, nil, c.takeOwnership))
				same(t, "Cleaners after the upgrade", before, kept(t, admin, cleaners))
				ours(t, admin)
				if diff := cmp.Diff([]string{"k8s-cleaner-kubecleaner-manager"}, deployments(t, admin)); diff != "" {
					t.Errorf("the Deployments (-want +got):\n%s", diff)
				}
				must(t, h.uninstall("k8s-cleaner"))
				same(t, "Cleaners after the uninstall", before, kept(t, admin, cleaners))
			})
		})
	}
}

// TestInstallOverK8sCleaner: a release of its own takes the CustomResourceDefinitions over only where the user says so, and keeps every Cleaner.
func TestInstallOverK8sCleaner(t *testing.T) {
	for name, crds := range map[string]string{"the release owns the CRDs": "templates/crds.yaml", "the CRDs belong to no release": "crds/crds.yaml"} {
		t.Run(name, func(t *testing.T) {
			eachHelm(t, func(t *testing.T, h helm) {
				admin := cluster(t)
				must(t, helm3{}.install("k8s-cleaner", k8sCleaner(t, crds), nil, false))
				cleaner(t, admin)
				before := kept(t, admin, cleaners)
				err := h.install("kubecleaner", chartDir, nil, false)
				if err == nil || !strings.Contains(err.Error(), `CustomResourceDefinition "clean`) || !strings.Contains(err.Error(), "cannot be imported into the current release") {
					t.Errorf("without --take-ownership the error is %v", err)
				}
				same(t, "Cleaners after the refused install", before, kept(t, admin, cleaners))
				must(t, h.install("kubecleaner", chartDir, nil, true))
				same(t, "Cleaners after the install", before, kept(t, admin, cleaners))
				ours(t, admin)
				if _, three := h.(helm3); three && crds == "templates/crds.yaml" {
					return // Helm 3 would delete what the release owned before: the chart's README says what to do
				}
				crds := kept(t, admin, definitions)
				must(t, h.uninstall("k8s-cleaner"))
				same(t, "Cleaners after the uninstall of k8s-cleaner", before, kept(t, admin, cleaners))
				same(t, "CustomResourceDefinitions after the uninstall of k8s-cleaner", crds, kept(t, admin, definitions))
			})
		})
	}
}

// TestUninstall keeps the CustomResourceDefinitions, Cleaners, records and copies. So does an upgrade that stops installing the definitions.
func TestUninstall(t *testing.T) {
	eachHelm(t, func(t *testing.T, h helm) {
		admin := cluster(t)
		must(t, h.install("kubecleaner", chartDir, nil, false))
		cleaner(t, admin)
		created(t, admin, "{apiVersion: apps.projectsveltos.io/v1alpha1, kind: CleanerRun, metadata: {name: a-run}, spec: "+
			"{cleaner: completed-pods, cleanerUID: u, cleanerGeneration: 1, action: Delete, nominalTime: '2026-11-01T00:00:00Z', trigger: Schedule}}")
		created(t, admin, "{apiVersion: v1, kind: Secret, metadata: {name: a-copy, namespace: projectsveltos, "+
			"labels: {app.kubernetes.io/part-of: kubecleaner}}, data: {copies: e30=}}")
		crds, had, records := kept(t, admin, definitions), kept(t, admin, cleaners), kept(t, admin, runs)
		for _, step := range []struct {
			name string
			do   func() error
		}{
			{"an upgrade without the definitions", func() error {
				return h.upgrade("kubecleaner", chartDir, values(t, "{crds: {install: false}}"), false)
			}},
			{"the uninstall", func() error { return h.uninstall("kubecleaner") }},
			{"the second install", func() error { return h.install("kubecleaner", chartDir, nil, false) }},
			{"the second uninstall", func() error { return h.uninstall("kubecleaner") }},
		} {
			if err := step.do(); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			same(t, "CustomResourceDefinitions after "+step.name, crds, kept(t, admin, definitions))
			same(t, "Cleaners after "+step.name, had, kept(t, admin, cleaners))
			same(t, "CleanerRuns after "+step.name, records, kept(t, admin, runs))
			must(t, admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "a-copy"}, &corev1.Secret{}))
		}
		if left := deployments(t, admin); len(left) > 0 {
			t.Errorf("the uninstall left the Deployments %v", left)
		}
	})
}

// TestSecondUpgrade: an upgrade that changes no value writes no object but the release. The release's Secret has room.
func TestSecondUpgrade(t *testing.T) {
	everything := values(t, "{flowSchemas: {enabled: true}, policies: {enabled: true}, networkPolicy: {enabled: true}, pdb: {enabled: true}, metrics: {dashboard: {enabled: true}}}")
	eachHelm(t, func(t *testing.T, h helm) {
		admin := cluster(t)
		must(t, h.install("kubecleaner", chartDir, everything, false))
		before := written(t, admin, h, everything)
		must(t, h.upgrade("kubecleaner", chartDir, everything, false))
		if diff := cmp.Diff(before, written(t, admin, h, everything)); diff != "" {
			t.Errorf("the second upgrade wrote (-before +after):\n%s", diff)
		}
		secret := &corev1.Secret{}
		must(t, admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "sh.helm.release.v1.kubecleaner.v2"}, secret))
		size := len(secret.Data["release"])
		t.Logf("the Secret of the release has %d KiB", size>>10)
		if size > 512<<10 { // a Secret may have 1 MiB
			t.Errorf("the Secret of the release has %d KiB", size>>10)
		}
	})
}

// written are the resource versions of all objects that the chart renders.
func written(t *testing.T, admin client.Client, h helm, v map[string]any) map[string]string {
	t.Helper()
	r, err := h.render("kubecleaner", chartDir, v)
	must(t, err)
	out := map[string]string{}
	for name, o := range objects(t, r.manifest) {
		must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(o), o))
		out[name] = o.GetResourceVersion()
		if o.GetKind() == "CustomResourceDefinition" { // the API server writes its status
			out[name] = fmt.Sprint(o.GetGeneration())
		}
	}
	return out
}
