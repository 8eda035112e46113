// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// crowd is a directory with manifests of many objects, and Cleaners for them.
func crowd(t *testing.T) (dir, dump string) {
	t.Helper()
	dir = t.TempDir()
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {namespace: %s, name: map-%02d}, data: {mode: on-call}}\n", []string{"shop", "till"}[i/40], i)
	}
	for i := range 17 {
		fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {namespace: kube-system, name: kept-%02d}}\n", i)
		owner := `ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: r, controller: true}]`
		fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: pod-%02d, labels: {all: \"\"}, %s}}\n", i, map[bool]string{true: owner, false: "labels: {}"}[i > 1])
	}
	return dir, writeFile(t, filepath.Join(dir, "dump"), strings.ReplaceAll(text.String(), `labels: {all: ""}, labels: {}`, `labels: {all: ""}`))
}

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// cleanerFile writes a Cleaner with one selector.
func cleanerFile(t *testing.T, dir, name, selector, rest string) string {
	t.Helper()
	return writeFile(t, filepath.Join(dir, name+".yaml"), fmt.Sprintf(`apiVersion: apps.projectsveltos.io/v1alpha1
kind: Cleaner
metadata: {name: %s}
spec:
  schedule: "0 3 * * *"
  resourcePolicySet: {resourceSelectors: [%s]}
%s`, name, selector, rest))
}

const previewSharedNote = "note: objects that differ only in their names share a row; to list each: --limit 0\n"

func TestPreviewDoesNotFlood(t *testing.T) {
	dir, dump := crowd(t)
	path := cleanerFile(t, dir, "switch-off", `{group: "", version: v1, kind: ConfigMap}`, "  action: Transform\n  mergePatch: {data: {mode: idle}}\n")
	got := call(t.Context(), t, "", nil, "preview", "-f", path, "--from", dump)
	for _, want := range []string{
		"shop          ConfigMap   40 objects   be changed      every ConfigMap\n",
		"till          ConfigMap   20 objects   be changed      every ConfigMap\n",
		"kube-system   ConfigMap   17 objects   stay as it is   namespace kube-system is protected (--protected-namespaces)\n",
		"-  mode: on-call\n+  mode: idle\n",
		"the same patch for 59 more: shop/map-01, shop/map-02, shop/map-03, ",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("there is no %q in\n%s", want, got.out)
		}
	}
	if lines := strings.Count(got.out, "\n"); lines > 20 || got.code != codes.ExitDone {
		t.Errorf("%d lines, exit code %d", lines, got.code)
	}
	const counts, step = "77 of 77 objects match; 60 would be changed, 17 are protected\n", "hint: first set spec.blastRadiusLimit, for example {maxPercentage: 10}: 60 of 77 objects would be changed\n"
	for flags, want := range map[string]string{
		"":          counts + previewSharedNote + step,
		"--limit 1": "note: 20 more objects: 20 ConfigMap in till; --limit 0 lists them all\n" + counts + previewSharedNote + step,
		"-o wide":   "note: 27 more objects: 17 ConfigMap in kube-system, 10 ConfigMap in till; --limit 0 lists them all\n" + counts + step,
		"--limit 0": counts + step,
	} {
		got := call(t.Context(), t, "", nil, append([]string{"preview", "-f", path, "--from", dump}, strings.Fields(flags)...)...)
		if got.errOut != want {
			t.Errorf("%s: standard error is\n%s", flags, got.errOut)
		}
	}
	got = call(t.Context(), t, "", nil, "preview", "-f", path, "--from", dump, "--limit", "0", "-o", "wide")
	if strings.Count(got.out, "\n") < 77 || strings.Contains(got.out, "17 objects") || strings.Contains(got.errOut, "more object") {
		t.Errorf("--limit 0 does not show all:\n%s%s", got.out, got.errOut)
	}
}

// It is said which objects get no copy, and applying the Cleaner is proposed only where nothing is wrong with it.
func TestPreviewSaysWhatGetsNoCopy(t *testing.T) {
	dir, dump := crowd(t)
	pods := `{group: "", version: v1, kind: Pod, namespace: shop, labelFilters: [{key: all, operation: Has}]}`
	path := cleanerFile(t, dir, "pods", pods, "  action: Delete\n")
	got := call(t.Context(), t, "", nil, "preview", "-f", path, "--from", dump)
	want := "17 of 17 objects match; 17 would be deleted\n" +
		"note: no copy is kept of 15 of the 17 objects, so no restore brings them back: 15 Pods (shop/pod-02, shop/pod-03, shop/pod-04 and 12 more), because a controller creates them again\n" +
		previewSharedNote +
		"hint: first set spec.blastRadiusLimit, for example {maxPercentage: 10}: 17 of 17 objects would be deleted\n"
	if got.errOut != want {
		t.Errorf("standard error is\n%s", got.errOut)
	}
	path = cleanerFile(t, dir, "none", pods, "  action: Delete\n  rollback: {storage: None}\n")
	got = call(t.Context(), t, "", nil, "preview", "-f", path, "--from", dump)
	if want := "note: no copy is kept of 17 of the 17 objects, so no restore brings them back: 17 Pods (shop/pod-00, shop/pod-01, shop/pod-02 and 14 more), because rollback.storage is None\n"; !strings.Contains(got.errOut, want) {
		t.Errorf("standard error is\n%s", got.errOut)
	}
}

