// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aymanbagabas/go-udiff"

	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// tryTransform compares what the Cleaner makes of the objects in matching.yaml with those in updated.yaml.
func (t *trial) tryTransform(ctx context.Context) {
	files := t.files
	if len(files.matching) != len(files.updated) {
		t.result.fail(failure{
			File: files.updated[0].file,
			Line: 1,
			Message: fmt.Sprintf(
				"has %s, and %s has %d; each object of the one must have its own in the other, in the same order",
				terminal.Counted(len(files.updated), "object"),
				matchingFile,
				len(files.matching),
			),
		})
		return
	}
	if t.Cleaner.Spec.Transform == "" && t.Cleaner.Spec.MergePatch == nil {
		t.result.fail(failure{
			File: files.cleaner.File, Line: files.cleaner.Line,
			Message: "the Cleaner changes nothing: there is neither transform nor mergePatch, but there is " + updatedFile,
		})
		return
	}
	for i, o := range files.matching {
		want := files.updated[i]
		got, err := t.transformed(ctx, o)
		if err != nil {
			t.fail(o, "could not be changed", object.Mask(t.located(err.Error()), o.Object))
			continue
		}
		diff, err := difference(want, got)
		switch {
		case err != nil:
			t.fail(want, "could not be compared", err.Error())
		case diff != "":
			t.fail(
				want,
				"is not what the Cleaner makes of "+o.String()+" in line "+fmt.Sprint(o.line)+" of "+matchingFile,
				hidden(diff, o.Object, want.Object, got),
			)
		default:
			t.result.pass(want)
		}
	}
}

// hidden hides what stands in Secrets, before and after.
func hidden(text string, before, expected object.Object, after map[string]any) string {
	now := before
	var err error
	if now.Raw, err = json.Marshal(after); err != nil {
		now.Raw = before.Raw
	}
	return object.Mask(text, before, expected, now)
}

// transformed is the object as it would be afterwards.
func (t *trial) transformed(ctx context.Context, o *tested) (map[string]any, error) {
	value, err := o.Value()
	if err != nil {
		return nil, err
	}
	var patch map[string]any
	if t.Cleaner.Spec.MergePatch != nil {
		patch, err = check.StaticPatch(t.Cleaner)
	} else {
		patch, err = t.scripted(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	return manifest.Merge(value, patch), nil
}

// scripted is what the transform script changes.
func (t *trial) scripted(ctx context.Context, o *tested) (map[string]any, error) {
	patch, _, err := t.Session.Transform(ctx, t.Cleaner.Spec.Transform, o.Object)
	if err != nil {
		return nil, err
	}
	return object.DecodePatch(patch)
}

// difference compares what was expected with what came out, as YAML. Empty when they are the same.
func difference(want *tested, got map[string]any) (string, error) {
	value, err := want.Value()
	if err != nil {
		return "", err
	}
	expected, err := manifest.PlainYAML(value)
	if err != nil {
		return "", err
	}
	actual, err := manifest.PlainYAML(got)
	if err != nil {
		return "", err
	}
	return udiff.Unified(updatedFile, "what the Cleaner makes", expected, actual), nil
}
