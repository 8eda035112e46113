// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// What was read is kept as long as the cluster publishes it under the same hash. Without a hash that is unknown.
func TestSchemasAreKept(t *testing.T) {
	query, documents := "?hash=A", 0
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/openapi/v3" {
			_, _ = fmt.Fprintf(w, `{"paths":{"apis/example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/example.com/v1%s"}}}`, query)
			return
		}
		documents++
		_, _ = fmt.Fprintf(w, `{"components":{"schemas":{"Thing":{"type":"object","properties":{"field%d":{"type":"string"}},
			"x-kubernetes-group-version-kind":[{"group":"example.com","kind":"Thing","version":"v1"}]}}}}`, documents)
	})
	kept := &Schemas{}
	for _, test := range []struct {
		name, query string
		schemas     *Schemas
		want        int
	}{
		{"the first", "?hash=A", kept, 1},
		{"the same", "?hash=A", kept, 1},
		{"another", "?hash=B", kept, 2},
		{"back again", "?hash=A", kept, 3},
		{"without a hash", "", kept, 4},
		{"still without", "", kept, 5},
		{"nothing is kept", "?hash=A", nil, 6},
	} {
		query = test.query
		found, err := test.schemas.At(client).Schema(t.Context(), schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"})
		if err != nil || found == nil || documents != test.want {
			t.Errorf("%s: after %d documents there is %v, %v", test.name, documents, found, err)
		}
	}
}

// Where the schemas of a kind are is said by the server that has the kind. It leads to no other path.
func TestSchemasLeadNowhereElse(t *testing.T) {
	var asked []string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		_, _ = w.Write([]byte(`{"paths":{"apis/example.com/v1":{"serverRelativeURL":"/api/v1/nodes/n/proxy/pods?hash=A"}}}`))
	})
	found, err := (&Schemas{}).At(client).Schema(t.Context(), schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"})
	const want = `nothing was sent to the API server: it says that the schemas of example.com/v1 are at "/api/v1/nodes/n/proxy/pods?hash=A", where no schemas are`
	if found != nil || err == nil || !strings.Contains(err.Error(), want) || len(asked) != 1 {
		t.Errorf("got %v, %v after requests for %q", found, err, asked)
	}
}

func TestSchemasAreNotKeptWithoutEnd(t *testing.T) {
	kept := &Schemas{}
	for i := range 3 * maxSchemas {
		gvk := schema.GroupVersionKind{Kind: fmt.Sprint(i)}
		if kept.keep(gvk, "/?hash=A", &spec.Schema{}); kept.find(gvk, "/?hash=A") == nil {
			t.Fatalf("the schema of kind %d was not kept", i)
		}
	}
	if n := len(kept.kept); n != maxSchemas {
		t.Errorf("%d schemas are kept", n)
	}
}
