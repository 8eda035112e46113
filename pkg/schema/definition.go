// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	crd "github.com/kubecleaner/kubecleaner/config/crd"
)

// preserveUnknown is what a schema says that lets any field through.
const preserveUnknown = "x-kubernetes-preserve-unknown-fields"

// Plurals are the plural names of our kinds.
func Plurals() []string { return []string{"cleaners", "cleanerruns", "cleanerapprovals", "reports"} }

// Changes are what a CustomResourceDefinition of the cluster has in another way than ours.
type Changes struct {
	// Fields are the fields that it lacks, so that the API server drops them.
	Fields []string
	// NoStatus is true when it has no status subresource.
	NoStatus bool
	// Stored are the versions in which objects are or were stored, if one is not ours.
	Stored []string
	// Converted is true when something else than the API server converts objects between versions.
	Converted bool
	// Rules are the fields that lack rules (x-kubernetes-validations) of ours.
	Rules []string
	// Loose are the paths of checks of values, such as required or maxLength, that it lacks.
	Loose []string
	// Others are the paths of everything else.
	Others []string
}

// ChangesOf compares a CustomResourceDefinition of the cluster with ours of the plural name. Descriptions do not count,
// nor do fields that only the other has.
func ChangesOf(plural string, live map[string]any) (c Changes, err error) {
	text, err := crd.YAML(plural)
	if err != nil {
		return c, err
	}
	var ours map[string]any
	if err := yaml.Unmarshal(text, &ours); err != nil {
		return c, fmt.Errorf("reading the CustomResourceDefinition of %s: %w", plural, err)
	}
	c.Stored = storedVersions(live)
	own, now := version(ours), version(live)
	c.NoStatus = field(own, "subresources", "status") != nil && field(now, "subresources", "status") == nil
	c.compareSchemas("", field(own, "schema", "openAPIV3Schema"), field(now, "schema", "openAPIV3Schema"))
	for _, part := range []string{"selectableFields", "additionalPrinterColumns", "served"} {
		c.compareValues(part, own[part], now[part])
	}
	for _, part := range []string{"scope", "names"} {
		c.compareValues("spec."+part, field(ours, "spec", part), field(live, "spec", part))
	}
	strategy := field(live, "spec", "conversion", "strategy")
	c.Converted = strategy != nil && strategy != "None"
	return c, nil
}

// version is the version of a CustomResourceDefinition that we serve. It is empty when there is none.
func version(definition map[string]any) map[string]any {
	versions, _ := field(definition, "spec", "versions").([]any)
	for _, one := range versions {
		if fields, _ := one.(map[string]any); fields["name"] == v1alpha1.GroupVersion.Version {
			return fields
		}
	}
	return nil
}

// storedVersions are those in which objects are stored, or were, if one is not ours.
func storedVersions(definition map[string]any) []string {
	stored, _, _ := unstructured.NestedStringSlice(definition, "status", "storedVersions")
	versions, _ := field(definition, "spec", "versions").([]any)
	for _, one := range versions {
		fields, _ := one.(map[string]any)
		name, _ := fields["name"].(string)
		if fields["storage"] == true && !slices.Contains(stored, name) {
			stored = append(stored, name)
		}
	}
	isOurs := func(name string) bool { return name == v1alpha1.GroupVersion.Version }
	if slices.IndexFunc(stored, func(name string) bool { return !isOurs(name) }) < 0 {
		return nil
	}
	return stored
}

// field is the value at a path. Nil when there is none.
func field(of map[string]any, path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(of, path...)
	return value
}

// compareSchemas compares two schemas, and those in them.
func (c *Changes) compareSchemas(path string, ours, live any) {
	own, isMap := ours.(map[string]any)
	now, isMapNow := live.(map[string]any)
	if !isMap || !isMapNow {
		c.compareValues(path, ours, live)
		return
	}
	for _, key := range keysOf(own, now) {
		switch key {
		case "description":
		case "properties":
			c.compareProperties(path, own[key], now[key], now[preserveUnknown] == true)
		case "items":
			c.compareSchemas(path+"[]", own[key], now[key])
		case "additionalProperties":
			c.compareSchemas(path+".*", own[key], now[key])
		case "x-kubernetes-validations":
			c.compareRules(path, own[key], now[key])
		default:
			c.compareCheck(fmt.Sprintf("%s (%s)", nameOf(path), key), key, own[key], now[key])
		}
	}
}

// keysOf are the keys of both, sorted, each once.
func keysOf(one, other map[string]any) []string {
	both := maps.Clone(one)
	maps.Copy(both, other)
	return slices.Sorted(maps.Keys(both))
}

func (c *Changes) compareProperties(path string, ours, live any, keepsAll bool) {
	own, _ := ours.(map[string]any)
	now, _ := live.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		there, is := now[name]
		switch at := strings.TrimPrefix(path+"."+name, "."); {
		case slices.Contains([]string{"apiVersion", "kind", "metadata"}, at): // every object has them
		case is:
			c.compareSchemas(at, own[name], there)
		case !keepsAll:
			c.Fields = append(c.Fields, at)
		}
	}
}

func (c *Changes) compareRules(path string, ours, live any) {
	own, now := rulesOf(ours), rulesOf(live)
	isNew := func(rule string) bool { return !slices.Contains(own, rule) }
	isKept := func(rule string) bool { return slices.Contains(now, rule) }
	if len(slices.DeleteFunc(slices.Clone(own), isKept)) > 0 {
		c.Rules = append(c.Rules, nameOf(path))
	}
	if slices.ContainsFunc(now, isNew) {
		c.Others = append(c.Others, nameOf(path)+" (x-kubernetes-validations)")
	}
}

func rulesOf(value any) (rules []string) {
	list, _ := value.([]any)
	for _, one := range list {
		fields, _ := one.(map[string]any)
		rule, _ := fields["rule"].(string)
		rules = append(rules, rule)
	}
	return rules
}

// isCheck reports whether a key of a schema says which values are allowed.
func isCheck(key string) bool {
	return slices.Contains([]string{"type", "format", "required", "enum", "pattern"}, key) ||
		strings.HasPrefix(key, "min") || strings.HasPrefix(key, "max")
}

// compareCheck compares what a schema says of values, besides rules.
func (c *Changes) compareCheck(path, key string, ours, live any) {
	if isCheck(key) && ours != nil && live == nil || key == preserveUnknown && ours == nil && live == true {
		c.Loose = append(c.Loose, path)
		return
	}
	c.compareValues(path, ours, live)
}

func (c *Changes) compareValues(path string, ours, live any) {
	if !reflect.DeepEqual(ours, live) {
		c.Others = append(c.Others, path)
	}
}

// nameOf is the path of a field, or words for that of the whole object.
func nameOf(path string) string {
	if path == "" {
		return "the object"
	}
	return path
}
