// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// kustomize renders a directory of config.
func kustomize(ctx context.Context, kubectl, dir string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, kubectl, "kustomize", dir)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s kustomize %s: %w: %s", kubectl, dir, err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

var managerImage = regexp.MustCompile(`(?m)^( *(?:- )?image: *)([a-z0-9./-]*/)?kubecleaner/manager(:\S+)?$`)

// withImage puts the image into a manifest that names the manager's image once. It returns the tag in its place before.
func withImage(manifest []byte, image string) (changed []byte, tag string, err error) {
	found := managerImage.FindAllSubmatch(manifest, -1)
	if n := len(found); n != 1 {
		return nil, "", fmt.Errorf("the manifest has %d lines with the image kubecleaner/manager: there must be exactly one", n)
	}
	return managerImage.ReplaceAll(manifest, []byte("${1}"+image)), strings.TrimPrefix(string(found[0][3]), ":"), nil
}

// crdSchemas are the JSON schemas of CustomResourceDefinitions, one file for each kind and version, named as
// kubeconform and yaml-language-server look for them: GROUP/KIND_VERSION.json.
func crdSchemas(dir string) ([]entry, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("there are no CustomResourceDefinitions in %s: %w", dir, err)
	}
	var entries []entry
	for _, path := range paths {
		schemas, err := schemasOf(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		entries = append(entries, schemas...)
	}
	return entries, nil
}

func schemasOf(path string) ([]entry, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var crd struct {
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema map[string]any
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return nil, err
	}
	var entries []entry
	for _, version := range crd.Spec.Versions {
		schema := version.Schema.OpenAPIV3Schema
		if schema == nil {
			return nil, fmt.Errorf("version %s has no schema", version.Name)
		}
		closeObjects(schema)
		schema["$schema"] = "http://json-schema.org/draft-07/schema#"
		identify(schema, "apiVersion", crd.Spec.Group+"/"+version.Name)
		identify(schema, "kind", crd.Spec.Names.Kind)
		data, err := json.MarshalIndent(schema, "", " ")
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%s/%s_%s.json", crd.Spec.Group, strings.ToLower(crd.Spec.Names.Kind), version.Name)
		entries = append(entries, entry{name, 0o644, append(data, '\n')})
	}
	return entries, nil
}

// closeObjects refuses fields that a schema does not list, as the API server prunes them, and as kubeconform's schemas
// do.
func closeObjects(schema map[string]any) {
	_, listed := schema["properties"].(map[string]any)
	_, decided := schema["additionalProperties"]
	if open, _ := schema["x-kubernetes-preserve-unknown-fields"].(bool); listed && !decided && !open {
		schema["additionalProperties"] = false
	}
	for key, value := range schema {
		closeIn(key, value)
	}
}

// closeIn looks for schemas below a keyword of JSON Schema: one, a list of them, or the map of the properties.
func closeIn(key string, value any) {
	switch value := value.(type) {
	case map[string]any:
		if key != "properties" {
			closeObjects(value)
			return
		}
		for _, property := range value {
			if property, ok := property.(map[string]any); ok {
				closeObjects(property)
			}
		}
	case []any:
		for _, one := range value {
			closeIn("", one)
		}
	}
}

// identify fixes the value of a field that every object has.
func identify(schema map[string]any, field, value string) {
	properties, _ := schema["properties"].(map[string]any)
	if property, ok := properties[field].(map[string]any); ok {
		property["enum"] = []string{value}
	}
}
