// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kindForm is how Sources write a kind. No group ends in a word like a version, but some begin with one:
// v2.edp.epam.com.
var (
	kindForm    = regexp.MustCompile(`^[A-Za-z][-A-Za-z0-9]*(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	versionForm = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)
)

// Named are the kinds that the Source is of, and that it says are named.
func (s Source) Named() (kinds []schema.GroupKind) {
	s.eachKind(func(_, kind string) { kinds = append(kinds, schema.ParseGroupKind(kind)) })
	return kinds
}

// eachKind visits all kinds of a Source, and in which field each is.
func (s Source) eachKind(visit func(field, kind string)) {
	if s.Kind != "" && s.Kind != podSpec && s.Kind != claimSpec {
		visit("", s.Kind)
	}
	for i, r := range s.References {
		if r.To != "" {
			visit(fmt.Sprintf("references[%d].to: ", i), r.To)
		}
		for _, kind := range r.Kinds {
			visit(fmt.Sprintf("references[%d].kinds: ", i), kind)
		}
	}
}

// checkKinds returns the kinds of a Source that cannot be meant: they would name nothing, in silence.
func checkKinds(s Source, mistaken func(schema.GroupKind) error) error {
	var errs []error
	s.eachKind(func(field, kind string) {
		of := schema.ParseGroupKind(kind)
		switch {
		case !kindForm.MatchString(kind) || versionForm.MatchString(of.Group[strings.LastIndexByte(of.Group, '.')+1:]):
			errs = append(errs, fmt.Errorf(
				"%s%q is no kind: write it with its group after a dot and without a version, as in ConfigMap or Deployment.apps",
				field, kind))
		case mistaken != nil:
			if err := mistaken(of); err != nil {
				errs = append(errs, fmt.Errorf("%s%w", field, err))
			}
		}
	})
	return errors.Join(errs...)
}
