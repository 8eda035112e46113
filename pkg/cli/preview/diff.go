// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// masked stands in place of a Secret's value.
const masked = "******"

// lastApplied is where kubectl apply keeps the whole object, a Secret's values among it.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// diff shows what a Transform would change in an object.
func (j *job) diff(item run.PreviewItem) {
	before, after, err := sides(item)
	if err != nil {
		j.Note("%s cannot be shown: %s", item.Object, err)
		return
	}
	paint := j.Paint(j.Out)
	subject := terminal.OneLine(item.String())
	fmt.Fprintln(j.Out)
	for line := range strings.Lines(udiff.Unified(subject, subject+" (changed)", before, after)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
			line = paint.Bold(line)
		case strings.HasPrefix(line, "-"):
			line = paint.Red(line)
		case strings.HasPrefix(line, "+"):
			line = paint.Green(line)
		}
		fmt.Fprintln(j.Out, line)
	}
}

// sides are an object before and after its patch, as YAML, without the values of a Secret and without managedFields.
func sides(item run.PreviewItem) (before, after string, err error) {
	was, err := item.Value()
	if err != nil {
		return "", "", err
	}
	value, err := item.Value() // its own: merged changes it
	if err != nil {
		return "", "", err
	}
	becomes := manifest.Merge(value, item.Patch)
	for _, side := range []map[string]any{was, becomes} {
		if metadata, ok := side["metadata"].(map[string]any); ok {
			delete(metadata, "managedFields")
		}
	}
	if item.IsSecret() {
		was, becomes = maskSides(secretMask(item), was, becomes)
	}
	left, err := manifest.PlainYAML(was)
	if err != nil {
		return "", "", err
	}
	right, err := manifest.PlainYAML(becomes)
	return left, right, err
}

// maskSides hides a Secret's values, and tells which of them differ.
func maskSides(mask func(string) string, was, becomes map[string]any) (map[string]any, map[string]any) {
	for _, field := range []string{"data", "stringData"} {
		left, _ := was[field].(map[string]any)
		right, _ := becomes[field].(map[string]any)
		for key, value := range left {
			other, both := right[key]
			if both && reflect.DeepEqual(other, value) {
				left[key], right[key] = masked, masked
				continue
			}
			if left[key] = masked; both {
				left[key] = masked + " (before)"
				right[key] = masked + " (after)"
			}
		}
		for key := range right {
			if _, both := left[key]; !both {
				right[key] = masked
			}
		}
	}
	return maskFields(mask, was), maskFields(mask, becomes)
}

// secretMask hides the values that a Secret has, and those that it would get.
func secretMask(item run.PreviewItem) func(string) string {
	unreadable := func(string) string { return masked }
	value, err := item.Value()
	if err != nil {
		return unreadable
	}
	becomes := manifest.Merge(value, item.Patch)
	dump.EncodeStrings(becomes)
	raw, err := json.Marshal(becomes)
	if err != nil {
		return unreadable
	}
	return object.Masker(item.Object, object.Object{Kind: item.Kind, Raw: raw})
}

// maskFields hides a Secret's values wherever they stand.
func maskFields(mask func(string) string, fields map[string]any) map[string]any {
	clean := make(map[string]any, len(fields))
	for key, inner := range fields {
		if key == lastApplied && inner != nil {
			inner = masked
		}
		clean[mask(key)] = maskTexts(mask, inner)
	}
	return clean
}

func maskTexts(mask func(string) string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		return maskFields(mask, value)
	case []any:
		clean := make([]any, len(value))
		for i, inner := range value {
			clean[i] = maskTexts(mask, inner)
		}
		return clean
	case string:
		return mask(value)
	}
	return value
}

// maskedPatch is an item's patch without the values of a Secret: neither those that it has nor those that it would get.
func maskedPatch(item run.PreviewItem) map[string]any {
	if item.Patch == nil || !item.IsSecret() {
		return item.Patch
	}
	patch := maskFields(secretMask(item), item.Patch)
	for _, field := range []string{"data", "stringData"} {
		values, ok := patch[field].(map[string]any)
		if !ok {
			continue
		}
		for key, value := range values {
			if value != nil { // null removes the key
				values[key] = masked
			}
		}
	}
	return patch
}
