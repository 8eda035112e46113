// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
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
