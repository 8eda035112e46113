// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

const (
	// maxReportBytes bounds the list in a Report: etcd takes at most 1.5 MiB at once.
	maxReportBytes = 512 << 10
	// fieldManager owns what the operator applies.
	fieldManager = "kubecleaner"
)

// WriteReport writes the Report of the Cleaner's name anew. It goes away with the Cleaner. With the storage Report it
// shows copies: those of the objects that the run touched or, when it touched none, those that an earlier run put
// there. unlisted is how many objects are not among the outcomes, because these were taken from the run's record.
func (j *Journal) WriteReport(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	run *v1alpha1.CleanerRun,
	outcomes []stage.Outcome,
	unlisted int64,
) error {
	if cleaner.CopyStorage() != v1alpha1.StorageReport {
		return j.applyReport(ctx, cleaner, reportSpec(run, outcomes, unlisted, maxReportBytes))
	}
	shown, err := j.shown(ctx, cleaner.Name)
	if err != nil {
		return err
	}
	if run.Status.Acted > 0 {
		spec := reportSpec(run, outcomes, unlisted, maxShownBytes)
		showBodies(&spec, bodies(run, outcomes, shown), outcomes)
		return j.applyReport(ctx, cleaner, spec)
	}
	earlier := otherThan(shown, outcomes)
	spec := reportSpec(run, outcomes, unlisted, maxShownBytes-sizeOf(earlier))
	return j.applyReport(ctx, cleaner, withEarlier(spec, earlier))
}

// applyReport sends the list also when it is empty, which omitempty leaves out: a list that is not sent stays with who
// wrote it before, and that was k8s-cleaner where it was replaced.
func (j *Journal) applyReport(ctx context.Context, cleaner *v1alpha1.Cleaner, spec v1alpha1.ReportSpec) error {
	report := &v1alpha1.Report{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Report"},
		ObjectMeta: metav1.ObjectMeta{Name: cleaner.Name, OwnerReferences: []metav1.OwnerReference{ownedBy(cleaner)}},
		Spec:       spec,
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(report)
	if err != nil {
		return wrap("writing Report "+cleaner.Name, err)
	}
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	if len(spec.ResourceInfo) == 0 {
		if err := unstructured.SetNestedSlice(content, []any{}, "spec", "resourceInfo"); err != nil {
			return wrap("writing Report "+cleaner.Name, err)
		}
	}
	apply := client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: content})
	return wrap(
		"writing Report "+cleaner.Name,
		j.client.Apply(ctx, apply, client.FieldOwner(fieldManager), client.ForceOwnership),
	)
}

// DropReport deletes the Report of a Cleaner's name, if there is one.
func (j *Journal) DropReport(ctx context.Context, name string) error {
	report := &v1alpha1.Report{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return wrap("deleting Report "+name, client.IgnoreNotFound(j.client.Delete(ctx, report)))
}

// reportSpec lists what the run handled, as far as there is room for it. What a stopped run would have touched is
// listed too, and says so, because people look here for it.
func reportSpec(run *v1alpha1.CleanerRun, outcomes []stage.Outcome, unlisted int64, room int) v1alpha1.ReportSpec {
	spec := v1alpha1.ReportSpec{Action: run.Spec.Action}
	if run.Status.Phase != v1alpha1.RunCompleted || run.Spec.DryRun { // a Scan that nobody asked for says why
		spec.Message = run.Status.Message
	}
	size, omitted := 0, 0
	for _, outcome := range outcomes {
		if !isReported(run, outcome) {
			continue
		}
		message := outcome.Message
		what := became[outcome.Result]
		if outcome.Result == v1alpha1.OutcomeMatched {
			what = outcome.Detail // of one that is protected
		}
		if what != "" {
			message = strings.TrimSuffix(what+": "+message, ": ")
		}
		info := v1alpha1.ResourceInfo{Resource: reference(outcome.Object), Message: message}
		if size += info.Size(); size > room {
			omitted++
			continue
		}
		spec.ResourceInfo = append(spec.ResourceInfo, info)
	}
	if unlisted > 0 {
		say(
			&spec,
			"%d more objects are not listed: this Report could not be written when the run ended, and the record of the run does not list them.",
			unlisted,
		)
	}
	if omitted > 0 {
		say(&spec, "%d more objects are not listed: a Report holds at most %d KiB.", omitted, maxReportBytes>>10)
	}
	return spec
}

// isReported reports whether the Report lists an object: what the run handled, or would have.
func isReported(run *v1alpha1.CleanerRun, outcome stage.Outcome) bool {
	return outcome.Result == v1alpha1.OutcomeNotActed || outcome.Handled(run.Spec.Action) ||
		run.Status.Plan != nil && outcome.Result == v1alpha1.OutcomePlanned
}

// became is with what an object's message begins in a Report when the run did something else to it than its action
// says.
var became = map[v1alpha1.OutcomeResult]string{
	v1alpha1.OutcomeNotActed:    "not acted on",
	v1alpha1.OutcomeTerminating: "being deleted",
	v1alpha1.OutcomePlanned:     "waits for approval",
	v1alpha1.OutcomeGone:        "gone already",
	v1alpha1.OutcomeFoundGone:   "found gone after the run was cut off",
}

func reference(o object.Object) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: o.Kind.APIVersion(), Kind: o.Kind.Kind, Namespace: o.Namespace, Name: o.Name}
}

// say adds a sentence to the message.
func say(spec *v1alpha1.ReportSpec, format string, args ...any) {
	spec.Message = strings.TrimSpace(spec.Message + " " + fmt.Sprintf(format, args...))
}
