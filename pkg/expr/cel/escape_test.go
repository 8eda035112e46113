// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// What an object holds must not make an expression expensive beyond its limit, whoever wrote the object.
func TestObjectsCannotEscapeTheCostLimit(t *testing.T) {
	var keys strings.Builder
	for i := range 80_000 {
		fmt.Fprintf(&keys, `"k%d":"",`, i)
	}
	for name, test := range map[string]struct{ expression, data string }{
		"a map of many keys":         {"lists.range(3000).all(x, object.data.exists(k, true))", keys.String() + `"z":""`},
		"a long pattern that is bad": {"lists.range(300).all(x, 'a'.matches(object.data.p) || true)", `"p":"` + strings.Repeat("(a|b)*", 150_000) + `["`},
		"a pattern of a few KiB":     {"lists.range(3000).all(x, 'a'.matches(object.data.p) || true)", `"p":"` + strings.Repeat("(a|b)*", 600) + `["`},
	} {
		t.Run(name, func(t *testing.T) {
			program, err := Compile([]v1alpha1.MatchCondition{{Name: "hostile", Expression: test.expression}})
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			_, _, err = program.NewRun(begin).Evaluate(t.Context(), object.Object{Raw: []byte(`{"data":{` + test.data + `}}`)})
			if took := time.Since(begin); took > time.Minute { // tens of milliseconds, on a quiet machine without -race
				t.Errorf("it took %s: %v", took, err)
			}
		})
	}
}
