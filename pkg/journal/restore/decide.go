// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// facts are what is known of an object, besides its copy.
type facts struct {
	// run is the UID of the CleanerRun.
	run string
	// outcome is what became of the object in the run. Empty when the run was cut off before that was written down, and
	// has not ended.
	outcome v1alpha1.OutcomeResult
	// named is true when the object was asked for by name.
	named bool
	// live is the object of the name as it is now. Nil when there is none.
	live *object.Object
	// owners says of each owner in the copy, by UID, why the reference to it is not kept. Empty for one that is there.
	owners map[string]string
	// returns is true when the same restore brings back the Namespace that the object is, or is in.
	returns bool
	// subresource is true when the kind's status is written by itself.
	subresource bool
	// resent is what the API server would make of the live object if a Transform's patch were sent again. Nil when it was
	// not asked.
	resent map[string]any
}

// plan is what is to become of one object.
type plan struct {
	step   Step
	result Result
	reason string
	notes  []string
	// body is what is sent.
	body map[string]any
	// doubtful is true when sending the patch again, as a trial, may show that nobody edited what it wrote.
	doubtful bool
}

func leave(result Result, format string, args ...any) plan {
	return plan{result: result, reason: fmt.Sprintf(format, args...)}
}

// touched are the outcomes of objects that a run deleted or changed, or may have.
var touched = []v1alpha1.OutcomeResult{
	"",
	v1alpha1.OutcomePlanned,
	v1alpha1.OutcomeDeleted,
	v1alpha1.OutcomeFoundGone,
	v1alpha1.OutcomeTerminating,
	v1alpha1.OutcomeTransformed,
}

// vanished are the outcomes of objects that are gone, or are going, by the run or, perhaps, while it was cut off.
var vanished = []v1alpha1.OutcomeResult{v1alpha1.OutcomeDeleted, v1alpha1.OutcomeFoundGone, v1alpha1.OutcomeTerminating}

// unknown is the outcome of an object of a run that has ended, and left nothing about it.
const unknown v1alpha1.OutcomeResult = "Unknown"

// uncertain are the outcomes of objects that a run most probably did not touch, or of which that is not known.
var uncertain = []v1alpha1.OutcomeResult{
	unknown,
	v1alpha1.OutcomeFailed,
	v1alpha1.OutcomeAbandoned,
	v1alpha1.OutcomeKindGone,
}

// concerns reports whether the object is one that the run touched, or that is asked for by name.
func concerns(outcome v1alpha1.OutcomeResult, named bool) bool {
	return named || slices.Contains(touched, outcome) || slices.Contains(uncertain, outcome) ||
		outcome == v1alpha1.OutcomeGone
}

// decide says what is to become of one object. It looks at nothing but its arguments.
func decide(c *journal.Copy, f facts, options Options) plan {
	if why := untouched(f); why != "" {
		return leave(Left, "%s", why)
	}
	if c == nil {
		return leave(Left, "no copy was kept of it")
	}
	copied, err := objectOf(c)
	if err != nil {
		return leave(Failed, "%s", err)
	}
	before, err := copied.Value()
	if err != nil {
		return leave(Failed, "%s", err)
	}
	if len(c.Patch) > 0 {
		return undo(c, before, f, options)
	}
	if why := notRestored(copied.Kind.GroupKind(), before); why != "" {
		return leave(Left, "%s", why)
	}
	return bringBack(copied, before, f, options)
}

// untouched says why an object is left as it is, because the run did not touch it, or may not have. Empty when it did,
// or when it is asked for by name.
func untouched(f facts) string {
	const byName = "; to restore it anyway, name it with --only"
	doubtful := slices.Contains(uncertain, f.outcome)
	switch {
	case slices.Contains(touched, f.outcome):
		return ""
	case !doubtful && f.outcome != v1alpha1.OutcomeGone:
		return fmt.Sprintf("the run did not touch it: the outcome is %s", f.outcome)
	case f.named:
		return ""
	case f.outcome == unknown:
		return "the outcome of the run is not known, so it may not have touched it" + byName
	case doubtful:
		return fmt.Sprintf("the outcome of the run is %s, so it most probably did not touch it%s", f.outcome, byName)
	}
	return "somebody else deleted it before the run came to it" + byName
}

// bringBack decides about an object that was deleted.
func bringBack(copied object.Object, before map[string]any, f facts, options Options) plan {
	known := slices.Contains(vanished, f.outcome)
	switch live := f.live; {
	case live == nil, live.Deleting && f.returns:
		body, notes := desired(copied.Kind.GroupKind(), before, f, options)
		return plan{step: StepCreate, result: Planned, notes: notes, body: body}
	case live.Deleting:
		return leave(Failed, "it is still being deleted%s; try again when it is gone", heldBy(*live))
	case live.UID == copied.UID && !known:
		return leave(Left, "it is still there: the run did not delete it")
	}
	now, err := f.live.Value()
	if err != nil {
		return leave(Failed, "%s", err)
	}
	body, notes := desired(copied.Kind.GroupKind(), before, f, options)
	switch {
	case same(copied.Kind.GroupKind(), body, now):
		return plan{result: Already, reason: unmarked(f)}
	case !options.Force:
		return leave(Exists, "an object with this name exists, with other content; --force overwrites it with the copy")
	}
	carryOver(copied.Kind.GroupKind(), body, now, f.subresource)
	return plan{step: StepOverwrite, result: Planned, notes: notes, body: body}
}

