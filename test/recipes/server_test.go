// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package recipes

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The recipes on a real API server. One comes after the other, because the second fills the cluster.
func TestServer(t *testing.T) {
	if t.Run("empty", testEmptyCluster) {
		testObjects(t)
		t.Run("outdated secrets", testOutdatedSecrets)
	}
}

// testEmptyCluster applies all recipes: none finds anything in a cluster that holds nothing but what the API server makes itself.
func testEmptyCluster(t *testing.T) {
	kubectl := exec.CommandContext(t.Context(), filepath.Join(env.Assets, "kubectl"), "--kubeconfig", env.Kubeconfig, "apply", "-k", root)
	out, err := kubectl.CombinedOutput()
	if err != nil || strings.Count(string(out), "created") != len(all(t)) {
		t.Fatalf("%v\n%s", err, out)
	}
	args := []string{"preview", "-o", "json", "--progress", "none", "--kubeconfig", env.Kubeconfig}
	for _, r := range all(t) {
		if !asksOthers(&r) {
			args = append(args, "-f", r.path("cleaner.yaml"))
		}
	}
	code, printed, errOut := call(t, args...)
	var report struct {
		Cleaners []struct {
			Cleaner, Incomplete string
			Matched, Failed     int64
			Objects             []struct{ Kind, Namespace, Name, Message string }
		}
	}
	if err := json.Unmarshal([]byte(printed), &report); code != 0 || err != nil {
		t.Fatalf("exit %d, %v\n%s%s", code, err, printed, errOut)
	}
	for _, c := range report.Cleaners {
		for _, o := range c.Objects {
			if o.Kind == "CustomResourceDefinition" { // those of this test, which have no objects
				c.Matched--
				continue
			}
			t.Errorf("%s finds something in an empty cluster: %+v", c.Cleaner, o)
		}
		if c.Matched > 0 || c.Failed > 0 || c.Incomplete != "" {
			t.Errorf("%s: %d matched, %d failed, %s", c.Cleaner, c.Matched, c.Failed, c.Incomplete)
		}
	}
}

// asksOthers reports whether a recipe reads metrics, which this cluster has not.
func asksOthers(r *recipe) bool {
	for _, s := range r.Cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		if s.WantsMetrics() {
			return true
		}
	}
	return false
}

const kustomization = `# kubectl apply -k config/recipes
# All recipes. Each one only reports. A Cleaner of a kind that your cluster does not have is not Ready, and says so.
# go test ./test/recipes -run TestGenerated -update writes this file.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
`

const page = "# Recipes\n\n" +
	"Each recipe is a Cleaner that answers one question. All of them only report, until you change their action. The plugin contains them. Look for a recipe,\n" +
	"write its Cleaner to a file, and see what it would find:\n\n" +
	"```sh\nkubectl cleaner init --list crash\nkubectl cleaner init crash-looping-pods > cleaner.yaml\nkubectl cleaner preview -f cleaner.yaml\n```\n\n" +
	"Each name links to a page that says what else the recipe may select, which rights it needs, and how to let it act. Flags of `init` change its kinds, namespaces, time,\n" +
	"schedule and action: see [Commands](commands.md). In a clone of your version,\n`kubectl apply -k config/recipes` applies all recipes. If your cluster does not\nhave the kind of a recipe, the Cleaner of this recipe is not `Ready`.\n\n" +
	"This page is written by `go test ./test/recipes -run TestGenerated -update`.\n"

// The table of the docs and the list for kustomize are those of the directories.
func TestGenerated(t *testing.T) {
	list, docs, group := strings.Builder{}, strings.Builder{}, ""
	list.WriteString(kustomization)
	docs.WriteString(page)
	for _, r := range all(t) {
		list.WriteString("- " + r.Name + "/cleaner.yaml\n")
		if r.Group != group {
			group = r.Group
			docs.WriteString("\n## " + strings.ToUpper(group[:1]) + group[1:] + "\n\n| Recipe | Finds | Needs |\n|---|---|---|\n")
		}
		cell := func(text string) string {
			return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
		}
		docs.WriteString("| [`" + r.Name + "`](../../config/recipes/" + r.Name + "/README.md) | " + cell(r.Summary()) + " | " + cell(r.Rights()) + " |\n")
	}
	for file, want := range map[string]string{root + "/kustomization.yaml": list.String(), "../../docs/reference/recipes.md": docs.String()} {
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != want {
			t.Errorf("%s is not what the recipes say (%v): go test ./test/recipes -run TestGenerated -update", file, err)
		}
	}
}
