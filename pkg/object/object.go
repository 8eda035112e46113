// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package object holds one Kubernetes object as the bytes that the API server sent. Bytes are decoded only where
// somebody looks, so that what nobody touches stays exact. The processes that run scripts have it in them, and start in
// a third of the time without Kubernetes' Go types: what needs these is in the packages below.
package object

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Kind is a kind as the cluster serves it.
type Kind struct {
	schema.GroupVersionKind
	// Resource is the plural name in paths, for example "configmaps".
	Resource string
	// Namespaced is false for a cluster-scoped kind.
	Namespaced bool
}

// APIVersion is the kind's group and version as objects write it, for example "apps/v1".
func (k Kind) APIVersion() string { return k.GroupVersion().String() }

// Object is one object as the API server sent it. It is never changed.
type Object struct {
	Kind Kind
	// Raw is the object's JSON. In a list of a built-in kind it has no kind and apiVersion: Value adds them. It is the
	// very slice that New was given, so it is valid only as long as that one: Clone an object that is to stay.
	Raw []byte

	Namespace       string
	Name            string
	UID             types.UID
	ResourceVersion string
	Created         time.Time
	// Deleting is true when the object has a deletionTimestamp.
	Deleting bool
}

// Clone is the object with bytes of its own.
func (o Object) Clone() Object {
	o.Raw = bytes.Clone(o.Raw)
	return o
}

// Value decodes the whole object, with apiVersion and kind. Numbers are json.Number, so that they keep their exact
// text. Each call returns a value of its own.
func (o Object) Value() (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(o.Raw))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("decoding %s: %w", o, err)
	}
	if value == nil {
		return nil, fmt.Errorf("decoding %s: %w", o, errors.New("it is null"))
	}
	value["apiVersion"], value["kind"] = o.Kind.APIVersion(), o.Kind.Kind
	return value, nil
}

// Path is the object's URL path.
func (o Object) Path() string { return o.Kind.Path(o.Namespace, o.Name) }

// String names the object for people: "ConfigMap default/settings".
func (o Object) String() string {
	if o.Namespace == "" {
		return o.Kind.Kind + " " + o.Name
	}
	return o.Kind.Kind + " " + o.Namespace + "/" + o.Name
}
