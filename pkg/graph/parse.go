// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Parse reads a list of Sources from YAML, and checks them. The error tells all that is wrong.
func Parse(text []byte) ([]Source, error) {
	sources, err := decodeSources(text)
	if err != nil {
		return nil, err
	}
	if _, err := NewTable(sources); err != nil {
		return nil, err
	}
	return sources, nil
}

// decodeSources is Parse without a look at paths and formats, which NewTable checks.
func decodeSources(text []byte) ([]Source, error) {
	asJSON, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, fmt.Errorf("references: %w", err)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(asJSON, &items); err != nil {
		return nil, errors.New("references: this is no list: begin each kind with a dash, as in \"- kind: Deployment.apps\"")
	}
	var errs []error
	sources := make([]Source, 0, len(items))
	for i, item := range items {
		var s Source
		if err := decodeSource(item, &s); err != nil {
			errs = append(errs, fmt.Errorf("references: entry %d (%s): %w", i+1, nameOfEntry(s.Kind), err))
			continue
		}
		sources = append(sources, s)
	}
	return sources, errors.Join(errs...)
}

func nameOfEntry(kind string) string {
	if kind == "" {
		return "it has no kind"
	}
	return kind
}

// decodeSource reads one Source, and tells all fields of it that there are not.
func decodeSource(item []byte, s *Source) error {
	var shape struct {
		Kind       any              `json:"kind"`
		References []map[string]any `json:"references"`
	}
	var fields map[string]any
	if json.Unmarshal(item, &fields) != nil {
		return errors.New("it is no map: write \"kind:\" and \"references:\"")
	}
	var errs []error
	errs = append(errs, unknownFields("", fields, reflect.TypeFor[Source]()))
	if json.Unmarshal(item, &shape) == nil {
		s.Kind, _ = shape.Kind.(string)
		for i, r := range shape.References {
			errs = append(errs, unknownFields(fmt.Sprintf("references[%d]", i), r, reflect.TypeFor[Reference]()))
		}
	}
	if s.Kind == "" {
		errs = append(
			errs,
			errors.New(
				"kind is missing: write the kind whose objects hold the names, with its group after a dot, as in Deployment.apps",
			),
		)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(item))
	decoder.DisallowUnknownFields() // encoding/json ignores case
	var wrong *json.UnmarshalTypeError
	switch err := decoder.Decode(s); {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s is a %s: write a %s", wrong.Field, wrong.Value, wrong.Type)
	case err != nil:
		return err
	}
	if len(s.References)+len(s.PodTemplates)+len(s.PodSpecs)+len(s.ClaimSpecs)+len(s.Guess)+len(s.Texts) == 0 &&
		irregular[schema.ParseGroupKind(s.Kind)].names == nil {
		return errors.New("it says nothing: write references, podTemplates, podSpecs, claimSpecs or guess")
	}
	return nil
}

// unknownFields tells the fields of a map that a struct does not have.
func unknownFields(where string, fields map[string]any, of reflect.Type) error {
	known := make([]string, 0, of.NumField())
	for i := range of.NumField() {
		if name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); name != "" {
			known = append(known, name)
		}
	}
	var errs []error
	for name := range fields {
		if !slices.Contains(known, name) {
			errs = append(
				errs,
				fmt.Errorf(
					"there is no field %q: it can be %s",
					strings.TrimPrefix(where+"."+name, "."),
					strings.Join(known, ", "),
				),
			)
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}
