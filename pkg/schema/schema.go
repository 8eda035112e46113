// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package schema compares the CustomResourceDefinitions that the API server serves with those of this program. Of an
// object, the API server drops the fields that its schema does not have, also when it reads what was stored: a Cleaner
// would match more than its author wrote.
package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	crd "github.com/kubecleaner/kubecleaner/config/crd"
)

// Schema is what decides which fields the API server keeps, and with which values.
type Schema struct {
	Properties           map[string]*Schema `json:"properties"`
	Items                *Schema            `json:"items"`
	AdditionalProperties *Schema            `json:"additionalProperties"`
	// PreserveUnknown says that what the schema does not name is kept.
	PreserveUnknown bool            `json:"x-kubernetes-preserve-unknown-fields"`
	Default         json.RawMessage `json:"default"`
	// Closed is the schema false: it allows nothing.
	Closed bool `json:"-"`
}

// UnmarshalJSON also reads true and false, which additionalProperties may be.
func (s *Schema) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "true":
		*s = Schema{PreserveUnknown: true}
		return nil
	case "false":
		*s = Schema{Closed: true}
		return nil
	}
	type plain Schema
	return json.Unmarshal(text, (*plain)(s))
}

// Differences are the fields of ours that served does not keep as they are, sorted, each with its path below path. Of a
// field that is missing as a whole, the fields in it are not named. Fields that only served has are no difference.
func Differences(path string, ours, served *Schema) []string {
	if served == nil || served.Closed {
		return []string{path}
	}
	var found []string
	if served.Default != nil && !equalJSON(ours.Default, served.Default) {
		found = append(found, fmt.Sprintf("%s (default %s)", path, served.Default))
	}
	other, items := served.unnamed()
	for _, name := range slices.Sorted(maps.Keys(ours.Properties)) {
		property, ok := served.Properties[name]
		if !ok {
			property = other
		}
		found = append(found, Differences(path+"."+name, ours.Properties[name], property)...)
	}
	if ours.Items != nil {
		found = append(found, Differences(path+"[]", ours.Items, items)...)
	}
	if rest := ours.AdditionalProperties; rest != nil {
		found = append(found, Differences(path+".*", rest, other)...)
	}
	if ours.PreserveUnknown && !other.keepsUnknown() {
		found = append(found, path+".*")
	}
	return found
}

// keepsUnknown reports whether what the schema does not name is kept. Nil is no schema, by which nothing is.
func (s *Schema) keepsUnknown() bool { return s != nil && s.PreserveUnknown }

// unnamed are what holds for fields, and for items, that a schema does not name.
func (s *Schema) unnamed() (fields, items *Schema) {
	if !s.PreserveUnknown {
		return s.AdditionalProperties, s.Items
	}
	open := &Schema{PreserveUnknown: true}
	return cmp.Or(s.AdditionalProperties, open), cmp.Or(s.Items, open)
}

func equalJSON(a, b json.RawMessage) bool {
	var compactA, compactB bytes.Buffer
	return json.Compact(&compactA, a) == nil && json.Compact(&compactB, b) == nil &&
		bytes.Equal(compactA.Bytes(), compactB.Bytes())
}

// kinds are ours, by their plural names.
var kinds = map[string]string{"cleaners": "Cleaner", "cleanerruns": "CleanerRun", "reports": "Report"}

// Ours are the schemas that this program was built with, by kind. All callers share them: nobody may change them.
func Ours() (map[string]*Schema, error) { return embedded() }

// embedded reads our schemas at the first call, for that takes long.
var embedded = sync.OnceValues(func() (map[string]*Schema, error) {
	schemas := map[string]*Schema{}
	for plural, kind := range kinds {
		text, err := crd.YAML(plural)
		if err != nil {
			return nil, err
		}
		var definition struct {
			Spec struct {
				Versions []struct {
					Name   string `json:"name"`
					Schema struct {
						OpenAPIV3Schema *Schema `json:"openAPIV3Schema"`
					} `json:"schema"`
				} `json:"versions"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal(text, &definition); err != nil {
			return nil, fmt.Errorf("reading the CustomResourceDefinition of %s: %w", plural, err)
		}
		for _, version := range definition.Spec.Versions {
			if version.Name == v1alpha1.GroupVersion.Version {
				schemas[kind] = version.Schema.OpenAPIV3Schema
			}
		}
		if schemas[kind] == nil {
			return nil, fmt.Errorf("the CustomResourceDefinition of %s has no version %s", plural, v1alpha1.GroupVersion.Version)
		}
	}
	return schemas, nil
})

// compare compares our schemas with a document of the API server's OpenAPI v3.
func compare(ours map[string]*Schema, document []byte) ([]string, error) {
	var published struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &published); err != nil {
		return nil, err
	}
	served := map[string]*Schema{}
	for _, text := range published.Components.Schemas {
		var named struct {
			Is []struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
		}
		if err := json.Unmarshal(text, &named); err != nil {
			return nil, err
		}
		for _, is := range named.Is {
			if ours[is.Kind] == nil || is.Group != v1alpha1.GroupVersion.Group || is.Version != v1alpha1.GroupVersion.Version {
				continue
			}
			served[is.Kind] = &Schema{}
			if err := json.Unmarshal(text, served[is.Kind]); err != nil {
				return nil, err
			}
		}
	}
	var found []string
	for _, kind := range slices.Sorted(maps.Keys(ours)) {
		found = append(found, kindDifferences(kind, ours[kind], served[kind])...)
	}
	return found, nil
}

// kindDifferences leaves out what every object has.
func kindDifferences(kind string, ours, served *Schema) []string {
	own := &Schema{Properties: maps.Clone(ours.Properties)}
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(own.Properties, name)
	}
	return Differences(kind, own, served)
}
