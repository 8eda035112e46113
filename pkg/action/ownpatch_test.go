// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// The API server's notes distinguish an own change that was sent twice from somebody else's of the same content.
func TestIsOurs(t *testing.T) {
	t.Parallel()
	const labels = `{"f:metadata":{"f:labels":{".":{},"f:a":{}}}}`
	const a = `{"metadata":{"labels":{"a":"1"}}}`
	for name, c := range map[string]struct {
		manager, fields, subresource string
		patch                        string
		want                         bool
	}{
		"ours":               {"kubecleaner", labels, "", a, true},
		"somebody else's":    {"kubectl-edit", labels, "", a, false},
		"the status":         {"kubecleaner", labels, "status", a, false},
		"another field":      {"kubecleaner", `{"f:metadata":{"f:labels":{".":{},"f:b":{}}}}`, "", a, false},
		"a field as a whole": {"kubecleaner", `{"f:metadata":{"f:labels":{}}}`, "", a, true},
		"it does not hold":   {"kubecleaner", labels, "", `{"metadata":{"labels":{"a":"2"}}}`, false},
		"and one removed":    {"kubecleaner", labels, "", `{"metadata":{"labels":{"a":"1","b":null}}}`, true},
		"no notes":           {"kubecleaner", `{}`, "", a, false},
		"not readable":       {"kubecleaner", `[]`, "", a, false},
		"nothing was sent":   {"kubecleaner", labels, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","uid":"1","resourceVersion":"5","labels":{"a":"1"},"managedFields":[{"manager":%q,"operation":"Update","subresource":%q,"fieldsType":"FieldsV1","fieldsV1":%s}]}}`,
				c.manager, c.subresource, c.fields)
			live, err := object.New(object.Kind{}, []byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			if got := isOurs(live, object.JSON(c.patch)); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// What a patch sets as stringData is noted as data.
func TestIsOursStringData(t *testing.T) {
	t.Parallel()
	const raw = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x","uid":"1","resourceVersion":"5","managedFields":[{"manager":"kubecleaner","operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:a":{}}}}]},"data":{"a":"eA=="}}`
	live, err := object.New(object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}}, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	if !isOurs(live, object.JSON(`{"stringData":{"a":"x"}}`)) {
		t.Error("it is ours")
	}
}
