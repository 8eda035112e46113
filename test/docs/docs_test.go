// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs tries what the documentation shows.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// blocks returns the code blocks of a language.
func blocks(t *testing.T, path, language string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, match := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		found = append(found, match[1])
	}
	if len(found) == 0 {
		t.Fatalf("%s shows no %s", path, language)
	}
	return found
}

func strict(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Errorf("%v:\n%s", err, text)
	}
}

func TestLua(t *testing.T) {
	for _, source := range blocks(t, "../../docs/expressions.md", "lua") {
		program, err := lua.Compile(source)
		if err != nil {
			t.Errorf("%v:\n%s", err, source)
			continue
		}
		session := program.NewSession(lua.Options{})
		o := object.Object{
			Kind: object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}},
			Raw:  []byte(`{"metadata":{"name":"a","namespace":"b"},"spec":{"replicas":2}}`),
		}
		collection := lua.NewCollection()
		collection.Add(o)
		switch {
		case strings.Contains(source, "function transform"):
			_, _, err = session.Transform(t.Context(), o)
		case strings.Contains(source, "resources"):
			_, err = session.Aggregate(t.Context(), collection)
		default:
			_, err = session.Evaluate(t.Context(), o)
		}
		if err != nil {
			t.Errorf("%v:\n%s", err, source)
		}
		session.Close()
	}
}

func TestYAML(t *testing.T) {
	for _, text := range blocks(t, "../../docs/expressions.md", "yaml") {
		switch {
		case strings.Contains(text, "resourceSelectors:"):
			var set v1alpha1.ResourcePolicySet
			strict(t, text, &set)
			for _, selector := range set.ResourceSelectors {
				if _, err := cel.Compile(selector.MatchConditions, cel.InputsOf(&selector)...); err != nil {
					t.Error(err)
				}
			}
		default:
			var spec v1alpha1.CleanerSpec
			strict(t, text, &spec)
			if spec.MergePatch == nil || len(spec.MergePatch.Raw) == 0 {
				t.Errorf("there is no mergePatch in\n%s", text)
			}
		}
	}
	for _, text := range append(blocks(t, "../../README.md", "yaml"), slices.Concat(blocks(t, "../../docs/identity.md", "yaml"), blocks(t, "../../docs/outcomes.md", "yaml"))...) {
		var cleaner v1alpha1.Cleaner
		strict(t, text, &cleaner)
		if _, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&cleaner); err != nil || cleaner.Spec.Schedule == "" {
			t.Errorf("%v: the Cleaner of the README, docs/identity.md or docs/outcomes.md is %+v", err, cleaner)
		}
	}
}

// The page on copies shows a Cleaner, what to add to the operator's Deployment, and the Secret of a bucket.
func TestCopies(t *testing.T) {
	texts := blocks(t, "../../docs/copies.md", "yaml")
	if len(texts) != 3 {
		t.Fatalf("there are %d blocks, want 3", len(texts))
	}
	var cleaner v1alpha1.Cleaner
	strict(t, texts[0], &cleaner)
	if cleaner.CopyStorage() != v1alpha1.StorageVolume || cleaner.CopyRetention().Hours() != 30*24 || cleaner.MaxCopyBytes() != 128<<20 {
		t.Errorf("the Cleaner asks for %+v", cleaner.Spec.Rollback)
	}
	strict(t, texts[1], &appsv1.Deployment{})
	var secret corev1.Secret
	strict(t, texts[2], &secret)
	if len(secret.StringData) != 7 {
		t.Errorf("the Secret holds %v", secret.StringData)
	}
}

// Every test that the documentation names is there.
func TestNamedTests(t *testing.T) {
	defined := map[string]bool{}
	definition := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range definition.FindAllStringSubmatch(string(text), -1) {
			defined[match[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]+)").FindAllStringSubmatch(string(text), -1) {
			if !defined[match[1]] {
				t.Errorf("%s names %s, which is not there", page, match[1])
			}
		}
	}
}
