// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// entry is one object of a dump.
type entry struct {
	raw             []byte // JSON
	gvk             schema.GroupVersionKind
	namespace, name string
	uid             string
	resourceVersion string
	created         string
	labels          map[string]string
	// where is the file, and the line at which its document begins.
	where string
}

// Load reads manifests from files, directories (recursively) or, with -, the standard input: as users write them, as
// kubectl get -o yaml or -o json prints them, and lists as the API server sends them.
func Load(s *terminal.Session, paths []string) (*Cluster, error) {
	d, err := empty()
	if err != nil {
		return nil, err
	}
	sources, err := manifest.Read(s, paths)
	if err != nil {
		return nil, err
	}
	var manifests []*entry
	for _, source := range sources {
		read, err := readManifests(source)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, read...)
	}
	if len(manifests) == 0 {
		if i := slices.Index(paths, "-"); i >= 0 {
			paths = slices.Replace(slices.Clone(paths), i, i+1, "the standard input")
		}
		return nil, terminal.Fail(
			codes.FileEmpty,
			fmt.Errorf("there is no object in %s", strings.Join(paths, ", ")),
			"write some with: kubectl get pods,configmaps -A -o yaml > dump.yaml",
		)
	}
	return d, d.add(manifests)
}

// readManifests reads one file of YAML documents or JSON values. It does without the nodes of documents, of which a
// large dump would have many times its own size.
func readManifests(f manifest.Source) ([]*entry, error) {
	if isJSON(f.Text) {
		return readJSON(f)
	}
	var manifests []*entry
	lines := bytes.SplitAfter(f.Text, []byte("\n"))
	for begin := 0; begin < len(lines); {
		if isSeparator(lines[begin]) { // an object may stand in the same line
			lines[begin] = append([]byte("    "), bytes.TrimLeft(lines[begin][3:], " \t")...)
		}
		end := begin + 1
		for end < len(lines) && !isSeparator(lines[end]) {
			end++
		}
		raw, err := yaml.YAMLToJSON(bytes.Join(lines[begin:end], nil))
		if err != nil {
			at, message := manifest.YAMLLine(err)
			return nil, terminal.Fail(
				codes.YAMLSyntax,
				fmt.Errorf("%s:%d: the document is not valid YAML: %s", f.Name, begin+at, message),
				"",
			)
		}
		line := begin
		for line < end && blank(lines[line]) {
			line++
		}
		if manifests, err = unfold(manifests, raw, fmt.Sprintf("%s:%d", f.Name, line+1)); err != nil {
			return nil, err
		}
		begin = end
	}
	return manifests, nil
}

func isSeparator(line []byte) bool {
	return manifest.IsSeparator(strings.TrimRight(string(line), "\r\n"))
}

// blank reports whether a line of YAML says nothing.
func blank(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}

// isJSON distinguishes JSON from YAML, which may begin with a brace as well.
func isJSON(text []byte) bool {
	rest, brace := bytes.CutPrefix(bytes.TrimSpace(text), []byte("{"))
	return brace && bytes.HasPrefix(bytes.TrimSpace(rest), []byte(`"`))
}

// readJSON reads any number of values, one after the other.
func readJSON(f manifest.Source) (manifests []*entry, err error) {
	decoder := json.NewDecoder(bytes.NewReader(f.Text))
	for {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		at := decoder.InputOffset() - int64(len(raw))
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = syntax.Offset - 1
		}
		where := fmt.Sprintf("%s:%d", f.Name, 1+bytes.Count(f.Text[:at], []byte("\n")))
		switch {
		case errors.Is(err, io.EOF):
			return manifests, nil
		case err != nil:
			return nil, terminal.Fail(codes.YAMLSyntax, fmt.Errorf("%s: the document is not valid JSON: %w", where, err), "")
		}
		if manifests, err = unfold(manifests, raw, where); err != nil {
			return nil, err
		}
	}
}

