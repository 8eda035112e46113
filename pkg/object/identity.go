// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// New reads the identity of an object of the given kind from its JSON, which must be well-formed, such as ScanList
// yields. The rest is only skipped. The object keeps raw and does not copy it. It is an error when name, UID or
// resourceVersion is missing, because nothing may be done to an object without them, and when a field that is read has
// another type than the API gives it.
func New(kind Kind, raw []byte) (Object, error) {
	o := Object{Kind: kind, Raw: raw}
	if err := o.read(); err != nil {
		return Object{}, fmt.Errorf("reading the metadata of %s %s/%s: %w", kind.Kind, o.Namespace, o.Name, err)
	}
	if o.Name == "" || o.UID == "" || o.ResourceVersion == "" {
		return Object{}, fmt.Errorf("%s %s/%s has no name, uid or resourceVersion", kind.Kind, o.Namespace, o.Name)
	}
	return o, nil
}

// read passes over the object once, and finds that it is there to its last bracket.
func (o *Object) read() error {
	raw := JSON(o.Raw)
	i, ok := open(raw, 0, '{')
	if !ok {
		return fmt.Errorf("the object is %s, not a map", raw.Type())
	}
	for {
		key, from, ok := keyAt(raw, i)
		if !ok {
			break
		}
		if !key.Is("metadata") {
			i = skipComma(raw, skipValue(raw, from))
			continue
		}
		end, err := o.identify(raw, from)
		if err != nil {
			return err
		}
		i = skipComma(raw, end)
	}
	if i == len(raw) || raw[i] != '}' || skipSpace(raw, i+1) != len(raw) {
		return errors.New("the text is not one whole JSON map")
	}
	return nil
}

// identify reads the metadata, which begins at i, and returns the index behind it. Where an object has two, the last
// counts.
func (o *Object) identify(raw JSON, i int) (end int, err error) {
	*o = Object{Kind: o.Kind, Raw: o.Raw}
	i, ok := open(raw, i, '{')
	if !ok {
		end = skipValue(raw, i)
		if t := raw[i:end].Type(); t != Null {
			return end, fmt.Errorf("metadata is %s, not a map", t)
		}
		return end, nil
	}
	var t Typed
	for {
		key, from, ok := keyAt(raw, i)
		if !ok {
			return closeMap(raw, i), t.Err
		}
		end := skipValue(raw, from)
		o.set(&t, key, raw[from:end])
		i = skipComma(raw, end)
	}
}

func (o *Object) set(t *Typed, key Key, value JSON) {
	switch string(key.name()) {
	case "namespace":
		o.Namespace = t.Text("namespace", value)
	case "name":
		o.Name = t.Text("name", value)
	case "uid":
		o.UID = types.UID(t.Text("uid", value))
	case "resourceVersion":
		o.ResourceVersion = t.Text("resourceVersion", value)
	case "creationTimestamp":
		o.Created = t.time("creationTimestamp", value)
	case "deletionTimestamp":
		t.time("deletionTimestamp", value)
		o.Deleting = value.Type() == String
	}
}

// Typed reads values of the types that the API gives them, and keeps the first error. Null is the zero value, as it is
// to the API server.
type Typed struct{ Err error }

func (t *Typed) is(want Type, field string, value JSON) bool {
	got := value.Type()
	if got > Null && got != want && t.Err == nil {
		t.Err = fmt.Errorf("%s is %s, not %s", field, got, want)
	}
	return got == want
}

// Text is a text, or empty.
func (t *Typed) Text(field string, value JSON) string {
	if !t.is(String, field, value) {
		return ""
	}
	return value.Text()
}

func (t *Typed) time(field string, value JSON) time.Time {
	var at time.Time
	if !t.is(String, field, value) {
		return at
	}
	if err := at.UnmarshalText(value.unquoted()); err != nil && t.Err == nil {
		t.Err = fmt.Errorf("%s is no time of RFC 3339, such as 2026-01-02T03:04:05Z", field)
	}
	return at
}

// Integer is nil where there is none.
func (t *Typed) Integer(field string, value JSON) *int64 {
	if !t.is(Number, field, value) {
		return nil
	}
	n, err := strconv.ParseInt(value.String(), 10, 64)
	if err != nil && t.Err == nil {
		t.Err = fmt.Errorf("%s is not an integer", field)
	}
	return &n
}
