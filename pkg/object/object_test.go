// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

func TestNewReadsWhatTheAPIServerSends(t *testing.T) {
	raw := samplePod(t)
	o, err := New(configMaps(), raw)
	if err != nil {
		t.Fatal(err)
	}
	want := Object{
		Kind: configMaps(), Raw: raw, Namespace: "shop", Name: "web-7c9d8bb6f4-x2x7q", UID: "4f0f8c6e-6f43-4a92-8d3a-1f7f2f5b9d10", ResourceVersion: "1234567",
		Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Error(diff)
	}
	if &o.Raw[0] != &raw[0] {
		t.Error("New copied the bytes")
	}
}

// The identity is what the API server means: not a field inside the spec, not a name in another case, the last of two.
func TestNewReadsTheRightFields(t *testing.T) {
	const identity = `"name":"b","uid":"u","resourceVersion":"9"`
	for name, raw := range map[string]string{
		"the metadata last":     `{"spec":{"template":{"metadata":{"name":"x","uid":"x"}}},"metadata":{` + identity + `}}`,
		"the metadata first":    `{"metadata":{` + identity + `},"spec":{"metadata":{"name":"x","uid":"x"}}}`,
		"owners":                `{"metadata":{"ownerReferences":[{"name":"x","uid":"x"}],` + identity + `,"labels":{"name":"x","uid":"x"}}}`,
		"another case":          `{"metadata":{` + identity + `,"Name":"x","UID":"x"},"Metadata":{"name":"x"},"METADATA":{"uid":"x"}}`,
		"two of everything":     `{"metadata":{"name":"x","uid":"x","resourceVersion":"x","deletionTimestamp":"2026-01-02T03:04:06Z"},"metadata":{"name":"y",` + identity + `}}`,
		"escapes":               `{"met\u0061data":{"n\u0061me":"\u0062","uid":"u","resourceVersion":"9"}}`,
		"space":                 " {\n \"metadata\" : {\t\"name\" : \"b\" , \"uid\":\"u\",\"resourceVersion\":\"9\" }\r\n} ",
		"null is what is unset": `{"metadata":{"namespace":null,"creationTimestamp":null,"deletionTimestamp":null,` + identity + `}}`,
		"braces in text":        `{"a":"}","b":["]\"",{}],"metadata":{"annotations":{"x":"}\\"},` + identity + `}}`,
	} {
		o, err := New(configMaps(), []byte(raw))
		want := Object{Kind: configMaps(), Raw: []byte(raw), Name: "b", UID: "u", ResourceVersion: "9"}
		if diff := cmp.Diff(want, o); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

// Nothing may be done to an object without an identity.
func TestNewRefusesAnObjectWithoutIdentity(t *testing.T) {
	const none, cut = "ConfigMap / has no name, uid or resourceVersion", "the text is not one whole JSON map"
	for raw, want := range map[string]string{
		`{}`:                                     none,
		`{"metadata":null}`:                      none,
		`{"Metadata":{"name":"b"}}`:              none,
		`{"metadata":{"name":"b","uid":"u"}}`:    "ConfigMap /b has no name, uid or resourceVersion",
		`{"metadata":{"name":"b","uid":null}}`:   "ConfigMap /b has no name, uid or resourceVersion",
		`{"metadata":{"resourceVersion":"1"}}`:   none,
		``:                                       "the object is nothing, not a map",
		`null`:                                   "the object is null, not a map",
		`[]`:                                     "the object is a list, not a map",
		`{"metadata":[]}`:                        "metadata is a list, not a map",
		`{"metadata":"x"}`:                       "metadata is a string, not a map",
		`{"metadata":{"name":1}}`:                "name is a number, not a string",
		`{"metadata":{"name":"b","uid":{}}}`:     "reading the metadata of ConfigMap /b: uid is a map, not a string",
		`{"metadata":{"resourceVersion":7}}`:     "resourceVersion is a number, not a string",
		`{"metadata":{"namespace":[]}}`:          "namespace is a list, not a string",
		`{"metadata":{"creationTimestamp":1}}`:   "creationTimestamp is a number, not a string",
		`{"metadata":{"creationTimestamp":""}}`:  "creationTimestamp is no time of RFC 3339",
		`{"metadata":{"deletionTimestamp":"x"}}`: "deletionTimestamp is no time of RFC 3339",
		`{"metadata":{"creationTimestamp":"2026-01-02"}}`:               "creationTimestamp is no time of RFC 3339",
		`{"metadata":{"creationTimestamp":"2026-02-30T00:00:00Z"}}`:     "creationTimestamp is no time of RFC 3339",
		`{"metadata":{"name":"b","uid":"u","resourceVersion":"1"}`:      cut,
		`{"metadata":{"name":"b","uid":"u","resourceVersion":"1"`:       cut,
		`{"metadata":{"name":"b","uid":"u","resourceVersion":"1`:        cut,
		`{"metadata":{"name":"b","uid":"u","resourceVersion":"1"}}}`:    cut,
		`{"metadata":{"name":"b","uid":"u","resourceVersion":"1"}}{}`:   cut,
		`{"metadata":{"name":"b","uid":"u","resourceVersion":"1"},"a"}`: cut,
	} {
		if o, err := New(configMaps(), []byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", raw, o, err, want)
		}
	}
}

func TestNewReadsTimes(t *testing.T) {
	for text, want := range map[string]time.Time{
		"0001-01-01T00:00:00Z":      {},
		"2026-01-02T03:04:05Z":      time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		"2026-01-02T03:04:05.25Z":   time.Date(2026, 1, 2, 3, 4, 5, 250_000_000, time.UTC),
		"2026-01-02T03:04:05+02:00": time.Date(2026, 1, 2, 1, 4, 5, 0, time.UTC),
	} {
		o, err := New(configMaps(), []byte(`{"metadata":{"name":"b","uid":"u","resourceVersion":"1","creationTimestamp":"`+text+`","deletionTimestamp":"`+text+`"}}`))
		if err != nil || !o.Created.Equal(want) || !o.Deleting {
			t.Errorf("%s is %s, deleting %v: %v", text, o.Created, o.Deleting, err)
		}
	}
}

func TestCloneKeepsItsBytes(t *testing.T) {
	raw := []byte(`{"metadata":{"name":"b","uid":"u","resourceVersion":"1"}}`)
	o, err := New(configMaps(), raw)
	if err != nil {
		t.Fatal(err)
	}
	clone, want := o.Clone(), string(raw)
	clear(raw)
	if string(clone.Raw) != want || clone.Name != "b" || string(o.Raw) == want {
		t.Errorf("the clone is %+v", clone)
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

// samplePod is a Pod as a list of built-in kinds holds it, 40 % of it managedFields.
func samplePod(tb testing.TB) []byte {
	tb.Helper()
	raw, err := os.ReadFile("testdata/pod.json")
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}
