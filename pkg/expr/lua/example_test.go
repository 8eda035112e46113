// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// A script of k8s-cleaner judges an object. It sees the object only, and nothing of this machine.
func ExampleSession_Evaluate() {
	program, err := lua.Compile(`
function evaluate()
  local hs = {matching = false}
  if obj.data == nil then
    hs.matching = true
    hs.message = obj.metadata.name .. " is empty"
  end
  return hs
end`)
	if err != nil {
		fmt.Println(err)
		return
	}
	session := program.NewSession(lua.Options{Clock: clock.RealClock{}})
	defer session.Close()
	match, err := session.Evaluate(context.Background(), object.Object{
		Kind: object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}},
		Raw:  []byte(`{"metadata":{"name":"banner"}}`),
	})
	fmt.Println(match.Matching, match.Message, err)
	// Output: true banner is empty <nil>
}
