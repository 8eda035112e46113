// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// harmless are fields of policies that select nothing.
var harmless = []string{"matchPolicy", "message", "scope"}

// operations is a field of policies for which a Cleaner has no equal.
const operations = "operations"

// unknown are conditions that nothing fulfils, for each field of the spec that is not known here: one of a newer
// Kyverno, or a mistyped one, may narrow the policy.
func (p *policy) unknown(spec any) (holes []v1alpha1.MatchCondition) {
	for _, f := range unknownFields("spec", p.d.Value["spec"], reflect.TypeOf(spec)) {
		if strings.HasSuffix(f.path, "."+operations) {
			p.lost(p.d, f.path, "is not carried over: a Cleaner looks at objects on a schedule, and not at requests",
				"the Cleaner selects these objects whatever was done with them; see with preview whether that is meant")
			continue
		}
		message := "is not known to import, and may narrow the policy"
		if f.near != "" {
			message += "; did you mean " + terminal.Quoted(f.near) + "?"
		}
		holes = append(holes, p.lose(f.path, message))
	}
	return holes
}

// unknownField is the path of a field, and the name that somebody may have meant.
type unknownField struct{ path, near string }

// unknownFields are those of a value that a type has not.
func unknownFields(path string, value any, of reflect.Type) (found []unknownField) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	list, _ := value.([]any)
	for i := range list {
		if of.Kind() == reflect.Slice {
			found = append(found, unknownFields(fmt.Sprintf("%s[%d]", path, i), list[i], of.Elem())...)
		}
	}
	fields, _ := value.(map[string]any)
	if of.Kind() != reflect.Struct {
		return found
	}
	var known []string
	for i := range of.NumField() {
		known = append(known, fieldName(of.Field(i).Name))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		at := slices.IndexFunc(known, func(one string) bool { return strings.EqualFold(one, name) })
		switch {
		case at >= 0:
			found = append(found, unknownFields(manifest.Join(path, name), fields[name], of.Field(at).Type)...)
		case name == operations && isEvery(fields[name]):
		case !slices.Contains(harmless, name):
			found = append(found, unknownField{manifest.Join(path, name), suggest.Nearest(name, known)})
		}
	}
	return found
}

// isEvery reports whether a list of operations has all of them, or none is asked for.
func isEvery(value any) bool {
	list, _ := value.([]any)
	return value == nil || slices.Contains(list, any("*")) || list != nil && len(list) == 0
}
