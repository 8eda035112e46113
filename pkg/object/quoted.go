// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"slices"
)

// MaskQuoted is Mask for what others say who refuse to delete or change the object, such as a webhook: they may quote all of it. So
// what any object holds is hidden, if it is of the places where people keep what is nobody's business: data, annotations and the
// environment of containers. patch is what it was to become.
func MaskQuoted(text string, o Object, patch map[string]any) string {
	var values []string
	raw, err := json.Marshal(patch)
	if err != nil {
		return unreadable
	}
	sources := [][]byte{o.Raw, raw}
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
		for _, value := range contents(content) {
			values = append(values, formsOf(value)...)
		}
	}
	// A refusal names the object.
	values = slices.DeleteFunc(values, func(value string) bool {
		return len(value) < minSecret || value == o.Name || value == o.Namespace || value == o.Kind.Kind
	})
	return newMask(values).apply(text)
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
