// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// unknownFields are the fields that the schema does not have. The API server drops them, or refuses them when kubectl
// asks it to; either way they do not do what they were written for.
func (s *crdSchema) unknownFields(d *manifest.Document) []manifest.Problem {
	var problems []manifest.Problem
	unknown := func(key, value *yamlnode.Node, path string, known []string) {
		message, hint := s.unknownWords(key.Value, value.Value, path, known)
		problems = append(problems, manifest.Problem{
			File:    d.File,
			Line:    key.Line,
			Cleaner: d.Name(),
			Field:   manifest.Join(path, key.Value),
			Code:    codes.FieldUnknown,
			Message: message,
			Hint:    hint,
		})
	}
	var walk func(node *yamlnode.Node, at *schema.Structural, path string)
	walk = func(node *yamlnode.Node, at *schema.Structural, path string) {
		node = manifest.Meant(node)
		switch {
		case at == nil || at.XPreserveUnknownFields || path == "status":
		case path == "metadata":
			eachKey(node, func(key, value *yamlnode.Node) {
				if known := metadataFields(); !slices.Contains(known, key.Value) {
					unknown(key, value, path, known)
				}
			})
		case node.Kind == yamlnode.SequenceNode:
			for i, item := range node.Content {
				walk(item, at.Items, fmt.Sprintf("%s[%d]", path, i))
			}
		case at.Properties != nil:
			eachKey(node, func(key, value *yamlnode.Node) {
				property, ok := at.Properties[key.Value]
				if !ok {
					unknown(key, value, path, slices.Sorted(maps.Keys(at.Properties)))
					return
				}
				walk(value, &property, manifest.Join(path, key.Value))
			})
		}
	}
	walk(d.Node, s.structural, "")
	return problems
}

// unknownWords says what was probably meant by a field that is not among the known fields of its path.
func (s *crdSchema) unknownWords(name, value, path string, known []string) (message, hint string) {
	message = "there is no such field"
	if inSeconds := name + "Seconds"; slices.Contains(known, inSeconds) {
		return message + "; did you mean " + terminal.Quoted(inSeconds) + "?", secondsHint(inSeconds, value)
	}
	if near := cmp.Or(otherName(name, known), suggest.Nearest(name, known)); near != "" {
		return message + "; did you mean " + terminal.Quoted(near) + "?", ""
	}
	if places := s.places(name); len(places) > 0 {
		return message, "it belongs in " + terminal.OrList(places)
	}
	return message, "to see which fields there are: kubectl explain cleaner." + strings.Join(fieldNames(path), ".")
}

// otherNames are what people call a field whose name is not near to it.
var otherNames = map[string][]string{
	"matchConditions": {"cel", "condition", "conditions", "expression", "when", "where", "filter", "if"},
	"evaluate":        {"lua", "script", "code"},
	"labelFilters":    {"labels", "labelSelector", "matchLabels", "selector"},
	"schedule":        {"cron", "interval"},
	"action":          {"dryRun", "delete", "mode"},
}

// otherName is the known field that people also call by the name. Empty if there is none.
func otherName(name string, known []string) string {
	for field, names := range otherNames {
		if slices.Contains(names, name) && slices.Contains(known, field) {
			return field
		}
	}
	return ""
}

// eachKey visits the fields of a map, and those that it takes over with <<.
func eachKey(node *yamlnode.Node, visit func(key, value *yamlnode.Node)) {
	node = manifest.Meant(node)
	if node == nil || node.Kind != yamlnode.MappingNode {
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key, value := node.Content[i], node.Content[i+1]; key.ShortTag() == "!!merge" {
			eachKey(value, visit)
		} else {
			visit(key, value)
		}
	}
}

func metadataFields() []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[metav1.ObjectMeta]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// places are where the schema has a field of that name.
func (s *crdSchema) places(name string) []string {
	var found []string
	var walk func(at *schema.Structural, path string)
	walk = func(at *schema.Structural, path string) {
		if at.Items != nil {
			walk(at.Items, path+"[]")
		}
		for _, key := range slices.Sorted(maps.Keys(at.Properties)) {
			property, below := at.Properties[key], manifest.Join(path, key)
			if key == name {
				found = append(found, below)
			}
			if below != "status" {
				walk(&property, below)
			}
		}
	}
	walk(s.structural, "")
	return found
}

// fieldNames are the steps of a path without the indices.
func fieldNames(path string) []string {
	return slices.DeleteFunc(manifest.Steps(path), func(step string) bool { return step[0] >= '0' && step[0] <= '9' })
}
