// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	gopher "github.com/yuin/gopher-lua"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// identity says which object a table stands for.
type identity struct{ apiVersion, kind, namespace, name, uid string }

// identify reads the identity without metamethods that a script could have set, and without making plain what is lazy.
func (b *sandbox) identify(table *gopher.LTable) identity {
	text := func(from *gopher.LTable, key string) string {
		value, _ := b.rawField(from, key).(gopher.LString)
		return string(value)
	}
	found := identity{apiVersion: text(table, "apiVersion"), kind: text(table, "kind")}
	if metadata, ok := b.rawField(table, "metadata").(*gopher.LTable); ok {
		found.namespace, found.name = text(metadata, "namespace"), text(metadata, "name")
		found.uid = text(metadata, "uid")
	}
	return found
}

// rawField reads a field of a table as it is now.
func (b *sandbox) rawField(table *gopher.LTable, key string) gopher.LValue {
	if l := b.lazy(table); l != nil {
		return b.field(l, key)
	}
	return table.RawGetString(key)
}

// identityOf reads the identity from an object's bytes: the same as identify reads from a table that nobody changed.
func identityOf(o object.Object) identity {
	metadata := object.JSON(o.Raw).Field("metadata")
	return identity{
		apiVersion: o.Kind.APIVersion(), kind: o.Kind.Kind, namespace: metadata.Field("namespace").Text(),
		name: metadata.Field("name").Text(), uid: metadata.Field("uid").Text(),
	}
}

func (i identity) withoutUID() identity {
	i.uid = ""
	return i
}

// String names the object for people: "v1 ConfigMap default/settings (uid 42)".
func (i identity) String() string {
	text := i.apiVersion + " " + i.kind + " "
	if i.namespace != "" {
		text += i.namespace + "/"
	}
	text += i.name
	if i.uid != "" {
		text += " (uid " + i.uid + ")"
	}
	return text
}
