// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package summary says in words what became of a run, as its record and its outcomes have it.
package summary

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// Counts says what the run did, in counts, of the objects that matched and of those that could not be judged.
func Counts(record *v1alpha1.CleanerRun, outcomes []stage.Outcome, unjudged int64) string {
	counts := record.Status.RunCounts
	done := map[v1alpha1.Action]string{
		v1alpha1.ActionDelete:    "deleted",
		v1alpha1.ActionTransform: "changed",
	}[record.Spec.Action]
	text := fmt.Sprintf("%d of %s matched", counts.Matched, Objects(counts.Considered))
	if done == "" && unjudged > 0 {
		text += fmt.Sprintf(", %d not judged", unjudged)
	}
	switch {
	case record.Spec.DryRun:
		return text + "; nothing was touched, because " + record.Spec.WhyDryRun() + "."
	case done == "":
		return text + "."
	}
	results := map[v1alpha1.OutcomeResult]int64{}
	for _, outcome := range outcomes {
		results[outcome.Result]++
	}
	ending, gone, found := results[v1alpha1.OutcomeTerminating], results[v1alpha1.OutcomeGone],
		results[v1alpha1.OutcomeFoundGone]
	if record.Spec.Action != v1alpha1.ActionDelete {
		gone = 0 // they are left alone
	}
	denied, kindGone := results[v1alpha1.OutcomeDenied], results[v1alpha1.OutcomeKindGone]
	held := endingBytes(outcomes)
	text += fmt.Sprintf("; %d %s", counts.Acted-ending-gone-found, done) + Volumes(counts.FreedBytes-held)
	for _, part := range []struct {
		n     int64
		words string
	}{
		{ending, "being deleted" + Volumes(held)},
		{found, "found gone after the run was cut off"},
		{gone, "gone already"},
		{counts.Skipped, "left alone"},
		{denied, "denied"},
		{kindGone, "whose kind is not served any more"},
		{counts.Failed - denied - kindGone - unjudged, "failed"},
		{unjudged, "not judged"},
	} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.words)
		}
	}
	return text + "."
}

// endingBytes is how large the volumes are that are still being deleted.
func endingBytes(outcomes []stage.Outcome) (bytes int64) {
	for i := range outcomes {
		if outcomes[i].Result == v1alpha1.OutcomeTerminating {
			bytes += outcomes[i].VolumeBytes
		}
	}
	return bytes
}

// Volumes says how large volumes are that are deleted, as the objects themselves say it.
func Volumes(bytes int64) string {
	if bytes <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%s of volumes)", resource.NewQuantity(bytes, resource.BinarySI))
}

// Much draws attention to a Delete that took more than half of what it looked at. It says nothing of one that is
// limited: the limit let it pass.
func Much(record *v1alpha1.CleanerRun, limited bool) string {
	counts := record.Status.RunCounts
	if limited || record.Spec.Action != v1alpha1.ActionDelete || counts.Considered < 2 ||
		counts.Acted*2 <= counts.Considered {
		return ""
	}
	return " That is more than half of the objects considered; blastRadiusLimit can stop such a run."
}

// DeletedWith says what was deleted with Namespaces and claims. For other kinds, preview says it.
func DeletedWith(record *v1alpha1.CleanerRun, outcomes []stage.Outcome) string {
	var kinds []object.Kind
	for i := range outcomes {
		o := &outcomes[i]
		if guard.TakesContent(o.Kind) && o.Handled(record.Spec.Action) && record.Spec.Action == v1alpha1.ActionDelete {
			kinds = append(kinds, o.Kind)
		}
	}
	if with := guard.DeletedWith(kinds, nil); with != "" {
		return " " + with
	}
	return ""
}

// Objects is "1 object" or "3 objects".
func Objects(n int64) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}

// OneLine puts joined errors on one line.
func OneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; ")
}
