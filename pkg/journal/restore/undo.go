// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// undo decides about an object that was changed: it compares what it was before the run, what the run's patch wrote,
// and what it is now.
func undo(c *journal.Copy, before map[string]any, f facts, options Options) plan {
	switch live := f.live; {
	case live == nil:
		return leave(Left, "somebody deleted it after the run had changed it")
	case live.Deleting:
		return leave(Left, "it is being deleted%s", heldBy(*live))
	case live.UID != c.UID && !options.Force:
		return leave(ChangedSince, "another object with this name was created since; --force restores the fields in that object")
	}
	now, err := f.live.Value()
	if err != nil {
		return leave(Failed, "%s", err)
	}
	patch, err := f.live.StoredPatch(object.JSON(c.Patch))
	if err != nil {
		return leave(Failed, "%s", err)
	}
	w := &threeWay{resent: f.resent != nil, force: options.Force}
	back := w.walk(patch, before, now, f.resent, nil)
	switch {
	case len(w.edited) > 0 && !options.Force:
		p := leave(ChangedSince, "it was edited since at %s; with --force that is overwritten", strings.Join(w.edited, ", "))
		p.doubtful = f.resent == nil
		return p
	case len(back) == 0:
		return plan{result: Already, notes: w.notes}
	}
	guard(back, now, f.run, f.live.ResourceVersion)
	return plan{step: StepPutBack, result: Planned, notes: w.notes, body: back}
}

// notUndone are the paths of a run's patch that are not as they were before it.
func notUndone(patch, before, now map[string]any) []string {
	w := &threeWay{strict: true}
	w.walk(patch, before, now, nil, nil)
	return w.edited
}

// threeWay compares path by path.
type threeWay struct {
	// resent is whether it is known what the API server would make of the patch if it were sent again.
	resent bool
	force  bool
	// strict takes what the patch wrote for an edit too.
	strict bool

	// edited are the paths at which there is neither what was before nor what the patch wrote.
	edited []string
	notes  []string
}

// walk returns the merge patch that puts back what the patch changed. All maps are at the same path; before is nil
// where there was nothing.
func (w *threeWay) walk(patch, before, now, resent map[string]any, path []string) map[string]any {
	back := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		wrote := patch[key]
		was, is := before[key], now[key]
		inner, isMap := wrote.(map[string]any)
		wasMap, wasAMap := was.(map[string]any)
		nowMap, isAMap := is.(map[string]any)
		deeper := append(slices.Clone(path), key)
		switch {
		case isMap && len(inner) > 0 && isAMap && (wasAMap || was == nil): // a field that is null is one that is not there
			again, _ := resent[key].(map[string]any)
			w.below(back, key, was == nil, nowMap, w.walk(inner, wasMap, nowMap, again, deeper), deeper)
		case equal(was, is):
		case w.holds(wrote, is, resent, key):
			back[key] = towards(is, was)
		default:
			w.edited = append(w.edited, strings.Join(deeper, "."))
			if w.force {
				back[key] = towards(is, was)
			}
		}
	}
	return back
}

// below takes what is to be put back in a map. A map that the patch made goes away as a whole, unless there is more in
// it by now.
func (w *threeWay) below(back map[string]any, key string, made bool, now, inner map[string]any, path []string) {
	if len(inner) == 0 {
		return
	}
	back[key] = inner
	if !made {
		return
	}
	var rest []string
	for _, field := range slices.Sorted(maps.Keys(now)) {
		if value, removed := inner[field]; !removed || value != nil {
			rest = append(rest, field)
		}
	}
	if len(rest) == 0 {
		back[key] = nil
		return
	}
	w.notes = append(
		w.notes,
		fmt.Sprintf(
			"%s did not exist before the run, and stays, because it now also has: %s",
			strings.Join(path, "."),
			strings.Join(rest, ", "),
		),
	)
}

// holds reports whether a field still is what the patch wrote, or what the API server makes of that.
func (w *threeWay) holds(wrote, is any, resent map[string]any, key string) bool {
	if w.strict {
		return false
	}
	if w.resent {
		return equal(resent[key], is)
	}
	return equal(is, wrote)
}

// towards is the value of a merge patch that makes one value the other. Nil takes it away.
func towards(from, to any) any {
	is, fromMap := from.(map[string]any)
	was, toMap := to.(map[string]any)
	if !fromMap || !toMap {
		return to
	}
	patch := map[string]any{}
	for key, value := range is {
		switch other, kept := was[key]; {
		case !kept:
			patch[key] = nil
		case !equal(value, other):
			patch[key] = towards(value, other)
		}
	}
	for key, value := range was {
		if _, there := is[key]; !there {
			patch[key] = value
		}
	}
	return patch
}

// guard puts into a merge patch the resourceVersion without which it is refused, and the mark of the restore.
func guard(patch, now map[string]any, run, resourceVersion string) {
	metadata, _ := patch["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		patch["metadata"] = metadata
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
		if _, removed := metadata["annotations"]; removed { // all of them go, one by one
			current, _ := at(now, "metadata", "annotations").(map[string]any)
			for name := range current {
				annotations[name] = nil
			}
		}
		metadata["annotations"] = annotations
	}
	annotations[v1alpha1.RestoredFromAnnotation] = run
	metadata["resourceVersion"] = resourceVersion
}
