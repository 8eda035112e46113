// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func configMaps() Kind {
	return Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Resource: "configmaps", Namespaced: true}
}

func TestPath(t *testing.T) {
	deployments := Kind{GroupVersionKind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Resource: "deployments"}
	for want, got := range map[string]string{
		"/api/v1/configmaps":                       configMaps().Path("", ""),
		"/api/v1/namespaces/a/configmaps":          configMaps().Path("a", ""),
		"/api/v1/namespaces/a/configmaps/b":        configMaps().Path("a", "b"),
		"/apis/apps/v1/deployments":                deployments.Path("", ""),
		"/apis/apps/v1/namespaces/a/deployments/b": deployments.Path("a", "b"),
	} {
		if got != want {
			t.Errorf("path is %s, want %s", got, want)
		}
	}
}

func TestNewReadsTheIdentity(t *testing.T) {
	o, err := New(configMaps(), []byte(`{"metadata":{"namespace":"a","name":"b","uid":"u","resourceVersion":"9","creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":"2026-01-02T03:04:06Z"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if o.Namespace != "a" || o.Name != "b" || o.UID != "u" || o.ResourceVersion != "9" || !o.Deleting || o.Created.Year() != 2026 || o.String() != "ConfigMap a/b" {
		t.Fatalf("the object is %+v", o)
	}
}

// Nothing may be done to an object without an identity.
func TestNewRefusesAnObjectWithoutIdentity(t *testing.T) {
	for _, raw := range []string{
		`{}`, `null`, `[]`, `{"metadata":{"name":"b","uid":"u"}}`, `{"metadata":{"name":"b","resourceVersion":"1"}}`,
		`{"metadata":{"uid":"u","resourceVersion":"1"}}`, `{"metadata":{"name":"b","uid":"u","resourceVersion":"1"}`,
	} {
		if o, err := New(configMaps(), []byte(raw)); err == nil {
			t.Errorf("%s passes: %+v", raw, o)
		}
	}
}

func TestValueAddsTheKindAndKeepsNumbersExact(t *testing.T) {
	o := Object{Kind: configMaps(), Raw: []byte(`{"n":12345678901234567890}`)}
	value, err := o.Value()
	if err != nil {
		t.Fatal(err)
	}
	if value["kind"] != "ConfigMap" || value["apiVersion"] != "v1" || value["n"] != json.Number("12345678901234567890") {
		t.Fatalf("the value is %v", value)
	}
}
