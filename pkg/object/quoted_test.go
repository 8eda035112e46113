// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Who refuses a change may quote the object: what it holds is hidden, and what it is called is not.
func TestMaskQuoted(t *testing.T) {
	raw := `{"metadata":{"namespace":"shop","name":"settings","uid":"u","resourceVersion":"1","annotations":{"note":"for-the-audit","same":"settings",
"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"a\":\"earlier-value\"}}"}},"data":{"a":"present-value","b":"first line\nsecond line\n"},
"spec":{"template":{"spec":{"containers":[{"name":"container","env":[{"name":"PASSWORD","value":"in-the-environment"},{"name":"URL","value":"db://h?ssl=off&password=hunter2"}]}]}}}}`
	o, err := New(configMaps(), []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"settings of shop may not be deleted":                       "settings of shop may not be deleted",
		"a: present-value, was earlier-value":                       "a: ******, was ******",
		"b: |\n    first line\n    second line\n":                   "b: |\n    ******\n    ******\n",
		"PASSWORD is in-the-environment in container":               "PASSWORD is ****** in container",
		"it is for-the-audit; new-value is bad":                     "it is ******; ****** is bad",
		`said: {"env": "db://h?ssl=off\u0026password=hunter2"}`:     `said: {"env": "******"}`,
		"bytes [112 114 101 115 101 110 116 45 118 97 108 117 101]": "bytes [******]",
	} {
		if got := MaskQuoted(text, o, JSON(`{"data":{"a":"new-value"}}`)); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	// Of an object of which only the name is known, nobody can have quoted anything; of a Secret it may be all the same.
	if got := MaskQuoted("it is not served", Object{Kind: configMaps(), Name: "a"}, nil); got != "it is not served" {
		t.Errorf("of an object without bytes, it becomes %q", got)
	}
	secrets := Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}}
	if got := MaskQuoted("it is not served", Object{Kind: secrets, Name: "a"}, nil); got != unreadable {
		t.Errorf("of a Secret without bytes, it becomes %q", got)
	}
	if got := MaskQuoted("present-value", Object{Raw: []byte("{")}, nil); got != unreadable {
		t.Errorf("of what cannot be read, it becomes %q", got)
	}
}
