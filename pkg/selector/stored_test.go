// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func TestUnseen(t *testing.T) {
	fields := func(inner string) string { return `{"type":"object","properties":{` + inner + `}}` }
	for name, test := range map[string]struct{ schema, by, want string }{
		"the same":                 {fields(`"spec":` + fields(`"a":{}`)), fields(`"spec":` + fields(`"a":{}`)), ""},
		"fewer":                    {fields(`"spec":` + fields(`"a":{}`)), fields(`"spec":` + fields(`"a":{},"b":{}`)), ""},
		"one more":                 {fields(`"spec":` + fields(`"a":{},"b":{}`)), fields(`"spec":` + fields(`"a":{}`)), ".spec.b"},
		"what all have":            {fields(`"metadata":{},"kind":{}`), fields(``), ""},
		"preserved":                {fields(`"spec":` + fields(`"a":{}`)), fields(`"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true}`), ""},
		"preserved there only":     {fields(`"spec":{"x-kubernetes-preserve-unknown-fields":true}`), fields(`"spec":` + fields(`"a":{}`)), ".spec.*"},
		"in a list":                {fields(`"l":{"items":` + fields(`"a":{}`) + `}`), fields(`"l":{"items":` + fields(``) + `}`), ".l.*.a"},
		"in a map":                 {fields(`"m":{"additionalProperties":` + fields(`"a":{}`) + `}`), fields(`"m":{"additionalProperties":` + fields(``) + `}`), ".m.*.a"},
		"a map":                    {fields(`"m":{"additionalProperties":{"type":"string"}}`), fields(`"m":{}`), ".m.*"},
		"a map of the same":        {fields(`"m":{"additionalProperties":{"type":"string"}}`), fields(`"m":{"additionalProperties":{"type":"string"}}`), ""},
		"fields that a map has":    {fields(`"m":` + fields(`"a":{}`)), fields(`"m":{"additionalProperties":{"type":"string"}}`), ""},
		"fields of anything":       {fields(`"m":` + fields(`"a":{}`)), fields(`"m":{"additionalProperties":true}`), ""},
		"status":                   {fields(`"status":{}`), fields(``), ".status"},
		"a version without schema": {fields(`"spec":{}`), "", ".spec"},
	} {
		if got := unseen(object.JSON(test.schema), object.JSON(test.by), "", "metadata", "kind"); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
