// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/test/testenv"
	"github.com/kubecleaner/kubecleaner/test/transcript"
)

// source is a page of the documentation.
type source struct{ name, text string }

// pagesOf reads the README, CONTRIBUTING and all pages of docs.
func pagesOf(t *testing.T) (pages []source) {
	t.Helper()
	read := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, source{filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator))), string(text)})
	}
	read(filepath.Join("..", "..", "README.md"))
	read(filepath.Join("..", "..", "CONTRIBUTING.md"))
	err := filepath.WalkDir(filepath.Join("..", "..", "docs"), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "node_modules": // of make docs
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			read(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// block is a code block of a page.
type block struct {
	page string
	line int
	text string
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// blocksOf returns all code blocks of a language. Blocks of a list lose their indentation.
func blocksOf(t *testing.T, language string) (found []block) {
	t.Helper()
	for _, p := range pagesOf(t) {
		for _, step := range transcript.Parse(p.text) {
			if step.Language == language {
				found = append(found, block{p.name, step.Line, step.Text})
			}
		}
	}
	if len(found) == 0 {
		t.Fatalf("no page shows %s", language)
	}
	return found
}

// Every Lua block compiles and runs.
func TestLua(t *testing.T) {
	o := object.Object{
		Kind: object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}},
		Raw:  []byte(`{"metadata":{"name":"a","namespace":"b"},"spec":{"replicas":2}}`),
	}
	collection := lua.NewCollection()
	collection.Add(o)
	for _, b := range blocksOf(t, "lua") {
		program, err := lua.Compile(b.text)
		if err != nil {
			t.Errorf("%s: %v", b, err)
			continue
		}
		session := program.NewSession(lua.Options{Clock: clock.RealClock{}})
		switch {
		case strings.Contains(b.text, "function transform"):
			_, _, err = session.Transform(t.Context(), o)
		case strings.Contains(b.text, "resources"):
			_, err = session.Aggregate(t.Context(), collection)
		default:
			_, err = session.Evaluate(t.Context(), o)
		}
		if err != nil {
			t.Errorf("%s: %v", b, err)
		}
		session.Close()
	}
}

// Every CEL block is an expression of a selector that has all inputs.
func TestCEL(t *testing.T) {
	selector := v1alpha1.ResourceSelector{
		Finding: &v1alpha1.FindingSelector{}, IncludeEvents: new(true), MetricQueries: []v1alpha1.MetricQuery{{Name: "m"}}, LogSource: &v1alpha1.LogSource{},
	}
	for _, b := range blocksOf(t, "cel") {
		if _, err := cel.Compile([]v1alpha1.MatchCondition{{Name: "c", Expression: strings.TrimSpace(b.text)}}, cel.InputsOf(&selector)...); err != nil {
			t.Errorf("%s: %v", b, err)
		}
	}
}

// Every YAML block has only fields that exist. Cleaners, and parts of them, pass kubectl cleaner lint.
func TestYAML(t *testing.T) {
	child, remove, err := testenv.BuildScriptChild(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	kinds := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(kinds); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(kinds, serializer.EnableStrict).UniversalDeserializer()
	cleaners := 0
	for _, b := range blocksOf(t, "yaml") {
		reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(b.text)))
		for {
			text, err := reader.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			var value map[string]any
			if err := errors.Join(err, yaml.UnmarshalStrict(text, &value)); err != nil {
				t.Errorf("%s: %v", b, err)
				break
			}
			cleaner := cleanerOf(value)
			if cleaner == nil {
				if _, _, err := decoder.Decode(text, nil, nil); err != nil && !runtime.IsNotRegisteredError(err) && !runtime.IsMissingKind(err) {
					t.Errorf("%s: %v", b, err)
				}
				continue
			}
			cleaners++
			if problems := lint(t.Context(), child, cleaner); problems != "" {
				t.Errorf("%s: %s", b, problems)
			}
		}
	}
	if cleaners < 10 {
		t.Errorf("only %d Cleaners were found", cleaners)
	}
}

// cleanerOf returns the Cleaner that a document is, or is a part of, or nil.
func cleanerOf(document map[string]any) map[string]any {
	if kind, isObject := document["kind"]; isObject {
		if kind != "Cleaner" {
			return nil
		}
		return document
	}
	spec := map[string]any{
		"schedule":          "0 3 * * *",
		"resourcePolicySet": map[string]any{"resourceSelectors": []any{map[string]any{"group": "apps", "version": "v1", "kind": "Deployment"}}},
	}
	part, hasSpec := document["spec"].(map[string]any)
	if !hasSpec {
		part = document
	}
	switch {
	case sharesField(part, v1alpha1.CleanerSpec{}):
		for name, value := range part {
			spec[name] = value
		}
	case sharesField(part, v1alpha1.ResourcePolicySet{}):
		spec["resourcePolicySet"] = part
	default:
		return nil
	}
	return map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Cleaner", "metadata": map[string]any{"name": "part"}, "spec": spec}
}

// sharesField reports whether a map has a key that is a field of the struct.
func sharesField(value map[string]any, of any) bool {
	for _, field := range reflect.VisibleFields(reflect.TypeOf(of)) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if _, has := value[name]; has {
			return true
		}
	}
	return false
}

// lint returns what kubectl cleaner lint says against a Cleaner, or nothing.
func lint(ctx context.Context, scriptChild []string, cleaner map[string]any) string {
	text, err := yaml.Marshal(cleaner)
	if err != nil {
		return err.Error()
	}
	var out bytes.Buffer
	code := cli.Execute(ctx, genericiooptions.IOStreams{In: bytes.NewReader(text), Out: &out, ErrOut: &out}, terminal.Options{
		Scripts: sandbox.Config{Command: scriptChild}, Now: time.Now, Getenv: func(string) string { return "" },
	}, []string{"lint", "-f", "-"})
	if code == 0 {
		return ""
	}
	return out.String()
}
