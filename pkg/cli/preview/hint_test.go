// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// A Cleaner that would touch most objects is to get a limit first, and one that would do nothing is not to be applied.
func TestNextStep(t *testing.T) {
	cleaner := &v1alpha1.Cleaner{}
	cleaner.Spec.Schedule = "0 3 * * *"
	cleaner.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{Kind: "Secret", LabelFilters: []v1alpha1.LabelFilter{{}}}}
	j := &job{options: &options{files: []string{"a.yaml"}}, documents: map[*v1alpha1.Cleaner]*manifest.Document{cleaner: {File: "a.yaml"}}}
	limit := func(share string) string {
		return "first set spec.blastRadiusLimit, for example {maxPercentage: 10}: " + share + " objects would be deleted"
	}
	apply := "to have the operator do this every day at 03:00 UTC: kubectl apply -f a.yaml"
	for _, c := range []struct {
		considered, matched, acts int64
		want                      string
	}{{8, 8, 7, limit("7 of 8")}, {8, 3, 3, apply}, {3, 3, 3, limit("3 of 3")}, {2, 2, 2, limit("2 of 2")}, {1, 1, 1, apply}, {1200, 1200, 0, ""}, {8, 0, 0, apply}} {
		found := &result{Action: v1alpha1.ActionDelete, Considered: c.considered, Matched: c.matched, WouldAct: c.acts}
		if got := j.next(cleaner, found, nil); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	j.others = 1
	const more = "kubectl apply -f a.yaml would also apply 1 object of this file that is no Cleaner; look at it first"
	if got := j.next(cleaner, &result{Action: v1alpha1.ActionDelete, Considered: 8, Matched: 3, WouldAct: 3}, nil); got != more {
		t.Errorf("of a file with another object: %q, want %q", got, more)
	}
	j.files = []string{"dir"}
	if got := j.next(cleaner, &result{Action: v1alpha1.ActionDelete, Considered: 8, Matched: 3, WouldAct: 3}, nil); got != "" {
		t.Errorf("of a directory: %q", got)
	}
	j.namespaces = []string{"shop"}
	for acts, want := range map[int64]string{7: limit("7 of 8"), 3: ""} {
		if got := j.next(cleaner, &result{Action: v1alpha1.ActionDelete, Considered: 8, Matched: 8, WouldAct: acts}, []string{"a"}); got != want {
			t.Errorf("of one namespace: %q, want %q", got, want)
		}
	}
}

// The hint for too many is about all objects, also where those of one namespace are shown.
func TestHintOfOneNamespace(t *testing.T) {
	cleaner, out := &v1alpha1.Cleaner{}, &strings.Builder{}
	found := result{Action: v1alpha1.ActionDelete, Considered: 8, Matched: 8, WouldAct: 8}
	session := &terminal.Session{IOStreams: genericiooptions.IOStreams{ErrOut: out}, Color: "never"}
	j := &job{options: &options{Session: session, output: "table", namespaces: []string{"shop"}}, results: []result{found}}
	j.hint([]*v1alpha1.Cleaner{cleaner}, []string{"a"})
	if !strings.HasPrefix(out.String(), "hint: first set spec.blastRadiusLimit") {
		t.Errorf("it says %q", out)
	}
}
