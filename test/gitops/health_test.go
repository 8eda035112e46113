// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package gitops tries what GitOps tools are given: the health check of config/argocd runs in the Lua interpreter that Argo CD uses.
package gitops

import (
	"os"
	"path/filepath"
	"testing"

	lua "github.com/yuin/gopher-lua"
	"sigs.k8s.io/yaml"
)

func TestArgoHealth(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "argocd", "cleaner_health.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var patch struct{ Data map[string]string }
	if err := yaml.UnmarshalStrict(text, &patch); err != nil {
		t.Fatal(err)
	}
	script := patch.Data["resource.customizations.health.apps.projectsveltos.io_Cleaner"]
	const waits = "Progressing: The operator has not looked at this version of the Cleaner yet"
	for name, test := range map[string]struct{ cleaner, want string }{
		"new":       {`obj = {metadata = {generation = 1}}`, waits},
		"no status": {`obj = {metadata = {generation = 1}, status = {}}`, waits},
		"edited": {
			`obj = {metadata = {generation = 2}, status = {observedGeneration = 1, conditions = {{type = "Ready", status = "True", message = "old"}}}}`, waits,
		},
		"scheduled": {
			`obj = {metadata = {generation = 2}, status = {observedGeneration = 2, conditions = {
				{type = "RunSucceeded", status = "False", message = "it failed"}, {type = "Ready", status = "True", message = "It runs every day."}}}}`,
			"Healthy: It runs every day.",
		},
		"suspended": {
			`obj = {metadata = {generation = 2}, status = {observedGeneration = 2, conditions = {
				{type = "Ready", status = "True", reason = "Suspended", message = "It is suspended."}}}}`,
			"Healthy: It is suspended.",
		},
		"stalled": {
			`obj = {metadata = {generation = 2}, status = {observedGeneration = 2, conditions = {
				{type = "Ready", status = "False", message = "a bad script"}, {type = "Stalled", status = "True", message = "a bad script"}}}}`,
			"Degraded: a bad script",
		},
		"a kind may come": {
			`obj = {metadata = {generation = 2}, status = {observedGeneration = 2, conditions = {{type = "Ready", status = "False", message = "no such kind"}}}}`,
			"Progressing: no such kind",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := lua.NewState()
			defer state.Close()
			if err := state.DoString(test.cleaner); err != nil {
				t.Fatal(err)
			}
			if err := state.DoString(script); err != nil {
				t.Fatal(err)
			}
			health, ok := state.Get(-1).(*lua.LTable)
			if !ok {
				t.Fatalf("the script returns %s", state.Get(-1))
			}
			if got := health.RawGetString("status").String() + ": " + health.RawGetString("message").String(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
