// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// maxTallyNames is how many objects of a kind a Tally names.
const maxTallyNames = 3

// Tally counts objects by kind, and names the first of each.
type Tally struct {
	kinds []string
	names map[string][]string
}

// Add counts an object.
func (t *Tally) Add(kind, namespace, name string) {
	if t.names == nil {
		t.names = map[string][]string{}
	}
	if t.names[kind] == nil {
		t.kinds = append(t.kinds, kind)
	}
	t.names[kind] = append(t.names[kind], strings.TrimPrefix(namespace+"/"+name, "/"))
}

// Words are "12 Pods (shop/a, shop/b, shop/c and 9 more) and 1 Event (shop/d)". Empty without any.
func (t *Tally) Words() string {
	words := make([]string, 0, len(t.kinds))
	for _, kind := range t.kinds {
		names := t.names[kind]
		words = append(words, terminal.OneLine(
			terminal.Kinds(int64(len(names)), kind)+" ("+terminal.Shortened(names, maxTallyNames)+")"))
	}
	return terminal.AndList(words)
}
