// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ours, served string
		want         []string
	}{
		"the same":                  {`{"properties":{"a":{},"b":{"items":{"properties":{"c":{}}}}}}`, `{"properties":{"a":{},"b":{"items":{"properties":{"c":{}}}}}}`, nil},
		"nothing is served":         {`{}`, `null`, []string{"X"}},
		"a field is missing":        {`{"properties":{"a":{},"b":{}}}`, `{"properties":{"b":{}}}`, []string{"X.a"}},
		"all fields are missing":    {`{"properties":{"a":{},"b":{}}}`, `{}`, []string{"X.a", "X.b"}},
		"a field with fields":       {`{"properties":{"a":{"properties":{"b":{}}}}}`, `{"properties":{}}`, []string{"X.a"}},
		"a field of a field":        {`{"properties":{"a":{"properties":{"b":{},"c":{}}}}}`, `{"properties":{"a":{"properties":{"c":{}}}}}`, []string{"X.a.b"}},
		"a field of a list's items": {`{"properties":{"a":{"items":{"properties":{"b":{}}}}}}`, `{"properties":{"a":{"items":{"properties":{}}}}}`, []string{"X.a[].b"}},
		"no items":                  {`{"properties":{"a":{"items":{}}}}`, `{"properties":{"a":{}}}`, []string{"X.a[]"}},
		"a field more":              {`{"properties":{"a":{}}}`, `{"properties":{"a":{},"b":{"default":1}}}`, nil},
		"anything is kept":          {`{"properties":{"a":{"properties":{"b":{}}}}}`, `{"x-kubernetes-preserve-unknown-fields":true}`, nil},
		"anything is kept in items": {`{"properties":{"a":{"items":{"properties":{"b":{}}}}}}`, `{"properties":{"a":{"x-kubernetes-preserve-unknown-fields":true}}}`, nil},
		// What a schema names is cut to what it names of it, whatever is kept beside it.
		"anything but this is kept":    {`{"properties":{"a":{"properties":{"b":{}}}}}`, `{"x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{}}}`, []string{"X.a.b"}},
		"anything must be kept":        {`{"properties":{"a":{"x-kubernetes-preserve-unknown-fields":true}}}`, `{"properties":{"a":{}}}`, []string{"X.a.*"}},
		"anything must be kept, is":    {`{"properties":{"a":{"x-kubernetes-preserve-unknown-fields":true}}}`, `{"properties":{"a":{"additionalProperties":true}}}`, nil},
		"any key is missing":           {`{"additionalProperties":{"items":{}}}`, `{}`, []string{"X.*"}},
		"any key, none allowed":        {`{"additionalProperties":{"items":{}}}`, `{"additionalProperties":false}`, []string{"X.*"}},
		"any key has less":             {`{"additionalProperties":{"properties":{"a":{}}}}`, `{"additionalProperties":{"properties":{}}}`, []string{"X.*.a"}},
		"any key":                      {`{"additionalProperties":{"properties":{"a":{}}}}`, `{"additionalProperties":{"properties":{"a":{}}}}`, nil},
		"a field where any key may be": {`{"properties":{"a":{"properties":{"b":{}}}}}`, `{"additionalProperties":{"properties":{"c":{}}}}`, []string{"X.a.b"}},
		// A default says what a stored object does not: action Delete.
		"a default":          {`{"properties":{"a":{}}}`, `{"properties":{"a":{"default":"Delete"}}}`, []string{`X.a (default "Delete")`}},
		"another default":    {`{"properties":{"a":{"default":1}}}`, `{"properties":{"a":{"default":2}}}`, []string{"X.a (default 2)"}},
		"the same default":   {`{"properties":{"a":{"default":{"b": 1}}}}`, `{"properties":{"a":{"default":{"b":1}}}}`, nil},
		"default is missing": {`{"properties":{"a":{"default":1}}}`, `{"properties":{"a":{}}}`, nil},
	} {
		var ours, served *Schema
		if err := json.Unmarshal([]byte(test.ours), &ours); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(test.served), &served); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, Differences("X", ours, served)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