// unmarked says of an object that is there already when no mark of a restore keeps Cleaners from it.
func unmarked(f facts) string {
	metadata, err := apiserver.Metadata(*f.live)
	if err != nil || metadata.Annotations[v1alpha1.RestoredFromAnnotation] != "" {
		return ""
	}
	return "it is as its copy is, but no restore made it: nothing keeps its Cleaner from deleting it again"
}

// desired is the object to create, and what about it is not as it was.
func desired(
	kind schema.GroupKind,
	before map[string]any,
	f facts,
	options Options,
) (body map[string]any, notes []string) {
	body = runtime.DeepCopyJSON(before)
	var kept []any
	owners, _ := at(body, "metadata", "ownerReferences").([]any)
	for _, owner := range owners {
		reference, _ := owner.(map[string]any)
		uid, _ := reference["uid"].(string)
		if why, asked := f.owners[uid]; !asked || why != "" {
			notes = append(
				notes,
				fmt.Sprintf("the reference to its owner %v %v was dropped: %s", reference["kind"], reference["name"], why),
			)
			continue
		}
		kept = append(kept, owner)
	}
	unstructured.RemoveNestedField(body, "metadata", "ownerReferences")
	if len(kept) > 0 {
		body["metadata"].(map[string]any)["ownerReferences"] = kept //nolint:errcheck // it has owners, so it is a map
	}
	finalizers, _ := at(body, "metadata", "finalizers").([]any)
	if !options.KeepFinalizers {
		dropFinalizers(kind, body)
		if theirs := foreign(finalizers); len(theirs) > 0 {
			notes = append(notes, "its finalizers were dropped: "+strings.Join(theirs, ", "))
		}
	}
	if volume, _ := at(body, "spec", "volumeName").(string); volume != "" &&
		kind == (schema.GroupKind{Kind: "PersistentVolumeClaim"}) {
		notes = append(
			notes,
			fmt.Sprintf(
				"it was bound to PersistentVolume %s; the claim comes back unbound, and what the volume held is not in the copy",
				volume,
			),
		)
	}
	clean(kind, body)
	if !options.Status || f.subresource {
		delete(body, "status")
	}
	mark(body, f.run)
	return body, notes
}

// foreign are the finalizers that Kubernetes does not add by itself.
func foreign(finalizers []any) []string {
	var names []string
	for _, finalizer := range finalizers {
		switch name, _ := finalizer.(string); name {
		case "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection", "kubernetes", "foregroundDeletion", "orphan":
		default:
			names = append(names, name)
		}
	}
	return names
}

// carryOver takes into the object that replaces a live one what belongs to that: its identity, what the API server set,
// and those who hold it.
func carryOver(kind schema.GroupKind, body, live map[string]any, subresource bool) {
	fields := append([]path{
		{"metadata", "uid"}, {"metadata", "resourceVersion"}, {"metadata", "finalizers"}, {"metadata", "ownerReferences"},
	}, setByServer(kind, body)...)
	if kind == (schema.GroupKind{Kind: "Namespace"}) {
		fields = append(fields, path{"spec", "finalizers"})
	}
	if _, ok := body["status"]; !ok && !subresource {
		fields = append(fields, path{"status"})
	}
	for _, field := range fields {
		if value := at(live, field...); value != nil {
			// Where the copy has no such map, the field has no place.
			_ = unstructured.SetNestedField(body, runtime.DeepCopyJSONValue(value), field...)
		}
	}
}

// notRestored says why an object of this kind and state is not brought back.
func notRestored(kind schema.GroupKind, value map[string]any) string {
	switch kind {
	case schema.GroupKind{Kind: "Secret"}:
		if value["type"] == "kubernetes.io/service-account-token" {
			return "it is a token, which the cluster would not accept any more; make a new one"
		}
	case schema.GroupKind{Kind: "Pod"}:
		if phase := at(value, "status", "phase"); phase == "Succeeded" || phase == "Failed" {
			return "the Pod had finished"
		}
	case schema.GroupKind{Group: "batch", Kind: "Job"}:
		conditions, _ := at(value, "status", "conditions").([]any)
		for _, condition := range conditions {
			fields, _ := condition.(map[string]any)
			if (fields["type"] == "Complete" || fields["type"] == "Failed") && fields["status"] == "True" {
				return "the Job had finished, and would run again"
			}
		}
	}
	return ""
}

// heldBy names the finalizers of an object that is ending.
func heldBy(live object.Object) string {
	metadata, err := apiserver.Metadata(live)
	if err != nil || len(metadata.Finalizers) == 0 {
		return ""
	}
	return ", held by the finalizers " + strings.Join(metadata.Finalizers, ", ")
}
