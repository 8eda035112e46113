// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// MaskQuoted is Mask for what others say who refuse to delete or change the object, such as a webhook: they may quote
// all of it. So what any object holds is hidden, if it is of the places where people keep what is nobody's business:
// data, annotations and the environment of containers. patch is what it was to become.
func MaskQuoted(text string, o Object, patch JSON) string {
	var values []string
	if len(patch) == 0 {
		patch = JSON("{}")
	}
	sources := [][]byte{o.Raw, patch}
	if len(o.Raw) == 0 && !o.IsSecret() { // of a run that was taken over, whose objects are known by name
		sources = sources[1:]
	}
	for _, raw := range sources {
		if o.IsSecret() {
			of, ok := secretValues(Object{Kind: o.Kind, Raw: raw})
			if !ok {
				return unreadable
			}
			values = append(values, of...)
		}
		var content map[string]any
		if json.Unmarshal(raw, &content) != nil {
			return unreadable
		}
		values = append(values, contents(content)...)
	}
	hides := NewSecretValues(math.MaxInt)
	for _, value := range values {
		if !slices.Contains(
			[]string{o.Name, o.Namespace, o.Kind.Kind},
			strings.TrimSpace(value),
		) { // a refusal names the object
			hides.add(value)
		}
	}
	return hides.Masker()(text)
}

// contents are the values in data, annotations and environments.
func contents(object map[string]any) []string {
	values := slices.Concat(leaves(object["data"]), leaves(object["binaryData"]))
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return append(values, environments(object)...)
	}
	for _, annotation := range leaves(metadata["annotations"]) {
		values = append(values, annotation)
		var applied map[string]any
		if json.Unmarshal([]byte(annotation), &applied) == nil { // by kubectl apply
			values = append(values, contents(applied)...)
		}
	}
	return append(values, environments(object)...)
}

// environments are the values of the lists env, wherever in an object.
func environments(value any) []string {
	var values []string
	switch value := value.(type) {
	case []any:
		for _, inner := range value {
			values = append(values, environments(inner)...)
		}
	case map[string]any:
		for name, inner := range value {
			variables, isList := inner.([]any)
			if name != "env" || !isList {
				values = append(values, environments(inner)...)
				continue
			}
			for _, variable := range variables {
				if of, ok := variable.(map[string]any); ok {
					values = append(values, leaves(of["value"])...)
				}
			}
		}
	}
	return values
}
