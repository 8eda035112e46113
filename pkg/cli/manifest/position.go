// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// Child finds a field of a map, its key and its value; nil when it is not there.
func Child(node *yamlnode.Node, name string) (key, value *yamlnode.Node) {
	node = Meant(node)
	if node == nil || node.Kind != yamlnode.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			key, value = node.Content[i], Meant(node.Content[i+1])
		}
	}
	if key != nil {
		return key, value
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].ShortTag() == "!!merge" {
			return Child(node.Content[i+1], name)
		}
	}
	return nil, nil
}

// element is the i-th element of a list; nil when it is not there.
func element(node *yamlnode.Node, i int) *yamlnode.Node {
	node = Meant(node)
	if node == nil || node.Kind != yamlnode.SequenceNode || i >= len(node.Content) {
		return nil
	}
	return Meant(node.Content[i])
}

// Meant follows an alias.
func Meant(node *yamlnode.Node) *yamlnode.Node {
	for node != nil && node.Kind == yamlnode.AliasNode {
		node = node.Alias
	}
	return node
}

// BooleanWord is the boolean for which YAML 1.1, which kubectl reads, takes a scalar that others take for a text.
func BooleanWord(node *yamlnode.Node) (means, is bool) {
	const quoted = yamlnode.SingleQuotedStyle | yamlnode.DoubleQuotedStyle | yamlnode.LiteralStyle | yamlnode.FoldedStyle
	if node.Kind != yamlnode.ScalarNode || node.ShortTag() != "!!str" || node.Style&(quoted|yamlnode.TaggedStyle) != 0 {
		return false, false
	}
	switch node.Value {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

// Find returns the line of a field such as "spec.resourceSelectors[0].kind" and its value. When it is not there, it is
// the line of the nearest part of the path that is, and the value is nil.
func (d *Document) Find(path string) (line int, value *yamlnode.Node) {
	line, value = d.Line, d.Node
	for _, step := range Steps(path) {
		var next *yamlnode.Node
		at := 0
		if i, err := strconv.Atoi(step); err == nil && Meant(value).Kind == yamlnode.SequenceNode {
			if next = element(value, i); next != nil {
				at = next.Line
			}
		} else if key, found := Child(value, step); key != nil {
			next, at = found, key.Line
		}
		if next == nil {
			return line, nil
		}
		line, value = at, next
	}
	return line, value
}

// Steps splits a path at its dots and brackets.
func Steps(path string) []string {
	var all []string
	for path != "" {
		if rest, ok := strings.CutPrefix(path, "["); ok {
			inside, after, _ := strings.Cut(rest, "]")
			all, path = append(all, inside), strings.TrimPrefix(after, ".")
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			return append(all, path)
		}
		all, path = append(all, path[:end]), strings.TrimPrefix(path[end:], ".")
	}
	return all
}

// Within maps a place in the text of a scalar, both counted from 1, to the place in the file. column is 0 where it
// is unknown.
func (d *Document) Within(node *yamlnode.Node, line, column int) (fileLine, fileColumn int) {
	if node == nil {
		return d.Line, 0
	}
	scalar := strings.Split(node.Value, "\n")
	if line < 1 || line > len(scalar) {
		return node.Line, 0
	}
	fileLine = node.Line
	switch {
	case node.Style&yamlnode.LiteralStyle != 0:
		fileLine += line
	case len(scalar) > 1 || node.Style&yamlnode.FoldedStyle != 0: // lines were joined, or written as \n
		return node.Line, 0
	}
	if fileLine > len(d.Lines) || column < 1 {
		return min(fileLine, len(d.Lines)), 0
	}
	indent := strings.LastIndex(d.Lines[fileLine-1], scalar[line-1])
	if indent < 0 {
		return fileLine, 0
	}
	return fileLine, indent + column
}

// YAMLLine is where the YAML reader says that an error is.
func YAMLLine(err error) (line int, message string) {
	message = strings.TrimPrefix(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), "yaml: ")
	if found := regexp.MustCompile(`^(?:unmarshal errors:\n  )?line (\d+): `).FindStringSubmatch(message); found != nil {
		line, _ = strconv.Atoi(found[1])
		message = message[len(found[0]):]
		if strings.HasPrefix(message, "did not find expected") { // by these the reader counts from 0
			line++
		}
	}
	return max(1, line), message
}

// helmTemplate is what templates of Helm have. Policies of Kyverno have braces, too.
var helmTemplate = regexp.MustCompile(`\{\{-?\s*(?:[.$]|include|template|if|range|with|end|toYaml)`)

// IsForeignTemplate reports whether a file that nobody named is a template of Helm that can have no Cleaner: it is not
// meant to be read as it is.
func (f *Source) IsForeignTemplate() bool {
	return !f.Named && helmTemplate.Match(f.Text) && !bytes.Contains(f.Text, []byte("Cleaner"))
}

func syntaxProblem(file string, lines []string, offset int, err error) Problem {
	var at *misplaced
	line, message := YAMLLine(err)
	message = "the document is not valid YAML: " + message
	if errors.As(err, &at) {
		line, message = at.line, at.Error()
	}
	line = min(line+offset, len(lines))
	p := Problem{File: file, Line: line, Code: codes.YAMLSyntax, Message: message, Text: lines[line-1]}
	if indent := p.Text[:len(p.Text)-len(strings.TrimLeft(p.Text, " \t"))]; strings.Contains(indent, "\t") {
		p.Hint = "indent with spaces: YAML allows no tabs there"
	} else if slices.ContainsFunc(lines, helmTemplate.MatchString) {
		p.Hint = "it is a template: write its output to a file first, for example with helm template"
	}
	return p
}

// duplicates are the keys that stand twice in a map: kubectl refuses them, and other tools keep the last one.
func duplicates(d *Document) []Problem {
	var problems []Problem
	var walk func(node *yamlnode.Node, path string)
	walk = func(node *yamlnode.Node, path string) {
		seen := map[string]int{}
		for i, content := range node.Content {
			switch {
			case node.Kind == yamlnode.SequenceNode:
				walk(content, fmt.Sprintf("%s[%d]", path, i))
			case node.Kind == yamlnode.MappingNode && i%2 == 0:
				field := Join(path, content.Value)
				if first, again := seen[content.Value]; again && content.ShortTag() != "!!merge" {
					problems = append(problems, Problem{
						File: d.File, Line: content.Line, Cleaner: d.Name(), Field: field, Code: codes.YAMLDuplicate,
						Message: fmt.Sprintf("is here twice: also in line %d", first), Hint: "remove one of them",
					})
				}
				seen[content.Value] = content.Line
				walk(node.Content[i+1], field)
			}
		}
	}
	walk(d.Node, "")
	return problems
}

// Join adds a field to a path.
func Join(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}
