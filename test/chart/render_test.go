// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	loader3 "helm.sh/helm/v3/pkg/chart/loader"
	chartutil3 "helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ciValues are the values files that show and test every feature.
func ciValues(t *testing.T) map[string]map[string]any {
	t.Helper()
	paths, err := filepath.Glob(chartDir + "/ci/*-values.yaml")
	must(t, err)
	if len(paths) < 12 {
		t.Fatalf("there are only %d files of values", len(paths))
	}
	out := map[string]map[string]any{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		must(t, err)
		out[strings.TrimSuffix(filepath.Base(path), "-values.yaml")] = values(t, string(text))
	}
	return out
}

// TestRender: both versions of Helm render the same objects, and each does so twice. An Argo CD diff after the install is empty.
func TestRender(t *testing.T) {
	for name, v := range ciValues(t) {
		t.Run(name, func(t *testing.T) {
			rendered := map[string]map[string]*unstructured.Unstructured{}
			eachHelm(t, func(t *testing.T, h helm) {
				first, err := h.render("kubecleaner", chartDir, v)
				must(t, err)
				second, err := h.render("kubecleaner", chartDir, v)
				must(t, err)
				if first.manifest != second.manifest || first.notes != second.notes {
					t.Error("two renders differ:", cmp.Diff(first.manifest, second.manifest))
				}
				if len(first.hooks) != 1 || !strings.HasSuffix(first.hooks[0], "-test-version[test]") {
					t.Errorf("the hooks are %v, want only that of helm test", first.hooks)
				}
				rendered[fmt.Sprint(len(rendered))] = objects(t, first.manifest)
			})
			if diff := cmp.Diff(rendered["0"], rendered["1"]); diff != "" {
				t.Errorf("the two versions of Helm differ:\n%s", diff)
			}
		})
	}
}

// TestNothingOfTheCluster: a template that asks the cluster, or the clock, renders differently each time.
func TestNothingOfTheCluster(t *testing.T) {
	chart, err := loader3.Load(chartDir)
	must(t, err)
	for _, template := range chart.Templates {
		if found := regexp.MustCompile(`{{[^}]*\b(lookup|rand[A-Z]\w+|gen[A-Z]\w+|uuidv4|now|getHostByName|derivePassword)\b[^}]*}}`).Find(template.Data); found != nil {
			t.Errorf("%s has %s", template.Name, found)
		}
		if regexp.MustCompile(`(?m)^kind: (Cleaner|CleanerRun|Report)$`).Match(template.Data) {
			t.Errorf("%s has an object of ours: with the CRD in the same chart, the first install would fail", template.Name)
		}
	}
}

// TestDashboardURL: notifications link to the page where people open it.
func TestDashboardURL(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                           "",
		`{dashboard: {enabled: true}}`: "",
		`{dashboard: {enabled: true, hosts: ["*"]}}`:                                           "",
		`{dashboard: {hosts: [a.example.com]}}`:                                                "",
		`{dashboard: {enabled: true, hosts: [a.example.com, localhost]}}`:                      "--dashboard-url=https://a.example.com",
		`{dashboard: {enabled: true, hosts: ["fd00::1"]}}`:                                     "--dashboard-url=https://[fd00::1]",
		`{dashboard: {enabled: true, hosts: [a.example.com], url: "https://b.example.com:8"}}`: "--dashboard-url=https://b.example.com:8",
		`{dashboard: {url: "https://b.example.com/"}}`:                                         "--dashboard-url=https://b.example.com/",
	} {
		eachHelm(t, func(t *testing.T, h helm) {
			got, err := h.render("kubecleaner", chartDir, values(t, text))
			must(t, err)
			if found := regexp.MustCompile(`--dashboard-url=\S*`).FindString(got.manifest); found != want {
				t.Errorf("with %s the operator has %q, want %q", text, found, want)
			}
		})
	}
}

// TestPackage: the archive and the Secret of the release have room below the 1 MiB that a Secret may hold.
func TestPackage(t *testing.T) {
	chart, err := loader3.Load(chartDir)
	must(t, err)
	path, err := chartutil3.Save(chart, t.TempDir())
	must(t, err)
	info, err := os.Stat(path)
	must(t, err)
	t.Logf("the archive has %d KiB", info.Size()>>10)
	if info.Size() > 256<<10 {
		t.Errorf("the archive has %d KiB", info.Size()>>10)
	}
	for _, file := range chart.Raw {
		if strings.HasPrefix(file.Name, "ci/") {
			t.Errorf("the archive holds %s, which is for tests", file.Name)
		}
	}
}

