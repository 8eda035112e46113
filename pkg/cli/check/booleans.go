// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"

	yamlnode "go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// booleans warns of words without quotes that kubectl, which reads YAML 1.1, takes for true or false, where the schema
// does not say what is wanted: in mergePatch, and as the keys of labels and annotations. Elsewhere such a key is an
// unknown field, and such a value of the wrong type.
func (s *crdSchema) booleans(d *manifest.Document) []manifest.Problem {
	b := &booleanWords{d: d}
	b.below(d.Node, s.structural, "")
	return b.problems
}

// booleanWords are those of one document.
type booleanWords struct {
	d        *manifest.Document
	problems []manifest.Problem
}

func (b *booleanWords) warn(node *yamlnode.Node, path, what string) {
	means, is := manifest.BooleanWord(node)
	if !is {
		return
	}
	b.problems = append(b.problems, manifest.Problem{
		File: b.d.File, Line: node.Line, Cleaner: b.d.Name(), Field: path, Code: codes.YAMLBoolean,
		Message: fmt.Sprintf("kubectl reads YAML 1.1, in which the %s %s is %t, not a text", what, node.Value, means),
		Hint:    fmt.Sprintf("write %s for the text, or %t", terminal.Quoted(node.Value), means),
	})
}

// below looks for them where there is a schema.
func (b *booleanWords) below(node *yamlnode.Node, at *schema.Structural, path string) {
	node = manifest.Meant(node)
	switch {
	case at == nil:
	case at.XPreserveUnknownFields:
		b.anywhere(node, path)
	case node.Kind == yamlnode.SequenceNode:
		for i, item := range node.Content {
			b.below(item, at.Items, fmt.Sprintf("%s[%d]", path, i))
		}
	default:
		eachKey(node, func(key, value *yamlnode.Node) {
			field := manifest.Join(path, key.Value)
			if property, ok := at.Properties[key.Value]; ok && field != "metadata" {
				b.below(value, &property, field)
				return
			}
			eachKey(value, func(key, value *yamlnode.Node) {
				if in := manifest.Join(field, key.Value); slices.Contains(textsByKey, in) {
					eachKey(value, func(key, _ *yamlnode.Node) { b.warn(key, manifest.Join(in, key.Value), "key") })
				}
			})
		})
	}
}

// textsByKey are maps of texts of which the schema of a Cleaner says nothing.
var textsByKey = []string{"metadata.labels", "metadata.annotations"}

// anywhere looks for them where everything is allowed.
func (b *booleanWords) anywhere(node *yamlnode.Node, path string) {
	node = manifest.Meant(node)
	b.warn(node, path, "value")
	if node.Kind == yamlnode.SequenceNode {
		for i, item := range node.Content {
			b.anywhere(item, fmt.Sprintf("%s[%d]", path, i))
		}
	}
	eachKey(node, func(key, value *yamlnode.Node) {
		b.warn(key, manifest.Join(path, key.Value), "key")
		b.anywhere(value, manifest.Join(path, key.Value))
	})
}
