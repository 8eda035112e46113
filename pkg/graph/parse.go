// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Parse reads a list of Sources from YAML, and checks them. mistaken says why a kind cannot be meant; it may be nil.
// The error names all that is wrong.
func Parse(text []byte, mistaken func(schema.GroupKind) error) ([]Source, error) {
	items, err := entries(text)
	if err != nil {
		return nil, err
	}
	sources, err := decodeSources(items, mistaken)
	_, wrong := NewTable(sources)
	if err := errors.Join(err, wrong); err != nil {
		return nil, err
	}
	return sources, nil
}

// entries are the entries of a list in YAML.
func entries(text []byte) (items []json.RawMessage, err error) {
	asJSON, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, fmt.Errorf("references: %w", err)
	}
	if err := json.Unmarshal(asJSON, &items); err != nil {
		return nil, errors.New("references: this is no list: begin each kind with a dash, as in \"- kind: Deployment.apps\"")
	}
	return items, nil
}

// decodeSources is Parse without a look at paths and formats, which NewTable checks. The Sources are those that can be
// read, also if something in them is wrong.
func decodeSources(items []json.RawMessage, mistaken func(schema.GroupKind) error) ([]Source, error) {
	var errs []error
	sources := make([]Source, 0, len(items))
	for i, item := range items {
		var s Source
		isRead, err := decodeSource(item, &s)
		if isRead {
			err = errors.Join(err, checkKinds(s, mistaken))
			sources = append(sources, s)
		}
		if err == nil {
			continue
		}
		for line := range strings.Lines(err.Error()) {
			errs = append(errs, fmt.Errorf("references: entry %d (%s): %s", i+1, nameOfEntry(s.Kind), strings.TrimSpace(line)))
		}
	}
	return sources, errors.Join(errs...)
}

func nameOfEntry(kind string) string {
	if kind == "" {
		return "it has no kind"
	}
	return kind
}

// decodeSource reads one Source, and returns what it lacks and its unknown fields. isRead is false if
// its fields cannot be read.
func decodeSource(item []byte, s *Source) (isRead bool, err error) {
	var shape struct {
		Kind       any              `json:"kind"`
		References []map[string]any `json:"references"`
	}
	var fields map[string]any
	if json.Unmarshal(item, &fields) != nil {
		return false, errors.New("it is no map: write \"kind:\" and \"references:\"")
	}
	errs := []error{unknownFields("", fields, reflect.TypeFor[Source]())}
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
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(item, s); {
	case errors.As(err, &wrong):
		return false, errors.Join(append(errs, fmt.Errorf("%s is a %s: write a %s", wrong.Field, wrong.Value, wrong.Type))...)
	case err != nil:
		return false, errors.Join(append(errs, err)...)
	}
	if len(s.References)+len(s.PodTemplates)+len(s.PodSpecs)+len(s.ClaimSpecs)+len(s.Guess)+len(s.Texts) == 0 &&
		irregular[schema.ParseGroupKind(s.Kind)].names == nil {
		errs = append(errs, errors.New("it says nothing: write references, podTemplates, podSpecs, claimSpecs or guess"))
	}
	return true, errors.Join(errs...)
}

// unknownFields returns the fields of a map that a struct does not have.
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
