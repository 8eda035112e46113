// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads files of manifests, and knows at which line each field stands.
package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Source is a file, or the standard input, as text.
type Source struct {
	// Name is what to call it.
	Name string
	Text []byte
	// Named is false for a file that was found in a directory.
	Named bool
}

// Document is one YAML document, or one item of a List in it.
type Document struct {
	File string
	// Line is where it begins, counted from 1 in the file.
	Line int
	// Lines are those of the whole file.
	Lines []string
	// Node is the document with its places in the file, and value what kubectl would send.
	Node  *yamlnode.Node
	Value map[string]any
	// Raw is value as JSON.
	Raw []byte
}

// APIVersion is what the document says of itself.
func (d *Document) APIVersion() string { return text(d.Value, "apiVersion") }

// Kind is what the document says of itself.
func (d *Document) Kind() string { return text(d.Value, "kind") }

// Name is metadata.name.
func (d *Document) Name() string {
	metadata, _ := d.Value["metadata"].(map[string]any)
	return text(metadata, "name")
}

func text(fields map[string]any, name string) string {
	value, _ := fields[name].(string)
	return value
}

// Read reads files, and directories with all that is below them; "-" is the standard input, and https:// the web.
func Read(s *terminal.Session, paths []string) ([]Source, error) {
	var all []Source
	for _, path := range paths {
		var found []Source
		var err error
		switch {
		case path == "-":
			found = []Source{{Name: "standard input", Named: true}}
			found[0].Text, err = readAll(s.In, "standard input")
		case isAddress(path):
			found = []Source{{Name: path, Named: true}}
			found[0].Text, err = fetch(s, path)
		default:
			found, err = ReadPath(path)
		}
		if err != nil {
			return nil, terminal.Fail(codes.FileUnreadable, err, "")
		}
		all = append(all, found...)
	}
	return all, nil
}

// maxInput bounds one file in bytes. A dump of a large cluster has some hundred megabytes; what has no end at all must
// not use up the machine's memory.
const maxInput = 1 << 30

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return readAll(file, path)
}

func readAll(r io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if len(text) > maxInput {
		return nil, fmt.Errorf("%s is larger than 1 GiB", name)
	}
	return text, err
}

// ReadPath reads a file, or a directory with all that is below it.
func ReadPath(path string) ([]Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, Unreadable(path, err)
	}
	if !info.IsDir() {
		text, err := readFile(path)
		return []Source{{path, text, true}}, Unreadable(path, err)
	}
	found, err := readBelow(path, map[string]bool{})
	err = Unreadable(path, err)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("there is no .yaml, .yml or .json file in the directory %s", path)
	}
	return found, err
}

// readBelow reads the manifests in a directory and all that is below it, also behind links, but each directory once:
// seen has those that were read, by their real paths. It leaves out what is hidden.
func readBelow(path string, seen map[string]bool) (found []Source, err error) {
	root, err := filepath.EvalSymlinks(path)
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		name := filepath.Join(path, strings.TrimPrefix(file, root))
		hidden := file != root && strings.HasPrefix(entry.Name(), ".")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (hidden || seen[file]):
			return fs.SkipDir
		case entry.IsDir():
			seen[file] = true
		case !hidden:
			more, err := readEntry(name, entry, seen)
			found = append(found, more...)
			return err
		}
		return nil
	})
	return found, err
}

// readEntry reads what is no directory itself: a file, or a link.
func readEntry(name string, entry fs.DirEntry, seen map[string]bool) ([]Source, error) {
	switch {
	case isLinkToDirectory(name, entry):
		return readBelow(name, seen)
	case !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name))):
		return nil, nil
	}
	text, err := readFile(name)
	return []Source{{Name: name, Text: text}}, err
}

func isLinkToDirectory(file string, entry fs.DirEntry) bool {
	target, err := os.Stat(file)
	return entry.Type()&fs.ModeSymlink != 0 && err == nil && target.IsDir()
}

// Unreadable says what could not be read, and why.
func Unreadable(path string, err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return fmt.Errorf("reading %s: %w", cmp.Or(pathError.Path, path), pathError.Err)
	}
	return err
}

// Documents reads all documents of a file, items of Lists one by one. Each broken one is a problem, and the others are
// there.
func (f *Source) Documents() (docs []*Document, problems []Problem) {
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(string(f.Text), "\ufeff"), "\r\n", "\n"), "\n")
	for begin := 0; begin < len(lines); {
		end := begin + 1 // the separator's own line belongs to the document that follows
		for end < len(lines) && !IsSeparator(lines[end]) {
			end++
		}
		doc, err := parse(lines[begin:end])
		switch {
		case err != nil:
			problems = append(problems, syntaxProblem(f.Name, lines, begin, err))
		case doc != nil:
			doc.File, doc.Lines = f.Name, lines
			shift(doc.Node, begin)
			doc.Line = doc.Node.Line
			docs = append(docs, doc.items()...)
			problems = append(problems, duplicates(doc)...)
		}
		begin = end
	}
	return docs, problems
}

// IsSeparator reports whether a line ends a document. Inside a document no text can stand so far to the left.
func IsSeparator(line string) bool {
	return line == "---" || line == "..." || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "---\t")
}

// content is the text of a document without its separator and directives, line by line.
func content(lines []string) []byte {
	lines = slices.Clone(lines)
	for i, line := range lines {
		switch {
		case i == 0 && IsSeparator(line):
			lines[i] = "   " + line[3:]
		case strings.HasPrefix(line, "%"):
			lines[i] = ""
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// parse reads one document twice: its places from one reader, its values from the one that kubectl uses. Nil without an
// error when there is nothing in it.
func parse(lines []string) (*Document, error) {
	text := content(lines)
	var root yamlnode.Node
	var doc Document
	if json.Valid(text) { // JSON may be indented with tabs, YAML not; in JSON's strings there are none
		text = bytes.ReplaceAll(text, []byte("\t"), []byte(" "))
	}
	if err := yamlnode.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	if root.Kind != yamlnode.DocumentNode || len(root.Content) == 0 || root.Content[0].ShortTag() == "!!null" {
		return nil, nil
	}
	doc.Node = root.Content[0]
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	if doc.Node.Kind != yamlnode.MappingNode {
		return nil, &misplaced{
			doc.Node.Line,
			errors.New("the document is no map of fields, such as apiVersion, kind and metadata"),
		}
	}
	doc.Raw = raw
	return &doc, utiljson.Unmarshal(raw, &doc.Value)
}

// misplaced is an error at a line, counted from 1.
type misplaced struct {
	line int
	err  error
}

func (e *misplaced) Error() string { return e.err.Error() }
func (e *misplaced) Unwrap() error { return e.err }

// shift moves a node down by some lines.
func shift(node *yamlnode.Node, by int) {
	node.Line += by
	for _, child := range node.Content {
		shift(child, by)
	}
}

// items are those of a List, else the document itself.
func (d *Document) items() []*Document {
	items, isList := d.Value["items"].([]any)
	if !isList || !strings.HasSuffix(d.Kind(), "List") {
		return []*Document{d}
	}
	_, node := Child(d.Node, "items")
	var docs []*Document
	for i, item := range items {
		fields, ok := item.(map[string]any)
		place := element(node, i)
		if !ok || place == nil {
			continue
		}
		raw, err := json.Marshal(fields)
		if err != nil {
			continue // what was read from JSON can be written
		}
		docs = append(docs, &Document{File: d.File, Line: place.Line, Lines: d.Lines, Node: place, Value: fields, Raw: raw})
	}
	return docs
}
