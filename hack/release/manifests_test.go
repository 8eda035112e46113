// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// schemas compiles the schemas of the CustomResourceDefinitions, by file name.
func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	entries, err := crdSchemas(root + "/config/crd/bases")
	if err != nil {
		t.Fatal(err)
	}
	compiled := map[string]*jsonschema.Schema{}
	for _, e := range entries {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(e.data))
		if err != nil {
			t.Fatal(err)
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource(e.name, doc); err != nil {
			t.Fatal(err)
		}
		if compiled[e.name], err = compiler.Compile(e.name); err != nil {
			t.Fatal(err)
		}
	}
	return compiled
}

func check(t *testing.T, schema *jsonschema.Schema, text string) error {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(doc)
}

// Editors accept the samples, and underline what the API server would drop or refuse.
func TestSchemas(t *testing.T) {
	t.Parallel()
	compiled := schemas(t)
	for _, name := range []string{"cleaner", "cleanerapproval", "cleanerrun", "report"} {
		if compiled["apps.projectsveltos.io/"+name+"_v1alpha1.json"] == nil {
			t.Errorf("there is no schema of %s among %d", name, len(compiled))
		}
	}
	cleaner := compiled["apps.projectsveltos.io/cleaner_v1alpha1.json"]
	samples, err := filepath.Glob(root + "/config/samples/*.yaml")
	if err != nil || len(samples) < 3 {
		t.Fatalf("%v: there are %d samples", err, len(samples))
	}
	checked := 0
	for _, path := range samples {
		for text := range strings.SplitSeq(string(readFile(t, path)), "\n---\n") {
			if !strings.Contains(text, "\nkind: Cleaner\n") {
				continue
			}
			checked++
			if err := check(t, cleaner, text); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			for from, to := range map[string]string{
				"\nspec:\n": "\nspec:\n  scheduel: daily\n", "\nkind: Cleaner\n": "\nkind: Report\n", "\nmetadata:": "\nextra: 1\nmetadata:",
				"\napiVersion: apps.projectsveltos.io/v1alpha1": "\napiVersion: v1",
			} {
				wrong := strings.Replace("\n"+text, from, to, 1)
				if err := check(t, cleaner, wrong); wrong == "\n"+text || err == nil {
					t.Errorf("%s with %q is accepted", path, to)
				}
			}
		}
	}
	if checked < 3 {
		t.Errorf("only %d samples are Cleaners", checked)
	}
}

// Lists of fields are closed at every depth; maps and what a definition leaves open stay open.
func TestCloseObjects(t *testing.T) {
	t.Parallel()
	var schema, want map[string]any
	text := `{"properties":{"a":{"items":{"properties":{"properties":{"type":"string"}}}},"b":{"additionalProperties":{"properties":{"c":{}}}},` +
		`"d":{"properties":{"e":{}},"x-kubernetes-preserve-unknown-fields":true},"f":{"type":"object"}}}`
	closed := `{"additionalProperties":false,"properties":{"a":{"items":{"additionalProperties":false,"properties":{"properties":{"type":"string"}}}},` +
		`"b":{"additionalProperties":{"additionalProperties":false,"properties":{"c":{}}}},` +
		`"d":{"properties":{"e":{}},"x-kubernetes-preserve-unknown-fields":true},"f":{"type":"object"}}}`
	if err := yaml.Unmarshal([]byte(text), &schema); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(closed), &want); err != nil {
		t.Fatal(err)
	}
	closeObjects(schema)
	if diff := cmp.Diff(want, schema); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWithImage(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{"image: kubecleaner/manager:dev": "dev", "  - image: kubecleaner/manager": "", "image: ghcr.io/kubecleaner/manager:v0.1.0": "v0.1.0"} {
		got, tag, err := withImage([]byte("a: b\n"+line+"\nc: d\n"), "x/y:1@sha256:2")
		if err != nil || tag != want || string(got) != "a: b\n"+line[:strings.Index(line, "image:")]+"image: x/y:1@sha256:2\nc: d\n" {
			t.Errorf("%v: %s with the tag %q becomes %s", err, line, tag, got)
		}
	}
	for _, text := range []string{"image: other/manager:dev\n", "image: kubecleaner/manager\nimage: kubecleaner/manager\n"} {
		if got, _, err := withImage([]byte(text), "x"); err == nil || !strings.Contains(err.Error(), "exactly one") {
			t.Errorf("%v: %q becomes %q", err, text, got)
		}
	}
}

// TestManifestsOfAVersionRunIt: whoever applies a directory of config by its tag must get the image of that version.
func TestManifestsOfAVersionRunIt(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"default", "dashboard"} {
		r := release{root: root, kubectl: kubectl(t), version: "v0.99.0"}
		if _, err := r.withImage(t.Context(), dir, "x"); err == nil || !strings.Contains(err.Error(), "write v0.99.0 there, for those who apply config/"+dir+"?ref=v0.99.0") {
			t.Errorf("config/%s of another version: %v", dir, err)
		}
		r.dry = true
		if got, err := r.withImage(t.Context(), dir, "x"); err != nil || !strings.Contains(string(got), "image: x\n") {
			t.Errorf("%v: a dry run writes %s", err, got)
		}
	}
}
