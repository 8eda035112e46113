// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Document is a run as JSON: the file beside a message, and the body of a Webhook.
type Document struct {
	Title string `json:"title"`
	// Page is where the run is on the page.
	Page string `json:"page,omitempty"`
	// Test is true for a sample: the run did not take place.
	Test        bool                `json:"test,omitempty"`
	Cleaner     string              `json:"cleaner"`
	Run         string              `json:"run"`
	RunUID      string              `json:"runUID"`
	Trigger     v1alpha1.RunTrigger `json:"trigger"`
	NominalTime time.Time           `json:"nominalTime"`
	Schedule    string              `json:"schedule"`
	Duration    string              `json:"duration"`
	Action      v1alpha1.Action     `json:"action"`
	DryRun      bool                `json:"dryRun"`
	// DryRunReason says why, when it is true.
	DryRunReason string            `json:"dryRunReason,omitempty"`
	Phase        v1alpha1.RunPhase `json:"phase"`
	Reason       string            `json:"reason"`
	Message      string            `json:"message"`
	v1alpha1.RunCounts
	// Objects are as many as the record had room for, ObjectsOmitted how many more there were.
	Objects        []v1alpha1.ObjectOutcome `json:"objects"`
	ObjectsOmitted int64                    `json:"objectsOmitted"`
	// Tallies are how many objects of each kind and namespace had which outcome, when not all are listed.
	Tallies []v1alpha1.ObjectTally `json:"tallies,omitempty"`
}

func newDocument(cleaner *v1alpha1.Cleaner, run *v1alpha1.CleanerRun, hide func(string) string) Document {
	safe := func(text string) string { return hide(clean(text)) }
	schedule := cmp.Or(cleaner.Status.Schedule, cleaner.Spec.Schedule)
	if cleaner.IsSuspended() {
		schedule = "suspended; " + schedule
	}
	d := Document{
		Cleaner:        clean(run.Spec.Cleaner),
		Run:            clean(run.Name),
		RunUID:         string(run.UID),
		Trigger:        run.Spec.Trigger,
		NominalTime:    run.Spec.NominalTime.Time,
		Schedule:       safe(schedule),
		Action:         run.Spec.Action,
		DryRun:         run.Spec.DryRun,
		Phase:          run.Status.Phase,
		Reason:         safe(run.Status.Reason),
		Message:        safe(run.Status.Message),
		RunCounts:      run.Status.RunCounts,
		Objects:        make([]v1alpha1.ObjectOutcome, len(run.Status.Objects)),
		ObjectsOmitted: run.Status.ObjectsOmitted,
	}
	if run.Spec.DryRun {
		d.DryRunReason = safe(run.Spec.WhyDryRun())
	}
	if run.Status.Duration != nil {
		d.Duration = run.Status.Duration.Duration.String()
	}
	for i, o := range run.Status.Objects {
		o.APIVersion, o.Kind, o.Namespace, o.Name = safe(o.APIVersion), safe(o.Kind), safe(o.Namespace), safe(o.Name)
		o.Reason, o.Message = safe(o.Reason), safe(o.Message)
		d.Objects[i] = o
	}
	for _, t := range run.Status.Tallies {
		t.APIVersion, t.Kind, t.Namespace = safe(t.APIVersion), safe(t.Kind), safe(t.Namespace)
		d.Tallies = append(d.Tallies, t)
	}
	return d
}

// file is the document for people who open it, and its name.
func (r *report) file() (name string, content []byte) {
	content, err := json.MarshalIndent(r.document, "", "  ")
	if err != nil { // there is nothing in it that could not be written
		content = []byte("{}")
	}
	return strings.NewReplacer("/", "-", `\`, "-", `"`, "-").
		Replace(v1alpha1.ShortName(cmp.Or(r.document.Run, "run"), 80)) +
		".json", content
}
