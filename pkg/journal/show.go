// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// maxShownBytes bounds what a Report with copies lists, so that the whole of it stays below maxReportBytes.
const maxShownBytes = 480 << 10

// showCopies puts copies of what a run is going to touch into the Cleaner's Report, before anything is touched, as
// k8s-cleaner did. What an earlier run put there stays as far as there is room, until this run has touched something.
func (j *Journal) showCopies(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	run *v1alpha1.CleanerRun,
	victims []Victim,
) error {
	shown, err := j.shown(ctx, cleaner.Name)
	if err != nil {
		return err
	}
	planned := make([]stage.Outcome, len(victims))
	for i, v := range victims {
		// Listed as if it had happened: the end of the run sets it right.
		planned[i] = stage.Outcome{Verdict: stage.Verdict{Candidate: v.Candidate}, Result: v1alpha1.OutcomeDeleted}
		if run.Spec.Action == v1alpha1.ActionTransform {
			planned[i].Result = v1alpha1.OutcomeTransformed
		}
	}
	spec := reportSpec(
		&v1alpha1.CleanerRun{Spec: run.Spec, Status: v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted}},
		planned,
		0,
		maxShownBytes,
	)
	say(&spec, "Run %s is going on, and these are the objects that it is going to touch.", run.Name)
	showBodies(&spec, bodies(run, planned, nil), planned)
	return j.applyReport(ctx, cleaner, withEarlier(spec, otherThan(shown, planned)))
}

// shown are the objects of the Cleaner's Report of which it shows copies. Those of Secrets, which k8s-cleaner wrote
// there, are none: they are never shown.
func (j *Journal) shown(ctx context.Context, name string) ([]v1alpha1.ResourceInfo, error) {
	var report v1alpha1.Report
	err := j.client.Get(ctx, client.ObjectKey{Name: name}, &report)
	if apiserver.IsAbsent(err, name) {
		return nil, nil
	}
	copied := slices.DeleteFunc(report.Spec.ResourceInfo, func(info v1alpha1.ResourceInfo) bool {
		of := info.Resource
		return len(info.FullResource) == 0 || of.APIVersion == "v1" && of.Kind == "Secret"
	})
	return copied, wrap("reading Report "+name, err)
}

// bodies are the copies that may be shown: never those of Secrets. A run that was taken over does not have the objects
// any more: theirs are in the Report already.
func bodies(
	run *v1alpha1.CleanerRun,
	outcomes []stage.Outcome,
	shown []v1alpha1.ResourceInfo,
) map[corev1.ObjectReference][]byte {
	found := make(map[corev1.ObjectReference][]byte, len(outcomes))
	for _, info := range shown {
		found[info.Resource] = info.FullResource
	}
	for _, outcome := range outcomes {
		name := reference(outcome.Object)
		switch {
		case outcome.IsSecret() || !outcome.Handled(run.Spec.Action):
			delete(found, name)
		case len(outcome.Raw) > 0 && !isStateless(outcome.Object):
			if body, err := fullResource(outcome.Object); err == nil {
				found[name] = body
			}
		}
	}
	return found
}

// fullResource is the object with apiVersion and kind, as k8s-cleaner wrote it, without managedFields.
func fullResource(o object.Object) ([]byte, error) {
	o.Raw = object.AppendWithoutManagedFields(nil, o.Raw)
	value, err := o.Value()
	if err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// showBodies puts the copies into the list, as far as they fit, and says how many do not.
func showBodies(spec *v1alpha1.ReportSpec, bodies map[corev1.ObjectReference][]byte, outcomes []stage.Outcome) {
	room, omitted := maxShownBytes-sizeOf(spec.ResourceInfo), 0
	for i := range spec.ResourceInfo {
		info := &spec.ResourceInfo[i]
		body := bodies[info.Resource]
		if len(body) == 0 {
			continue
		}
		with := *info
		with.FullResource = body
		if more := with.Size() - info.Size(); more <= room {
			room -= more
			*info = with
		} else {
			omitted++
		}
	}
	if omitted > 0 {
		say(
			spec,
			"%d copies are not shown: a Report holds at most %d KiB. They are in Secrets, where kubectl cleaner restore finds them.",
			omitted,
			maxReportBytes>>10,
		)
	}
	if slices.ContainsFunc(outcomes, func(o stage.Outcome) bool { return o.IsSecret() }) {
		say(spec, "Copies of Secrets are never shown: they are in Secrets of the operator's namespace.")
	}
}

// otherThan are the objects shown that none of the outcomes is about.
func otherThan(shown []v1alpha1.ResourceInfo, outcomes []stage.Outcome) []v1alpha1.ResourceInfo {
	names := make(map[corev1.ObjectReference]bool, len(outcomes))
	for _, outcome := range outcomes {
		names[reference(outcome.Object)] = true
	}
	return slices.DeleteFunc(shown, func(info v1alpha1.ResourceInfo) bool { return names[info.Resource] })
}

// withEarlier adds what an earlier run put into the Report, as far as there is room.
func withEarlier(spec v1alpha1.ReportSpec, earlier []v1alpha1.ResourceInfo) v1alpha1.ReportSpec {
	room, kept := maxShownBytes-sizeOf(spec.ResourceInfo), 0
	for _, info := range earlier {
		if size := info.Size(); size <= room {
			room -= size
			spec.ResourceInfo = append(spec.ResourceInfo, info)
			kept++
		}
	}
	if kept > 0 {
		say(&spec, "What is listed last (%d) is of an earlier run, with the copies that it made.", kept)
	}
	return spec
}

func sizeOf(list []v1alpha1.ResourceInfo) int {
	size := 0
	for i := range list {
		size += list[i].Size()
	}
	return size
}
