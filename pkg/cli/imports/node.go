// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"

	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// maxPlain is how long a text may be that stands in the line of its key.
const maxPlain = 60

// copied is a node of its own, without aliases, in block style where it was JSON. Comments stay.
func copied(node *yamlnode.Node, wasJSON bool) *yamlnode.Node {
	meant := *manifest.Meant(node)
	meant.Anchor, meant.Alias = "", nil
	if wasJSON {
		meant.Style = 0
		if meant.Kind == yamlnode.ScalarNode && meant.Tag == "!!str" &&
			(strings.Contains(meant.Value, "\n") || len(meant.Value) > maxPlain) {
			meant.Style = yamlnode.LiteralStyle
		}
	}
	if meant.Kind == yamlnode.ScalarNode && terminal.Clean(meant.Value) != meant.Value {
		// in which the escapes that the terminal shows are read as what they stand for
		meant.Style = yamlnode.DoubleQuotedStyle
	}
	meant.Content = slices.Clone(meant.Content)
	for i, child := range meant.Content {
		meant.Content[i] = copied(child, wasJSON)
	}
	return &meant
}

// index is where a key of a map stands; -1 when it is not there.
func index(node *yamlnode.Node, key string) int {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Kind == yamlnode.MappingNode && node.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// get is the value of a key of a map; nil when it is not there.
func get(node *yamlnode.Node, key string) *yamlnode.Node {
	if node == nil {
		return nil
	}
	if i := index(node, key); i >= 0 {
		return node.Content[i+1]
	}
	return nil
}

func remove(node *yamlnode.Node, key string) bool {
	if node == nil {
		return false
	}
	i := index(node, key)
	if i < 0 {
		return false
	}
	node.Content = slices.Delete(node.Content, i, i+2)
	return true
}

// moveFirst puts a field of a map before all others.
func moveFirst(node *yamlnode.Node, key string) {
	if i := index(node, key); i > 0 {
		field := slices.Clone(node.Content[i : i+2])
		node.Content = append(field, slices.Delete(node.Content, i, i+2)...)
	}
}

// set sets a text, behind the key after where that is there. A comment of the line stays.
func set(node *yamlnode.Node, key, text, after string) *yamlnode.Node {
	value := &yamlnode.Node{Kind: yamlnode.ScalarNode, Tag: "!!str", Value: text}
	if i := index(node, key); i >= 0 {
		value.LineComment = node.Content[i+1].LineComment
		node.Content[i+1] = value
		return value
	}
	at := len(node.Content)
	if i := index(node, after); i >= 0 {
		at = i + 2
	}
	node.Content = slices.Insert(
		node.Content,
		at,
		&yamlnode.Node{Kind: yamlnode.ScalarNode, Tag: "!!str", Value: key},
		value,
	)
	return value
}

// removeField removes a field by its path. It is false when it is not there.
func removeField(node *yamlnode.Node, path string) bool {
	steps := manifest.Steps(path)
	for _, step := range steps[:max(0, len(steps)-1)] {
		if i, err := strconv.Atoi(
			step,
		); err == nil && node != nil && node.Kind == yamlnode.SequenceNode &&
			i < len(node.Content) {
			node = node.Content[i]
			continue
		}
		node = get(node, step)
	}
	return len(steps) > 0 && remove(node, steps[len(steps)-1])
}

// quoteWords quotes texts that are true or false to Kubernetes, which reads YAML 1.1, and not to the encoder.
func quoteWords(node *yamlnode.Node) {
	if _, is := manifest.BooleanWord(node); is {
		node.Style = yamlnode.DoubleQuotedStyle
	}
	for _, child := range node.Content {
		quoteWords(child)
	}
}

func encode(node *yamlnode.Node) ([]byte, error) {
	quoteWords(node)
	var text bytes.Buffer
	encoder := yamlnode.NewEncoder(&text)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(node); err != nil {
		return nil, err
	}
	return text.Bytes(), encoder.Close()
}
