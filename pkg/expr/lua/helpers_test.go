// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilclock "k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// now is the frozen clock of all tests: a Sunday.
var now = time.Date(2026, 3, 1, 9, 5, 7, 0, time.UTC)

func kind(group, version, name string) object.Kind {
	return object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: group, Version: version, Kind: name}, Namespaced: true}
}

func newObject(t testing.TB, k object.Kind, raw string) object.Object {
	t.Helper()
	o, err := object.New(k, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func deployment(t testing.TB, rest string) object.Object {
	t.Helper()
	return newObject(t, kind("apps", "v1", "Deployment"),
		`{"metadata":{"namespace":"default","name":"web","uid":"u1","resourceVersion":"7"}`+rest+`}`)
}

func configMap(t testing.TB, name string) object.Object {
	t.Helper()
	return newObject(t, kind("", "v1", "ConfigMap"),
		`{"metadata":{"namespace":"default","name":"`+name+`","uid":"uid-`+name+`","resourceVersion":"1"},"data":{"k":"v"}}`)
}

func collection(objects ...object.Object) *Collection {
	c := NewCollection()
	for _, o := range objects {
		c.Add(o)
	}
	return c
}

// session has no limit that a slow machine could meet.
func session(t testing.TB, source string) *Session {
	t.Helper()
	return sessionWith(t, source, Options{ObjectTimeout: time.Minute})
}

func sessionWith(t testing.TB, source string, options Options) *Session {
	t.Helper()
	program, err := Compile(source)
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	options.Now, options.Clock = now, utilclock.RealClock{}
	s := program.NewSession(options)
	t.Cleanup(s.Close)
	return s
}

// message runs a script on an empty Deployment and returns its message.
func message(t testing.TB, source string) string {
	t.Helper()
	match, err := session(t, source).Evaluate(t.Context(), deployment(t, ""))
	if err != nil {
		t.Fatalf("Evaluate: %v", err)
	}
	return match.Message
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func isScriptError(err error) bool {
	var script *ScriptError
	return errors.As(err, &script)
}

func encode(t testing.TB, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
