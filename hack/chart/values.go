// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

const valuesHeader = `# Values of the Helm chart

Give values with ` + "`--set NAME=VALUE`" + ` or in a file with ` + "`--values FILE`" + `. If a value is wrong, Helm reports an error that names the value.
[Install](../how-to/install.md) shows the usual choices.
` + "`make chart`" + ` writes this page from the chart's values.yaml.

| Value | Default | Meaning |
|---|---|---|
`

// valuesPage is the reference page of the chart's values. The text of a value is its comment that begins with "-- ", as
// for helm-docs.
func valuesPage(values []byte) (string, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(values, &document); err != nil {
		return "", err
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return "", fmt.Errorf("values.yaml holds no map")
	}
	var rows []string
	if err := rowsOf("", document.Content[0], &rows); err != nil {
		return "", err
	}
	return valuesHeader + strings.Join(rows, ""), nil
}

// rowsOf adds a row for each value below a map.
func rowsOf(prefix string, values *yaml.Node, rows *[]string) error {
	for i := 0; i < len(values.Content); i += 2 {
		key, value := values.Content[i], values.Content[i+1]
		name, meaning := prefix+key.Value, meaningOf(key.HeadComment)
		inner := value.Kind == yaml.MappingNode && len(value.Content) > 0
		if !inner || meaning != "" {
			text, err := inline(value)
			if err != nil {
				return fmt.Errorf("value %s: %w", name, err)
			}
			*rows = append(*rows, fmt.Sprintf("| `%s` | `%s` | %s |\n", name, text, strings.ReplaceAll(meaning, "|", `\|`)))
		}
		if inner && meaning == "" {
			if err := rowsOf(name+".", value, rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// meaningOf is what a comment says behind "# -- ". Further lines belong to it; those that are indented are items of a
// list.
func meaningOf(comment string) string {
	_, text, found := strings.Cut(comment, "# -- ")
	if !found {
		return ""
	}
	var parts []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimPrefix(line, "#"), "\n")
		if item, isItem := strings.CutPrefix(line, "   "); isItem {
			word, rest, _ := strings.Cut(item, " ")
			line = fmt.Sprintf("<br>`%s`: %s", word, strings.TrimSpace(rest))
		}
		parts = append(parts, strings.TrimSpace(line))
	}
	return strings.Join(parts, " ")
}

// inline is a default on one line.
func inline(value *yaml.Node) (string, error) {
	plain := *value
	strip(&plain)
	text, err := yaml.Marshal(&plain)
	return strings.TrimSpace(string(text)), err
}

// strip removes comments, and puts maps and lists on one line.
func strip(node *yaml.Node) {
	node.HeadComment, node.LineComment, node.FootComment = "", "", ""
	if node.Kind != yaml.ScalarNode {
		node.Style = yaml.FlowStyle
	}
	for _, child := range node.Content {
		strip(child)
	}
}
