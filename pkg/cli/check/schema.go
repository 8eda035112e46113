// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	crd "github.com/kubecleaner/kubecleaner/config/crd"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
)

// crdSchema validates as the API server does, by the CustomResourceDefinition that this program was built with.
type crdSchema struct {
	structural *schema.Structural
	values     validation.SchemaValidator
	rules      *cel.Validator
	// messages are those of the rules; what else the rules' engine says comes from values that are wrong already.
	messages map[string]bool
}

// schemaOfCleaners is the schema of Cleaners. It is compiled once: many may check Cleaners with it at the same time.
var schemaOfCleaners = sync.OnceValues(newSchema)

func newSchema() (*crdSchema, error) {
	content, err := crd.YAML("cleaners")
	if err != nil {
		return nil, err
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(content, &definition); err != nil {
		return nil, fmt.Errorf("reading the CustomResourceDefinition of Cleaners: %w", err)
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
		definition.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil); err != nil {
		return nil, fmt.Errorf("reading the schema of Cleaners: %w", err)
	}
	structural, err := schema.NewStructural(&props)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of Cleaners: %w", err)
	}
	values, _, err := validation.NewSchemaValidator(&props)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of Cleaners: %w", err)
	}
	s := &crdSchema{
		structural: structural, values: values, messages: map[string]bool{},
		rules: cel.NewValidator(structural, true, celconfig.PerCallLimit),
	}
	collectMessages(structural, s.messages)
	return s, nil
}

func collectMessages(s *schema.Structural, messages map[string]bool) {
	if s == nil {
		return
	}
	for _, rule := range s.XValidations {
		messages[rule.Message] = true
	}
	collectMessages(s.Items, messages)
	for _, property := range s.Properties {
		collectMessages(&property, messages)
	}
}

// validate returns what the API server would say of the object's values, and what it would store.
func (s *crdSchema) validate(ctx context.Context, value map[string]any) (field.ErrorList, map[string]any) {
	stored := runtime.DeepCopyJSON(value)
	delete(stored, "status") // has a door of its own
	pruning.Prune(stored, s.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(stored, s.structural)
	defaulting.Default(stored, s.structural)
	errs := validation.ValidateCustomResource(nil, stored, s.values)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, stored)...)
	broken, _ := s.rules.Validate(ctx, nil, s.structural, stored, nil, celconfig.RuntimeCELCostBudget)
	for _, err := range broken {
		if s.messages[err.Detail] {
			errs = append(errs, err)
		}
	}
	return errs, stored
}

// node is the schema of a field; nil when there is none.
func (s *crdSchema) node(path string) *schema.Structural {
	at := s.structural
	for _, step := range manifest.Steps(path) {
		switch {
		case at == nil:
			return nil
		case at.Items != nil:
			at = at.Items
		default:
			property, ok := at.Properties[step]
			if !ok {
				return nil
			}
			at = &property
		}
	}
	return at
}
