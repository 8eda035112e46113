// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// Read knows the built-in kinds and those of the files: CustomResourceDefinitions, and documents of OpenAPI v3 as an
// API server publishes them.
func Read(s *terminal.Session, paths []string) (*Known, error) {
	known, err := New()
	if err != nil {
		return nil, err
	}
	sources, err := manifest.Read(s, paths)
	if err != nil {
		return nil, err
	}
	for _, source := range sources {
		docs, problems := source.Documents()
		if len(problems) > 0 {
			p := problems[0]
			return nil, terminal.Fail(p.Code, fmt.Errorf("%s:%d: %s", p.File, p.Line, p.Message), p.Hint)
		}
		for _, d := range docs {
			if err := known.add(d, source.Named); err != nil {
				return nil, err
			}
		}
	}
	return known, nil
}

// add adds the schemas of a document. In a directory there may be others.
func (k *Known) add(d *manifest.Document, named bool) error {
	switch {
	case d.Kind() == "CustomResourceDefinition":
		if err := k.define(d.Raw); err != nil {
			return terminal.Fail(codes.SchemaWrong, fmt.Errorf("%s:%d: %w", d.File, d.Line, err), "")
		}
	case object.JSON(d.Raw).At("components", "schemas") != nil:
		k.given = append(k.given, d.Raw)
	case named:
		return terminal.Fail(codes.SchemaWrong, fmt.Errorf("%s:%d: there are no schemas in this document", d.File, d.Line),
			"give a CustomResourceDefinition, or what kubectl get --raw /openapi/v3/apis/GROUP/VERSION prints")
	}
	return nil
}

// define adds a CustomResourceDefinition as documents of OpenAPI v3, one for each version that is served.
func (k *Known) define(raw []byte) error {
	var crd struct {
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct {
				Name   string
				Served *bool
				Schema struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	if err := json.Unmarshal(raw, &crd); err != nil {
		return fmt.Errorf("reading the CustomResourceDefinition: %w", err)
	}
	kind := schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
	for _, version := range crd.Spec.Versions {
		if !ptr.Deref(version.Served, true) {
			continue
		}
		definition := version.Schema.OpenAPIV3Schema
		if definition == nil {
			definition = map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
		}
		definition["x-kubernetes-group-version-kind"] = []map[string]string{
			{"group": kind.Group, "version": version.Name, "kind": kind.Kind},
		}
		schemas := map[string]any{"it": definition}
		document, err := json.Marshal(map[string]any{"components": map[string]any{"schemas": schemas}})
		if err != nil {
			return err
		}
		k.given = append(k.given, document)
		k.served[kind] = append(k.served[kind], version.Name)
	}
	return nil
}

// misspeltGiven is the kind of the given schemas that one of the same group is in another case, or in the plural. A
// group may have kinds with similar names, such as TCPRoute and TLSRoute, of which not all schemas are given.
func (k *Known) misspeltGiven(gvk schema.GroupVersionKind) string {
	var names []string
	for _, document := range k.given {
		for _, definition := range document.At("components", "schemas").Fields() {
			for of := range definition.Field("x-kubernetes-group-version-kind").Elements() {
				if of.Field("group").Text() != gvk.Group {
					continue
				}
				if of.Field("kind").Text() == gvk.Kind {
					return ""
				}
				names = append(names, of.Field("kind").Text())
			}
		}
	}
	slices.Sort(names)
	return suggest.Misspelt(gvk.Kind, names)
}
