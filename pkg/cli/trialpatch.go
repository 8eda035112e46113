// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aymanbagabas/go-udiff"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// tryTransform compares what the Cleaner makes of the objects in matching.yaml with those in updated.yaml.
func (t *trial) tryTransform(ctx context.Context) {
	files := t.files
	if len(files.matching) != len(files.updated) {
		t.result.fail(testFailure{
			File: files.updated[0].file, Line: 1,
			Message: fmt.Sprintf("has %s, and %s has %d; each object of the one must have its own in the other, in the same order",
				terminal.Counted(len(files.updated), "object"), matchingFile, len(files.matching)),
		})
		return
	}
	if t.Cleaner.Spec.Transform == "" && t.Cleaner.Spec.MergePatch == nil {
		t.result.fail(testFailure{
			File: files.cleaner.File, Line: files.cleaner.Line,
			Message: "the Cleaner changes nothing: there is neither transform nor mergePatch, but there is " + updatedFile,
		})
		return
	}
	for i, o := range files.matching {
		want := files.updated[i]
		got, err := t.transformed(ctx, o)
		if err != nil {
			t.fail(o, "could not be changed", object.Mask(err.Error(), o.Object))
			continue
		}
		diff, err := difference(want, got)
		switch {
		case err != nil:
			t.fail(want, "could not be compared", err.Error())
		case diff != "":
			t.fail(want, "is not what the Cleaner makes of "+o.String()+" in line "+fmt.Sprint(o.line)+" of "+matchingFile, hidden(diff, o.Object, want.Object, got))
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
func (t *trial) transformed(ctx context.Context, o *testObject) (map[string]any, error) {
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
	return merged(value, patch), nil
}

// scripted is what the transform script changes.
func (t *trial) scripted(ctx context.Context, o *testObject) (map[string]any, error) {
	patch, _, err := t.Session.Transform(ctx, t.Cleaner.Spec.Transform, o.Object)
	if err != nil {
		return nil, err
	}
	return object.DecodePatch(patch)
}

// merged applies a JSON merge patch (RFC 7386).
func merged(value, patch map[string]any) map[string]any {
	for key, wanted := range patch {
		inner, isMap := wanted.(map[string]any)
		switch {
		case wanted == nil:
			delete(value, key)
		case isMap:
			was, ok := value[key].(map[string]any)
			if !ok {
				was = map[string]any{}
			}
			value[key] = merged(was, inner)
		default:
			value[key] = wanted
		}
	}
	return value
}

// difference compares what was expected with what came out, as YAML. Empty when they are the same.
func difference(want *testObject, got map[string]any) (string, error) {
	value, err := want.Value()
	if err != nil {
		return "", err
	}
	expected, err := plainYAML(value)
	if err != nil {
		return "", err
	}
	actual, err := plainYAML(got)
	if err != nil {
		return "", err
	}
	return udiff.Unified(updatedFile, "what the Cleaner makes", expected, actual), nil
}

// plainYAML writes a value so that equal values are equal texts: sorted, without nulls, and 1.0 as 1.
func plainYAML(value map[string]any) (string, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	var plain map[string]any
	if err := utiljson.Unmarshal(raw, &plain); err != nil {
		return "", err
	}
	return terminal.AsYAML(withoutNulls(plain))
}

func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			if inner == nil {
				delete(value, key)
				continue
			}
			value[key] = withoutNulls(inner)
		}
	case []any:
		for i := range value {
			value[i] = withoutNulls(value[i])
		}
	}
	return value
}
