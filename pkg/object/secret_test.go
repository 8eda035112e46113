// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMask(t *testing.T) {
	// hunter2hunter2, abc
	raw := []byte(`{"metadata":{"name":"s"},"data":{"password":"aHVudGVyMmh1bnRlcjI=","short":"YWJj"}}`)
	secret := Object{Kind: Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}}, Raw: raw}
	other := Object{Kind: configMaps(), Raw: raw}
	for text, want := range map[string]string{
		"pw is hunter2hunter2!":            "pw is ******!",
		"pw is aHVudGVyMmh1bnRlcjI= twice": "pw is ****** twice",
		"aHVudGVyMmh1bnRlcjI":              "******",
		"abc is in any text":               "abc is in any text",
		"":                                 "",
	} {
		if got := Mask(text, secret); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if got := Mask(text, other); got != text {
			t.Errorf("of another kind, %q becomes %q", text, got)
		}
	}
}

// What a patch would put into a Secret is hidden as what is in it: also what the API server would refuse.
func TestMaskHidesWhatAPatchWouldSet(t *testing.T) {
	secret := Object{Kind: Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}}, Raw: []byte(`{"data":{"a":"aHVudGVyMg=="}}`)}
	for name, test := range map[string]struct{ patch, text, want string }{
		"plain":                {`{"data":{"b":"bmV3LXBhc3N3b3Jk"}}`, "it is new-password.", "it is ******."},
		"base64":               {`{"data":{"b":"bmV3LXBhc3N3b3Jk"}}`, "it is bmV3LXBhc3N3b3Jk.", "it is ******."},
		"removed":              {`{"data":{"a":null}}`, "it is hunter2.", "it is ******."},
		"stringData":           {`{"stringData":{"b":"new-password"}}`, "it is new-password.", "it is ******."},
		"stringData as base64": {`{"stringData":{"b":"new-password"}}`, "it is bmV3LXBhc3N3b3Jk.", "it is ******."},
		"not base64":           {`{"data":{"b":"new-password!"}}`, "it is new-password!.", "it is ******."},
		"a number":             {`{"data":{"b":12345678}}`, "it is 12345678.", "it is ******."},
		"a map":                {`{"data":{"b":{"c":["new-password!"]}}}`, "it is new-password!.", "it is ******."},
		"no data":              {`{"metadata":{"labels":{"a":"b"}}}`, "it is labelled", "it is labelled"},
		"data that is no map":  {`{"data":"new-password!"}`, "it is new-password!.", "(left out: the Secret cannot be read)"},
	} {
		if got := Mask(test.text, secret, secret.Patch(JSON(test.patch))); got != test.want {
			t.Errorf("%s: %q becomes %q, want %q", name, test.text, got, test.want)
		}
	}
	other := Object{Kind: configMaps()}
	if got := Mask("it is new-password", other, other.Patch(JSON(`{"data":{"b":"new-password"}}`))); got != "it is new-password" {
		t.Errorf("of another kind: %q", got)
	}
}

// One value may be a part of another: then nothing of the longer one may stay.
func TestMaskTakesTheLongestValue(t *testing.T) {
	secret := func(raw string) Object {
		return Object{Kind: Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}}, Raw: []byte(raw)}
	}
	// hunter2, hunter2hunter2
	objects := []Object{secret(`{"data":{"a":"aHVudGVyMg=="}}`), secret(`{"data":{"b":"aHVudGVyMmh1bnRlcjI="}}`)}
	if got := Mask("it is hunter2hunter2.", objects...); got != "it is ******." {
		t.Errorf("masked: %q", got)
	}
	if got := Mask("anything", secret(`{"data":1}`)); got != "(left out: the Secret cannot be read)" {
		t.Errorf("of a Secret that cannot be read: %q", got)
	}
}

// A text is cut before it is masked: the beginning of a value is hidden as well.
func TestMaskHidesTheBeginningOfAValue(t *testing.T) {
	key := strings.Repeat("0123456789abcdefXYZ\n", 100)
	raw := `{"data":{"tls.key":"` + base64.StdEncoding.EncodeToString([]byte(key)) + `"}}`
	secret := Object{Kind: Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}}, Raw: []byte(raw)}
	line := strings.ReplaceAll(key, "\n", " ")
	for text, want := range map[string]string{
		"key " + line[:900]:                                           "key ******",
		"key " + line[:900] + " is bad":                               "key ****** is bad",
		"key " + line[:10]:                                            "key ******",
		"key " + key[:300] + "!":                                      "key ******!",
		"key " + strconv.Quote(key)[1:200]:                            "key ******",
		"key " + base64.StdEncoding.EncodeToString([]byte(key))[:400]: "key ******",
		"0123 is no secret":                                           "0123 is no secret",
	} {
		if got := Mask(text, secret); got != want {
			t.Errorf("%.30q... becomes %.80q, want %q", text, got, want)
		}
	}
}
