// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	value, err := JSON(text).Decode()
	if err != nil {
		t.Fatal(err)
	}
	return value.(map[string]any)
}

func TestChangesHoldsOnlyWhatChanges(t *testing.T) {
	const object = `{"metadata":{"labels":{"app":"x"}},"spec":{"replicas":3,"big":12345678901234567890,"list":[1,{"a":null}],"empty":{}}}`
	for name, test := range map[string]struct{ patch, want string }{
		"a new value":                       {`{"spec":{"replicas":0}}`, `{"spec":{"replicas":0}}`},
		"one of two":                        {`{"spec":{"replicas":0},"metadata":{"labels":{"app":"x","new":"y"}}}`, `{"spec":{"replicas":0},"metadata":{"labels":{"new":"y"}}}`},
		"the same value":                    {`{"spec":{"replicas":3}}`, ``},
		"the same number, another spelling": {`{"spec":{"replicas":3.0}}`, ``},
		"a big number":                      {`{"spec":{"big":12345678901234567890}}`, ``},
		"a neighbour of a big number":       {`{"spec":{"big":12345678901234567891}}`, `{"spec":{"big":12345678901234567891}}`},
		"null removes":                      {`{"spec":{"replicas":null}}`, `{"spec":{"replicas":null}}`},
		"null where nothing is":             {`{"spec":{"none":null},"status":null}`, ``},
		"the same list":                     {`{"spec":{"list":[1,{"a":null}]}}`, ``},
		"another list":                      {`{"spec":{"list":[]}}`, `{"spec":{"list":[]}}`},
		"an empty map where one is":         {`{"spec":{"empty":{}}}`, ``},
		"a map in place of a number":        {`{"spec":{"replicas":{"a":1}}}`, `{"spec":{"replicas":{"a":1}}}`},
		"a new map":                         {`{"metadata":{"annotations":{"a":"b"}}}`, `{"metadata":{"annotations":{"a":"b"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var want map[string]any
			if test.want != "" {
				want = decoded(t, test.want)
			}
			if diff := cmp.Diff(want, Changes(decoded(t, object), decoded(t, test.patch))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnlikeNamesWhatIsNotAsThePatchSetsIt(t *testing.T) {
	const object = `{"metadata":{"labels":{"app":"x"}},"spec":{"replicas":3,"list":[1],"text":"a"}}`
	for name, test := range map[string]struct {
		patch string
		want  []string
	}{
		"all is so":             {`{"metadata":{"labels":{"app":"x","none":null}},"spec":{"replicas":3.0,"list":[1]}}`, nil},
		"another value":         {`{"spec":{"replicas":2,"text":"a","list":[1,2]}}`, []string{"spec.list", "spec.replicas"}},
		"not there":             {`{"status":{"reason":"x","phase":"y"}}`, []string{"status.phase", "status.reason"}},
		"removed, and is there": {`{"spec":{"text":null}}`, []string{"spec.text"}},
		"removed from nothing":  {`{"metadata":{"annotations":{"a":null}},"status":null}`, nil},
		"a map where a text is": {`{"spec":{"text":{"a":1}}}`, []string{"spec.text.a"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Unlike(decoded(t, object), decoded(t, test.patch))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSameNumberDoesNotExplode(t *testing.T) {
	if sameNumber("1e999999999", "1e999999998") || sameNumber(json.Number(strings.Repeat("1", 100)), "1") {
		t.Error("different numbers are the same")
	}
}

func TestCheckPatch(t *testing.T) {
	for patch, want := range map[string]string{
		`{"spec":{"name":"x"}}`:                "",
		`{"metadata":{"labels":{"name":"x"}}}`: "",
		`{"kind":"Pod"}`:                       "it sets kind;",
		`{"apiVersion":"v2"}`:                  "it sets apiVersion;",
		`{"metadata":null}`:                    "its metadata is no map",
		`{"metadata":{"name":"x"}}`:            "it sets metadata.name;",
		`{"metadata":{"namespace":null}}`:      "it sets metadata.namespace;",
		`{"metadata":{"uid":"x"}}`:             "it sets metadata.uid;",
		`{"metadata":{"resourceVersion":"1"}}`: "it sets metadata.resourceVersion;",
	} {
		err := CheckPatch(decoded(t, patch))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", patch, err, want)
		}
	}
}

func TestEncodePatch(t *testing.T) {
	t.Parallel()
	if patch, err := EncodePatch(map[string]any{}); patch != nil || err != nil {
		t.Errorf("a patch that changes nothing: got %q, %v", patch, err)
	}
	// Of <, > and & the encoder would make six bytes each, and the patch too large.
	text := `{"data":{"k":"` + strings.Repeat("<", MaxPatch/2) + `"}}`
	if patch, err := EncodePatch(decoded(t, text)); string(patch) != text || err != nil {
		t.Errorf("got %d bytes, want %d: %v", len(patch), len(text), err)
	}
	large := map[string]any{"data": map[string]any{"k": strings.Repeat("x", MaxPatch)}}
	if _, err := EncodePatch(large); err == nil || err.Error() != "the patch has 1572881 bytes, and etcd holds at most 1572864 bytes of an object: change less of it" {
		t.Errorf("got %v", err)
	}
}

func TestAtVersion(t *testing.T) {
	t.Parallel()
	for patch, want := range map[string]string{
		`{"data":{"a":"<1>"}}`:                                  `{"data":{"a":"<1>"},"metadata":{"resourceVersion":"7"}}`,
		`{"metadata":{"labels":{"a":null}}}`:                    `{"metadata":{"labels":{"a":null},"resourceVersion":"7"}}`,
		`{"metadata":{"resourceVersion":"1"},"spec":{"n":1.0}}`: `{"metadata":{"resourceVersion":"7"},"spec":{"n":1.0}}`,
		`{"metadata":null}`:                                     `{"metadata":{"resourceVersion":"7"}}`,
	} {
		if got, err := AtVersion(JSON(patch), "7"); err != nil || string(got) != want {
			t.Errorf("%s: got %s, want %s (%v)", patch, got, want, err)
		}
	}
	if _, err := AtVersion(JSON(`[]`), "7"); err == nil {
		t.Error("a list is taken for a patch")
	}
}

// The API server moves what stringData sets into data, where it overrides what data sets.
func TestStoredPatch(t *testing.T) {
	for name, test := range map[string]struct{ group, kind, patch, want string }{
		"no stringData":             {"", "Secret", `{"data":{"a":"eA=="}}`, `{"data":{"a":"eA=="}}`},
		"stringData":                {"", "Secret", `{"stringData":{"a":"x"},"type":"t"}`, `{"data":{"a":"eA=="},"type":"t"}`},
		"stringData overrides data": {"", "Secret", `{"data":{"a":"eQ==","b":"eQ=="},"stringData":{"a":"x"}}`, `{"data":{"a":"eA==","b":"eQ=="}}`},
		"null removes nothing":      {"", "Secret", `{"data":{"a":"eQ=="},"stringData":{"a":null}}`, `{"data":{"a":"eQ=="}}`},
		"only nulls":                {"", "Secret", `{"stringData":{"a":null}}`, `{}`},
		"all data goes first":       {"", "Secret", `{"data":null,"stringData":{"a":"x"}}`, `{"data":null,"stringData":{"a":"x"}}`},
		"another kind":              {"", "ConfigMap", `{"stringData":{"a":"x"}}`, `{"stringData":{"a":"x"}}`},
		"a Secret of another group": {"example.com", "Secret", `{"stringData":{"a":"x"}}`, `{"stringData":{"a":"x"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			o := Object{Kind: Kind{GroupVersionKind: schema.GroupVersionKind{Group: test.group, Version: "v1", Kind: test.kind}}}
			got, err := o.StoredPatch(JSON(test.patch))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decoded(t, test.want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A Secret holds the stringData of a patch in its data.
func TestHoldsStringData(t *testing.T) {
	secret := Object{Kind: Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}}, Raw: []byte(`{"data":{"a":"eA=="}}`)}
	for patch, want := range map[string]bool{`{"stringData":{"a":"x"}}`: true, `{"stringData":{"a":"y"}}`: false} {
		if got, err := Holds(secret, JSON(patch)); got != want || err != nil {
			t.Errorf("%s: %v, %v", patch, got, err)
		}
	}
}