// unfold adds a document's object or, of a list, its items. An empty document has none.
func unfold(manifests []*entry, raw []byte, where string) ([]*entry, error) {
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return manifests, nil
	}
	var head struct {
		APIVersion string             `json:"apiVersion"`
		Kind       string             `json:"kind"`
		Items      *[]json.RawMessage `json:"items"`
		Metadata   struct {
			Name              string            `json:"name"`
			Namespace         string            `json:"namespace"`
			UID               string            `json:"uid"`
			ResourceVersion   string            `json:"resourceVersion"`
			CreationTimestamp string            `json:"creationTimestamp"`
			Labels            map[string]string `json:"labels"`
			Continue          string            `json:"continue"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		err = fmt.Errorf("%s: this is no Kubernetes object: %w", where, wrongType(err))
		return nil, terminal.Fail(codes.DumpWrong, err, "")
	}
	gv, err := schema.ParseGroupVersion(head.APIVersion)
	switch {
	case err != nil || head.APIVersion == "" || head.Kind == "":
		return nil, terminal.Fail(
			codes.DumpWrong,
			fmt.Errorf("%s: this is no Kubernetes object: it has no apiVersion or no kind", where),
			"",
		)
	case head.Items != nil && head.Metadata.Continue != "":
		return nil, terminal.Fail(
			codes.DumpWrong,
			fmt.Errorf("%s: the %s is only a part: its metadata.continue says that more objects follow", where, head.Kind),
			"dump the whole list: kubectl get KIND -A -o yaml reads all pages",
		)
	case head.Items != nil && strings.HasSuffix(head.Kind, "List"):
		return unfoldItems(manifests, *head.Items, head.APIVersion, strings.TrimSuffix(head.Kind, "List"), where)
	case head.Metadata.Name == "":
		return nil, terminal.Fail(codes.DumpWrong, fmt.Errorf("%s: the %s has no metadata.name", where, head.Kind), "")
	}
	return append(manifests, &entry{
		raw: raw, gvk: gv.WithKind(head.Kind), namespace: head.Metadata.Namespace, name: head.Metadata.Name,
		uid: head.Metadata.UID, resourceVersion: head.Metadata.ResourceVersion, created: head.Metadata.CreationTimestamp,
		labels: head.Metadata.Labels, where: where,
	}), nil
}

// wrongType says of which type a value is that should be of another.
func wrongType(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		return err
	case wrong.Field == "":
		return fmt.Errorf("it is a JSON %s, not a map of fields", wrong.Value)
	}
	return fmt.Errorf("%s has the wrong type: it is a JSON %s", wrong.Field, wrong.Value)
}

// unfoldItems adds the items of a list, to which the list gives its apiVersion and kind.
func unfoldItems(manifests []*entry, items []json.RawMessage, apiVersion, kind, where string) ([]*entry, error) {
	for i, item := range items {
		item, err := typed(item, apiVersion, kind)
		if err == nil {
			manifests, err = unfold(manifests, item, fmt.Sprintf("%s: items[%d]", where, i))
		}
		if err != nil {
			return nil, err
		}
	}
	return manifests, nil
}

// typed gives an item of a list as the API server sends it the list's apiVersion and kind.
func typed(item []byte, apiVersion, kind string) ([]byte, error) {
	var has struct{ APIVersion, Kind string }
	if err := json.Unmarshal(item, &has); err != nil || has.Kind != "" || kind == "" {
		return item, err
	}
	return edited(item, func(value map[string]any) { value["apiVersion"], value["kind"] = apiVersion, kind })
}

// edited changes an object's JSON. Numbers keep their exact text.
func edited(raw []byte, edit func(map[string]any)) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	edit(value)
	return json.Marshal(value)
}

func (m *entry) String() string {
	if m.namespace == "" {
		return m.gvk.Kind + " " + m.name
	}
	return m.gvk.Kind + " " + m.namespace + "/" + m.name
}
