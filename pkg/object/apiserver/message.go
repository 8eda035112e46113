// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Message knows how objects of one Go type are written in protobuf, and how the same is written as JSON. The tags of
// the type's fields say both.
type Message struct {
	name string
	// fields are by their numbers. Nil is a number that no field has.
	fields []*messageField
}

type messageField struct {
	// name is the field's name in JSON, with quotes and colon. Empty when the fields of the value stand in its place.
	name []byte
	form valueForm
	// isList and isMap are true when there may be many values.
	isList, isMap bool
	// omitEmpty is true when JSON leaves an empty value out.
	omitEmpty bool
	message   *Message
	typ       reflect.Type
}

// valueForm is how a value is written.
type valueForm uint8

const (
	formText valueForm = iota
	formBytes
	formNumber
	formBool
	formMessage
	formTime
	formQuantity
	// formOwn is of a type with methods that know how.
	formOwn
	// formNone is not written at all.
	formNone
)

var formOfKind = map[reflect.Kind]valueForm{
	reflect.String: formText, reflect.Slice: formBytes, reflect.Bool: formBool, reflect.Int32: formNumber,
	reflect.Int64: formNumber,
}

// maxFieldNumber is the greatest number that a field may have.
const maxFieldNumber = 63

// ownForm is implemented by types whose tags do not say how they are written.
type ownForm interface {
	json.Marshaler
	Unmarshal(protobuf []byte) error
}

// MessageOf is the Message of a Go type with tags for JSON and protobuf, such as corev1.Pod.
func MessageOf(of any) (*Message, error) {
	t := reflect.TypeOf(of)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return messages{}.of(t)
}

// messages are those of one type and of all types in it.
type messages map[reflect.Type]*Message

func (all messages) of(t reflect.Type) (*Message, error) {
	if m := all[t]; m != nil {
		return m, nil
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s has no fields", t)
	}
	m := &Message{name: t.String(), fields: make([]*messageField, maxFieldNumber+1)}
	all[t] = m
	for i := range t.NumField() {
		tag := t.Field(i).Tag.Get("protobuf")
		if tag == "" {
			continue // apiVersion and kind, which stand outside
		}
		_, rest, _ := strings.Cut(tag, ",")
		text, _, _ := strings.Cut(rest, ",")
		number, err := strconv.Atoi(text)
		if err != nil || number < 1 || number > maxFieldNumber {
			return nil, fmt.Errorf("%s has a field %q", t, tag)
		}
		if m.fields[number], err = all.field(t.Field(i)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (all messages) field(of reflect.StructField) (*messageField, error) {
	name, options, _ := strings.Cut(of.Tag.Get("json"), ",")
	f := &messageField{omitEmpty: strings.Contains(options, "omitempty")}
	if name != "" {
		f.name = append(strconv.AppendQuote(nil, name), ':')
	}
	t := of.Type
	switch {
	case t.Kind() == reflect.Pointer:
		t, f.omitEmpty = t.Elem(), false // what is there was set
	case t.Kind() == reflect.Map:
		t, f.isMap = t.Elem(), true
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		t, f.isList = t.Elem(), true
	}
	f.omitEmpty = f.omitEmpty && !f.isMany()
	return f, all.setForm(f, t)
}

func (all messages) setForm(f *messageField, t reflect.Type) (err error) {
	f.typ = t
	switch {
	case t == reflect.TypeFor[metav1.ManagedFieldsEntry]():
		f.form = formNone
	case t == reflect.TypeFor[metav1.Time]():
		f.form = formTime
	case t == reflect.TypeFor[resource.Quantity]():
		f.form = formQuantity
	case reflect.PointerTo(t).Implements(reflect.TypeFor[ownForm]()):
		f.form = formOwn
	case t.Kind() == reflect.Struct:
		f.form = formMessage
		f.message, err = all.of(t)
	default:
		form, isKnown := formOfKind[t.Kind()]
		if !isKnown || form == formBytes && t.Elem().Kind() != reflect.Uint8 {
			return fmt.Errorf("nobody knows how %s is written", t)
		}
		f.form = form
	}
	return err
}
