// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	openapi "k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
)

// unreadSchemaError says that nobody knows whether a condition is right, because the schema of its kind could not be
// read.
type unreadSchemaError struct{ error }

func (e *unreadSchemaError) Unwrap() error { return e.error }

// Schemas says what is known of kinds. Nil without an error means nothing.
type Schemas interface {
	Schema(ctx context.Context, gvk schema.GroupVersionKind) (*openapi.Schema, error)
}

// CheckConditions checks all matchConditions of a Cleaner against the schemas of now: they may have changed since it
// was found valid, or could not be read then. Of a field that a kind does not have, !has(...) is true of all. An error
// for which IsUnread is true says that nobody knows.
func CheckConditions(ctx context.Context, schemas Schemas, cleaner *v1alpha1.Cleaner) error {
	var problems, unread []error
	for i, spec := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		field := fmt.Sprintf("resourceSelectors[%d]", i)
		wrong, fault := CheckTypes(ctx, schemas, spec)
		if wrong != nil {
			problems = append(problems, InField(field+".", wrong)...)
		}
		if fault != nil {
			unread = append(unread, &unreadSchemaError{fmt.Errorf("%s.matchConditions: %w", field, fault)})
		}
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	return errors.Join(unread...)
}

// IsUnread reports whether an error says that the schema of a kind could not be read.
func IsUnread(err error) bool {
	var unread *unreadSchemaError
	return errors.As(err, &unread)
}

// CheckTypes checks matchConditions against the kind's schema, where the cluster has one.
func CheckTypes(ctx context.Context, schemas Schemas, spec v1alpha1.ResourceSelector) (wrong, fault error) {
	if len(spec.MatchConditions) == 0 {
		return nil, nil
	}
	types, err := schemas.Schema(ctx, schema.GroupVersionKind{Group: spec.Group, Version: spec.Version, Kind: spec.Kind})
	if err != nil || types == nil {
		return nil, err
	}
	conditions, inputs := slices.Clone(spec.MatchConditions), cel.InputsOf(&spec)
	for i := range conditions {
		if _, err := cel.Compile(conditions[i:i+1], inputs...); err != nil {
			conditions[i].Expression = "true" // what does not compile was said already, and the others keep their places
		}
	}
	return cel.Check(conditions, types, inputs...), nil
}
