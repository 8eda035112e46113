// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/kinds"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// scope finds namespaces for a kind whose objects are in none.
func (r *Result) scope(field string, sel *v1alpha1.ResourceSelector, known *kinds.Known) {
	if !known.IsClusterScoped(schema.GroupVersionKind{Group: sel.Group, Version: sel.Version, Kind: sel.Kind}) {
		return
	}
	for name, value := range map[string]string{
		"namespace": sel.Namespace, "namespaceSelector": sel.NamespaceSelector,
	} {
		if value != "" {
			message := sel.Kind + " is cluster-scoped: its objects are in no namespace"
			r.add(field+"."+name, codes.SelectorScope, message, "remove "+name)
			r.forget(field, codes.EverythingMatches)
		}
	}
}

// names warns of a script that calls the object by another name than the one it has: that is nothing, and the script
// fails.
func (r *Result) names(field, script, name string) {
	if script == "" || r.has(field) {
		return
	}
	words := slices.DeleteFunc(append([]string{"object", "obj", "resources"}, objectWords...), func(word string) bool {
		return word == name
	})
	called, line := lua.Undefined(script, words)
	if called == "" {
		r.absent(field, script)
		return
	}
	hint := "the object is called " + name
	if name == "resources" {
		hint = "the objects are in the list resources, each as an entry of it"
	}
	r.inText(field, codes.LuaName, called+" is not defined", line, 0)
	r.Problems[len(r.Problems)-1].Hint = hint
}

// absent warns of a call of a function that scripts do not have here: it fails.
func (r *Result) absent(field, script string) {
	if function, line := lua.Absent(script); function != "" {
		r.inText(field, codes.LuaName, "there is no function "+function+" here, so calling it fails", line, 0)
		r.Problems[len(r.Problems)-1].Hint = "scripts have string, table, math, and of os: time, date and difftime"
	}
}

// patchFits finds what a mergePatch sets that objects of the kind do not have, or that is of another type there.
func (r *Result) patchFits(sel *v1alpha1.ResourceSelector, known *kinds.Known) {
	types := known.Schema(schema.GroupVersionKind{Group: sel.Group, Version: sel.Version, Kind: sel.Kind})
	if types == nil || r.Cleaner.Spec.MergePatch == nil || r.anyBelow("spec.mergePatch") {
		return
	}
	if patch, err := StaticPatch(r.Cleaner); err == nil {
		r.fits("spec.mergePatch", sel.Kind, patch, types)
	}
}

func (r *Result) fits(path, kind string, patch map[string]any, types *spec.Schema) {
	for _, name := range slices.Sorted(maps.Keys(patch)) {
		field, known := manifest.Join(path, name), types.Properties[name]
		_, isProperty := types.Properties[name]
		others := types.AdditionalProperties
		switch {
		case isProperty:
		case others != nil && others.Schema != nil:
			known = *others.Schema
		case len(types.Properties) > 0 && others == nil:
			message := fmt.Sprintf("%s has no such field", terminal.WithArticle(kind))
			if near := suggest.Nearest(name, slices.Sorted(maps.Keys(types.Properties))); near != "" {
				message += "; did you mean " + terminal.Quoted(near) + "?"
			}
			r.add(field, codes.PatchWrong, message, "")
			continue
		default:
			continue
		}
		r.fitsType(field, kind, patch[name], &known)
	}
}

// fitsType looks at one value of a patch. Nothing, which takes a field away, fits always.
func (r *Result) fitsType(field, kind string, value any, types *spec.Schema) {
	is := typeOf(value)
	if is == "" || len(types.Type) == 0 || types.Type.Contains(is) ||
		is == "integer" && (types.Type.Contains("number") || types.Format == "int-or-string") {
		if below, ok := value.(map[string]any); ok {
			r.fits(field, kind, below, types)
		}
		return
	}
	wanted := types.Type[0]
	message := fmt.Sprintf("must be %s in %s, not %s", article(wanted), terminal.WithArticle(kind), article(is))
	r.add(field, codes.PatchWrong, message, typeHint(wanted, is))
}

// typeOf is the type of a value in the words of schemas. It is empty for those that need no look.
func typeOf(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		return "integer"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return ""
}
