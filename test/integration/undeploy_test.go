// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// The operator shares the namespace of k8s-cleaner, and whatever else is there: make undeploy leaves it alone.
func TestUndeployLeavesTheNamespace(t *testing.T) {
	t.Parallel()
	for _, overlay := range []string{"config/default", "config/overlays/service-accounts"} {
		dir := t.TempDir()
		// It renders as kubectl does, and notes everything else.
		fake := fmt.Sprintf("#!/bin/sh\n[ \"$1\" != kustomize ] || exec %q \"$@\"\necho \"$*\" >>%s/calls\ncase \"$*\" in *\"-f -\") cat >%s/deleted;; esac\n",
			filepath.Join(env.Assets, "kubectl"), dir, dir)
		kubectl := filepath.Join(dir, "kubectl")
		must(t, os.WriteFile(kubectl, []byte(fake), 0o700))
		out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "make", "-C", "../..", "--no-print-directory", "undeploy", "KUBECTL="+kubectl, "OVERLAY="+overlay).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		deleted, err := os.ReadFile(filepath.Join(dir, "deleted"))
		must(t, err)
		calls, err := os.ReadFile(filepath.Join(dir, "calls"))
		must(t, err)
		if strings.Contains(string(deleted), "kind: Namespace\n") || strings.Contains(string(calls), "delete namespace") {
			t.Errorf("it deletes the namespace:\n%s\n%s", calls, deleted)
		}
		for _, kind := range []string{"Deployment", "Service", "ServiceAccount", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"} {
			if !strings.Contains(string(deleted), "\nkind: "+kind+"\n") {
				t.Errorf("it leaves a %s", kind)
			}
		}
		if diff := cmp.Diff(withoutNamespace(t, overlay), documents(t, deleted)); diff != "" {
			t.Errorf("what is deployed and what is deleted differ (-deployed +deleted):\n%s", diff)
		}
		if !strings.Contains(string(calls), "-n projectsveltos delete --ignore-not-found secrets,configmaps -l app.kubernetes.io/part-of=kubecleaner") ||
			!strings.Contains(string(out), "The namespace projectsveltos stays") {
			t.Errorf("the calls are\n%s\nand it says\n%s", calls, out)
		}
	}
}

// withoutNamespace are the documents of an overlay but its Namespace, as they are deployed.
func withoutNamespace(t *testing.T, overlay string) []map[string]any {
	t.Helper()
	rendered, err := exec.CommandContext(t.Context(), filepath.Join(env.Assets, "kubectl"), "kustomize", "../../"+overlay).Output()
	must(t, err)
	return slices.DeleteFunc(documents(t, rendered), func(d map[string]any) bool { return d["kind"] == "Namespace" })
}

// documents are those of a stream, without the image, which make chooses.
func documents(t *testing.T, stream []byte) (all []map[string]any) {
	t.Helper()
	for text := range strings.SplitSeq("\n"+string(stream), "\n---\n") {
		var document map[string]any
		must(t, yaml.Unmarshal([]byte(regexp.MustCompile(`image: .*`).ReplaceAllString(text, "image: any")), &document))
		if document != nil {
			all = append(all, document)
		}
	}
	return all
}
