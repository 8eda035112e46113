// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	gopher "github.com/yuin/gopher-lua"
)

// identity says which object a table stands for.
type identity struct{ apiVersion, kind, namespace, name, uid string }

// identify reads the identity without metamethods, which a script could have set.
func identify(table *gopher.LTable) identity {
	text := func(from *gopher.LTable, key string) string {
		value, _ := from.RawGetString(key).(gopher.LString)
		return string(value)
	}
	found := identity{apiVersion: text(table, "apiVersion"), kind: text(table, "kind")}
	if metadata, ok := table.RawGetString("metadata").(*gopher.LTable); ok {
		found.namespace, found.name = text(metadata, "namespace"), text(metadata, "name")
		found.uid = text(metadata, "uid")
	}
	return found
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
