// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// asJSON reads the only object that a command printed.
func (s *site) asJSON(got session) (object struct {
	Kind     string
	Metadata struct {
		Name          string
		Annotations   map[string]string
		ManagedFields []any
	}
	Spec map[string]any
},
) {
	s.Helper()
	if err := json.Unmarshal([]byte(got.out), &object); err != nil || object.Metadata.ManagedFields != nil {
		s.Errorf("%v, exit %d:\n%s%s", err, got.code, got.out, got.errOut)
	}
	return object
}

// TestChangedObjectsArePrinted: -o prints what a command changed, as kubectl patch does, and the text goes elsewhere.
func TestChangedObjectsArePrinted(t *testing.T) {
	s := newSite(t)
	s.deployOperator(s.namespace)
	ours, other, _ := s.team()
	const suspended = "cleaner \"unused-NS\" is suspended: it does not run by its schedule\n"
	s.wants(s.call(t.Context(), nil, "suspend", ours.Name, "-o", "name"), codes.ExitDone, "cleaner/unused-NS\n", suspended)
	got := s.asJSON(s.call(t.Context(), nil, "suspend", ours.Name, "-o", "json")) // also when it is suspended already
	if got.Kind != "Cleaner" || got.Metadata.Name != ours.Name || got.Spec["suspend"] != true {
		t.Errorf("it printed %+v", got)
	}
	resumed := s.call(t.Context(), nil, "resume", ours.Name, other.Name, "-o", "yaml")
	documents := strings.Split(resumed.out, "\n---\n")
	for i, text := range documents {
		var c v1alpha1.Cleaner
		must(t, yaml.UnmarshalStrict([]byte(text), &c))
		if want := []string{ours.Name, other.Name}[i]; c.Name != want || c.Kind != "Cleaner" || c.IsSuspended() {
			t.Errorf("document %d is\n%s", i, text)
		}
	}
	if len(documents) != 2 || resumed.code != codes.ExitDone {
		t.Errorf("exit %d, %d documents:\n%s", resumed.code, len(documents), resumed.out)
	}

	sees := s.obeys(ours, s.namespace, 1)
	stopped := s.asJSON(s.call(t.Context(), sees, "stop", "-n", s.namespace, "-o", "json"))
	if stopped.Kind != "Namespace" || stopped.Metadata.Annotations[v1alpha1.StopAnnotation] == "" {
		t.Errorf("it printed %+v", stopped)
	}
	s.wants(s.call(t.Context(), sees, "stop", "-o", "name"), codes.ExitDone, "namespace/NS\n",
		"namespace NS is annotated cleaner/stop already: \"by admin at 2026-11-21T12:00:00Z\"\n"+whatStops)
	s.call(t.Context(), sees, "resume", "-n", s.namespace)
	(&operator{site: s, cleaner: ours}).knows(s.namespace)
	again := s.asJSON(s.call(t.Context(), nil, "resume", "-o", "json"))
	if again.Kind != "Namespace" || again.Metadata.Annotations[v1alpha1.StopAnnotation] != "" {
		t.Errorf("it printed %+v", again)
	}
}

// TestChangedRunsArePrinted is of the commands about one run.
func TestChangedRunsArePrinted(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	o := &operator{site: s, cleaner: c}
	run := o.runName()
	busy := &v1alpha1.ActiveRun{Name: run, NominalTime: nominal, Trigger: v1alpha1.TriggerSchedule}
	o.status(func(c *v1alpha1.Cleaner) { c.Status.ActiveRun = busy })
	cancelled := s.asJSON(s.call(t.Context(), meanwhile(func(int) {
		o.status(func(c *v1alpha1.Cleaner) { c.Status.ActiveRun = nil })
	}), "cancel", run, "-o", "json"))
	if cancelled.Kind != "Cleaner" || cancelled.Metadata.Annotations[v1alpha1.CancelRunAnnotation] != run {
		t.Errorf("it printed %+v", cancelled)
	}

	plan := s.planned(c)
	got := s.call(t.Context(), meanwhile(nothing), "approve", plan.Name, "--yes", "-o", "json")
	if said := s.asJSON(got); said.Kind != "CleanerApproval" || said.Spec["decision"] != "Approve" || said.Spec["by"] != "admin" {
		t.Errorf("it printed %+v", said)
	}
	if !strings.HasPrefix(got.errOut, "plan of run "+plan.Name) {
		t.Errorf("the plan is not shown:\n%s", got.errOut)
	}
	other := s.cleaner(func(c *v1alpha1.Cleaner) { c.Name = "other-" + s.namespace })
	plan = s.planned(other)
	if got := s.call(t.Context(), meanwhile(nothing), "reject", plan.Name, "--yes", "-o", "name"); got.out != "cleanerapproval/"+plan.Name+"\n" {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.errOut)
	}
}