// TestSubchart: a parent chart switches the chart on and off, and passes values and global values.
func TestSubchart(t *testing.T) {
	parent := t.TempDir()
	must(t, os.CopyFS(parent+"/charts/kubecleaner", os.DirFS(chartDir)))
	must(t, os.WriteFile(parent+"/Chart.yaml", []byte("apiVersion: v2\nname: platform\nversion: 1.0.0\ndependencies:\n"+
		"- {name: kubecleaner, version: '*', condition: kubecleaner.enabled}\n"), 0o600))
	eachHelm(t, func(t *testing.T, h helm) {
		on, err := h.render("platform", parent, values(t, `{global: {region: eu}, kubecleaner: {enabled: true, replicas: 2}}`))
		must(t, err)
		deployment := objects(t, on.manifest)["Deployment projectsveltos/platform-kubecleaner-manager"]
		if deployment == nil {
			t.Fatal("there is no Deployment platform-kubecleaner-manager")
		}
		if n, _, _ := unstructured.NestedFieldNoCopy(deployment.Object, "spec", "replicas"); fmt.Sprint(n) != "2" {
			t.Errorf("the Deployment has %v replicas, want 2", n)
		}
		off, err := h.render("platform", parent, values(t, `{kubecleaner: {enabled: false}}`))
		must(t, err)
		if left := objects(t, off.manifest); len(left) > 0 {
			t.Errorf("switched off, it still has %d objects", len(left))
		}
	})
}

// TestMemory: GOMEMLIMIT is 90 % of what the memory limit leaves the manager.
func TestMemory(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "460MiB",
		`{scriptMemory: 1.5Gi, resources: {limits: {memory: 2.5Gi}}}`:                                                                           "921MiB",
		`{scriptMemory: 400Mi, resources: {limits: {memory: 1073741824}}}`:                                                                      "561MiB",
		`{scriptMemory: 536870912, resources: {limits: {memory: 2G}}}`:                                                                          "1255MiB",
		`{resources: {limits: {memory: null}}}`:                                                                                                 "",
		`{scriptMemory: 384Mi, resources: {limits: {memory: 896Mi}}}`:                                                                           "460MiB",
		`{resources: {limits: {memory: 2Gi}}, extraArgs: ["--max-selection-memory=1Gi"]}`:                                                       "1152MiB",
		`{resources: {limits: {memory: 1Gi}}, scriptMemory: 512Mi, extraArgs: ["--max-selection-memory=1Gi", "--max-selection-memory=0.25Gi"]}`: "460MiB",
		`{resources: {limits: {memory: 1124Mi}}, extraArgs: ["--max-selection-memory=100Mi"]}`:                                                  "320MiB",
	} {
		t.Run(text, func(t *testing.T) {
			eachHelm(t, func(t *testing.T, h helm) {
				r, err := h.render("kubecleaner", chartDir, values(t, text))
				must(t, err)
				got := ""
				if match := regexp.MustCompile(`name: GOMEMLIMIT\n +value: (\w+)`).FindStringSubmatch(r.manifest); match != nil {
					got = match[1]
				}
				if got != want {
					t.Errorf("GOMEMLIMIT is %q, want %q", got, want)
				}
			})
		})
	}
}

// TestNotes: they say the next command, and what an uninstall leaves.
func TestNotes(t *testing.T) {
	for text, wants := range map[string][]string{
		`{}`: {
			"kubectl cleaner scan\n", "kubectl create -f cleaner.yaml", "helm test sweep --namespace projectsveltos",
			"helm uninstall sweep --namespace projectsveltos", "kubectl delete cleaners --all", "This keeps the CustomResourceDefinitions", "Cleaners may touch every kind",
		},
		`{crds: {keep: false}}`:    {"this also deletes the CustomResourceDefinitions, and with them every Cleaner"},
		`{crds: {install: false}}`: {"install the CustomResourceDefinitions of this version yourself"},
		`{dashboard: {enabled: true}}`: {
			"The dashboard starts when the Secret sweep-kubecleaner-dashboard-tls has a certificate", "Open https://localhost:8443 while this runs:\n",
			"kubectl --namespace projectsveltos port-forward service/sweep-kubecleaner-dashboard 8443:443\n", "kubectl create token NAME",
		},
		`{dashboard: {enabled: true, hosts: [a.example.com]}}`:                                                {"Its address is https://a.example.com."},
		`{dashboard: {enabled: true, insecureBehindProxy: true, networkPolicy: {from: [{podSelector: {}}]}}}`: {"through your proxy"},
		`{rbac: {mode: readOnly}}`: {"Every Cleaner only reports"},
		`{rbac: {mode: scoped, rules: [{apiGroups: [""], resources: [configmaps], verbs: [list]}]}}`: {"only what rbac.rules lists"},
		`{rbac: {mode: serviceAccounts}}`:                {"Every Cleaner must name a ServiceAccount"},
		`{rbac: {mode: namespaces, namespaces: [a, b]}}`: {"only the namespaces a, b"},
	} {
		t.Run(text, func(t *testing.T) {
			eachHelm(t, func(t *testing.T, h helm) {
				r, err := h.render("sweep", chartDir, values(t, text))
				must(t, err)
				for _, want := range wants {
					if !strings.Contains(r.notes, want) {
						t.Errorf("the notes lack %q:\n%s", want, r.notes)
					}
				}
				// In other modes, the Cleaners of a whole scan would lack rights or an account.
				scans := !strings.Contains(text, "mode:") || strings.Contains(text, "readOnly")
				if scans != strings.Contains(r.notes, "scan -o cleaner") {
					t.Errorf("the notes speak of Cleaners for what a scan found: %t, want %t", !scans, scans)
				}
			})
		})
	}
}