// One Cleaner with a mistake does not keep the others from being judged, and nobody is told to ask lint for what was told.
func TestPreviewOfAMistakeAmongOthers(t *testing.T) {
	dir, dump := crowd(t)
	good := cleanerFile(t, dir, "good", `{group: "", version: v1, kind: Pod}`, "  action: Scan\n")
	bad := cleanerFile(t, dir, "bad", `{group: "", version: v1, kind: Pod, minAge: 7d}`, "  action: Scan\n")
	got := call(t.Context(), t, "", nil, "preview", "-f", good, "-f", bad, "--from", dump)
	if got.code != codes.ExitError || !strings.Contains(got.out, "17 objects   be reported") || strings.Contains(got.errOut, "lint") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.errOut)
	}
	if want := "note: 1 error in the files; only the 1 Cleaner without any is judged\n"; !strings.Contains(got.errOut, want) {
		t.Errorf("there is no %q in\n%s", want, got.errOut)
	}
}

// A cluster that does not answer is one line, whatever the number of Cleaners.
func TestPreviewOfAnUnreachableCluster(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		cleanerFile(t, dir, name, `{group: "", version: v1, kind: Pod, matchConditions: [{name: a, expression: "true"}]}`, "  action: Scan\n")
	}
	kubeconfig := filepath.Join(t.TempDir(), "config")
	writeFile(t, kubeconfig, "{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: \"https://127.0.0.1:1\"}}], contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a}]}")
	got := call(t.Context(), t, "", nil, "preview", "-f", dir, "--kubeconfig", kubeconfig)
	want := session{"", "error: cannot reach the API server: dial tcp 127.0.0.1:1: connect: connection refused\nhint: kubectl config view --minify --kubeconfig " + kubeconfig + " shows which cluster is asked   [E-CLU-001]\n", codes.ExitError}
	if got != want {
		t.Errorf("%+v", got)
	}
}

// What manages an object may make it again, or undo a change: it is named, also where rows are shown as they are found.
func TestPreviewNamesTheManager(t *testing.T) {
	dir := t.TempDir()
	dump := writeFile(t, filepath.Join(dir, "dump"), `{apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop, name: a, annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: shop}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop, name: b, labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop, name: c, annotations: {argocd.argoproj.io/tracking-id: "shop:/ConfigMap:shop/c"}}}
`)
	const chooses = `
    aggregatedSelection: |
      function evaluate()
        local chosen = {}
        for _, r in ipairs(resources) do table.insert(chosen, {resource = r, message = "no Pod mounts it"}) end
        return {resources = chosen}
      end
  action: Delete
`
	const says = `  action: Transform
  transform: |
    function transform()
      obj.data = {a = "b"}
      return {resource = obj, message = "set"}
    end
`
	for _, rest := range []string{
		"  action: Delete\n", "  action: Scan\n", "  action: Transform\n  mergePatch: {data: {a: b}}\n", chooses, says,
	} {
		path := cleanerFile(t, dir, "maps", `{group: "", version: v1, kind: ConfigMap}`, rest)
		if rest == chooses {
			text, err := os.ReadFile(path)
			must(t, err)
			path = writeFile(t, path, strings.Replace(string(text), "{resourceSelectors: [{group: \"\", version: v1, kind: ConfigMap}]}",
				"\n    resourceSelectors: [{group: \"\", version: v1, kind: ConfigMap}]", 1))
		}
		got := call(t.Context(), t, "", nil, "preview", "-f", path, "--from", dump)
		for _, want := range []string{
			"managed by Helm release shop/web\n", "managed by Flux Kustomization flux/apps\n", "managed by Argo CD application shop\n",
		} {
			if strings.Count(got.out, want) != 1 {
				t.Errorf("%s: there is no %q in\n%s%s", rest, want, got.out, got.errOut)
			}
		}
	}
}

