// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"crypto/sha512"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// What was read is kept as long as the cluster publishes it under the same hash. Without a hash that is unknown.
func TestSchemasAreKept(t *testing.T) {
	published, listed, hashed, documents := "", "", true, 0
	document := func(field string) string {
		return `{"components":{"schemas":{"Thing":{"type":"object","properties":{"` + field + `":{"type":"string"}},
			"x-kubernetes-group-version-kind":[{"group":"example.com","kind":"Thing","version":"v1"}]}}}}`
	}
	uri := func(field string) string {
		return fmt.Sprintf("/openapi/v3/apis/example.com/v1?hash=%X", sha512.Sum512([]byte(document(field))))
	}
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch listed := uri(listed); {
		case r.URL.Path == "/openapi/v3" && hashed:
			_, _ = fmt.Fprintf(w, `{"paths":{"apis/example.com/v1":{"serverRelativeURL":%q}}}`, listed)
		case r.URL.Path == "/openapi/v3":
			_, _ = fmt.Fprint(w, `{"paths":{"apis/example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/example.com/v1"}}}`)
		case r.URL.RawQuery != "" && r.URL.RequestURI() != uri(published): // kube-openapi's handler3 redirects, which the operator refuses
			w.WriteHeader(http.StatusBadGateway)
		default:
			documents++
			_, _ = fmt.Fprint(w, document(published))
		}
	})
	kept := &Schemas{}
	for _, test := range []struct {
		name              string
		published, listed string
		hashed            bool
		schemas           *Schemas
		documents         int
	}{
		{"the first", "a", "a", true, kept, 1},
		{"the same", "a", "a", true, kept, 1},
		{"another", "b", "b", true, kept, 2},
		{"a list that lags behind", "c", "a", true, kept, 3},
		{"back again", "a", "a", true, kept, 4},
		{"still the same", "a", "a", true, kept, 4},
		{"without a hash", "a", "a", false, kept, 5},
		{"still without", "a", "a", false, kept, 6},
		{"nothing is kept", "a", "a", true, nil, 7},
	} {
		published, listed, hashed = test.published, test.listed, test.hashed
		found, err := test.schemas.At(client).Schema(t.Context(), schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"})
		if err != nil || found == nil || documents != test.documents {
			t.Fatalf("%s: after %d documents there is %v, %v", test.name, documents, found, err)
		}
		if _, is := found.Properties[published]; !is {
			t.Errorf("%s: the schema has not the field %s: %v", test.name, published, found.Properties)
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
