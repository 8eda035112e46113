// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// diff shows what a Transform would change in an object.
func (j *job) diff(item run.PreviewItem) {
	before, after, err := sides(item)
	if err != nil {
		j.Note("%s cannot be shown: %s", item.Object, err)
		return
	}
	paint := j.Paint(j.Out)
	subject, becomes := terminal.OneLine(item.String()), " (changed)"
	if item.Result != v1alpha1.OutcomePlanned {
		becomes = " (refused)"
	}
	fmt.Fprintln(j.Out)
	for line := range strings.Lines(udiff.Unified(subject, subject+becomes, before, after)) {
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

// patched is an object after its patch: as the API server said, or as the patch says where it was not asked.
func patched(item run.PreviewItem) (map[string]any, error) {
	if item.After != nil {
		return item.After.Value()
	}
	value, err := item.Value() // its own: merged changes it
	if err != nil {
		return nil, err
	}
	return manifest.Merge(value, item.Patch), nil
}

// sides are an object before and after its patch, as YAML, without the values of a Secret and without managedFields.
// Nor has it the generation, which no patch asks for.
func sides(item run.PreviewItem) (before, after string, err error) {
	was, err := item.Value()
	if err != nil {
		return "", "", err
	}
	becomes, err := patched(item)
	if err != nil {
		return "", "", err
	}
	for _, side := range []map[string]any{was, becomes} {
		if metadata, ok := side["metadata"].(map[string]any); ok {
			delete(metadata, "managedFields")
			delete(metadata, "generation")
		}
	}
	if item.IsSecret() {
		was, becomes = manifest.MaskSides(secretMask(item), was, becomes)
	}
	left, err := manifest.PlainYAML(was)
	if err != nil {
		return "", "", err
	}
	right, err := manifest.PlainYAML(becomes)
	return left, right, err
}

// secretMask hides the values that a Secret has, and those that it would get.
func secretMask(item run.PreviewItem) func(string) string {
	unreadable := func(string) string { return manifest.Masked }
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
	sources := []object.Object{item.Object, {Kind: item.Kind, Raw: raw}}
	if item.After != nil {
		sources = append(sources, *item.After)
	}
	return object.Masker(sources...)
}

// maskedPatch is an item's patch without the values of a Secret: neither those that it has nor those that it would get.
func maskedPatch(item run.PreviewItem) map[string]any {
	if item.Patch == nil || !item.IsSecret() {
		return item.Patch
	}
	patch := manifest.MaskFields(secretMask(item), item.Patch)
	for _, field := range []string{"data", "stringData"} {
		values, ok := patch[field].(map[string]any)
		if !ok {
			continue
		}
		for key, value := range values {
			if value != nil { // null removes the key
				values[key] = manifest.Masked
			}
		}
	}
	return patch
}