// TestPreviewSaysWhatADumpLacks: in one line, whatever the number of kinds and Cleaners, and with exit code 4.
func TestPreviewSaysWhatADumpLacks(t *testing.T) {
	dir := t.TempDir()
	dump := writeFile(t, filepath.Join(dir, "dump"), "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop, name: a}}\n")
	const maps = `{group: "", version: v1, kind: ConfigMap}`
	many := maps
	for _, kind := range strings.Fields("Pod Secret Service ServiceAccount Endpoints PersistentVolumeClaim PersistentVolume Node Event LimitRange ResourceQuota PodTemplate") {
		many += fmt.Sprintf(`, {group: "", version: v1, kind: %s}`, kind)
	}
	const unused = `{group: "", version: v1, kind: ConfigMap, finding: {type: Unused}}`
	const ten = "Endpoints, Event, LimitRange, Node, PersistentVolume, PersistentVolumeClaim, Pod, PodTemplate, ResourceQuota, Secret and 2 more"
	const sources = "ClusterRole.rbac.authorization.k8s.io, ControllerRevision.apps, CronJob.batch, DaemonSet.apps, "
	for name, test := range map[string]struct{ selectors, lacks, says string }{
		"selected":          {maps + `, {group: apps, version: v1, kind: Deployment}`, "Deployment.apps", "so what Cleaners would do with them is not known"},
		"many selected":     {many, ten, "so what Cleaners would do with them is not known"},
		"namespaces":        {`{group: "", version: v1, kind: ConfigMap, namespaceSelector: env=prod}`, "Namespace", "so what Cleaners would do with them is not known"},
		"users":             {unused, sources, " more, so whether they use 1 object that may be unused is not known"},
		"selected and used": {unused + `, {group: "", version: v1, kind: Pod}`, sources, "so what Cleaners would do with them, and whether they use 1 object that may be unused, is not known"},
	} {
		path := cleanerFile(t, dir, "maps", test.selectors, "  action: Scan\n")
		got := call(t.Context(), t, "", nil, "preview", "-f", path, "--from", dump)
		if got.code != codes.ExitPartial || !strings.Contains(got.errOut, "error: the manifests hold no "+test.lacks) || !strings.Contains(got.errOut, test.says) ||
			strings.Count(got.errOut, "error:") != 1 || strings.Count(got.errOut, "\n") != 3+strings.Count(got.errOut, "note: ") {
			t.Errorf("%s: exit %d:\n%s%s", name, got.code, got.out, got.errOut)
		}
		if got := call(t.Context(), t, "", nil, "preview", "-f", path, "--from", dump, "--complete"); got.code != codes.ExitDone {
			t.Errorf("%s, complete: exit %d:\n%s%s", name, got.code, got.out, got.errOut)
		}
	}
	// A script over all objects may take what it does not see for absent.
	path := writeFile(t, filepath.Join(dir, "aggregated.yaml"), `apiVersion: apps.projectsveltos.io/v1alpha1
kind: Cleaner
metadata: {name: aggregated}
spec:
  schedule: "0 3 * * *"
  action: Scan
  resourcePolicySet:
    resourceSelectors: [`+maps+`, {group: "", version: v1, kind: Pod}]
    aggregatedSelection: |
      function evaluate()
        local found, pods = {}, 0
        for _, r in ipairs(resources) do
          if r.kind == "Pod" then pods = pods + 1 else table.insert(found, {resource = r}) end
        end
        return {resources = pods == 0 and found or {}}
      end
`)
	if got := call(t.Context(), t, "", nil, "preview", "-f", path, "--from", dump, "-o", "name"); got.code != codes.ExitPartial || got.out != "" ||
		!strings.Contains(got.errOut, "error: the manifests hold no Pod") {
		t.Errorf("a script over all objects: exit %d:\n%s%s", got.code, got.out, got.errOut)
	}
	if got := call(t.Context(), t, "", nil, "preview", "-f", path, "--from", dump, "-o", "name", "--complete"); got.code != codes.ExitDone || got.out != "ConfigMap/shop/a\n" {
		t.Errorf("a script over all objects, complete: exit %d:\n%s%s", got.code, got.out, got.errOut)
	}
	for _, args := range [][]string{{"scan"}, {"scan", "--kind", "Pod"}} {
		got := call(t.Context(), t, "", nil, append(args, "--from", dump)...)
		if got.code != codes.ExitPartial || strings.Count(got.errOut, "error: the manifests hold nothing of ") != 1 || strings.Count(got.errOut, "\n") != 3 {
			t.Errorf("%s: exit %d:\n%s%s", args, got.code, got.out, got.errOut)
		}
	}
}

// The line of an error in the aggregated script is that of the file.
func TestPreviewPlacesTheAggregatedScript(t *testing.T) {
	dir := t.TempDir()
	dump := writeFile(t, filepath.Join(dir, "dump"), "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop, name: a}}")
	path := writeFile(t, filepath.Join(dir, "a.yaml"), `apiVersion: apps.projectsveltos.io/v1alpha1
kind: Cleaner
metadata: {name: a}
spec:
  schedule: "0 3 * * *"
  action: Scan
  resourcePolicySet:
    resourceSelectors: [{group: "", version: v1, kind: ConfigMap}]
    aggregatedSelection: |
      function evaluate()
        return {resources = resources[1].none.more}
      end
`)
	got := call(t.Context(), t, "", nil, "preview", "-f", path, "--from", dump)
	want := "hint: fix the script at " + path + ":11; the Cleaner would touch nothing until then"
	if !strings.Contains(got.errOut, want) || got.code != codes.ExitPartial {
		t.Errorf("exit %d, want %q in:\n%s", got.code, want, got.errOut)
	}
}
