// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Ref names an object as people write it: KIND/NAME or KIND/NAMESPACE/NAME.
type Ref struct{ Kind, Namespace, Name string }

// ParseRef reads it. It is false of what names no object.
func ParseRef(text string) (Ref, bool) {
	parts := strings.Split(text, "/")
	for _, part := range parts {
		if part == "" {
			return Ref{}, false
		}
	}
	switch len(parts) {
	case 2:
		return Ref{parts[0], "", parts[1]}, true
	case 3:
		return Ref{parts[0], parts[1], parts[2]}, true
	}
	return Ref{}, false
}

// RefOf is the name of an object.
func RefOf(o object.Object) Ref { return Ref{o.Kind.Kind, o.Namespace, o.Name} }

// String is what ParseRef reads.
func (w Ref) String() string {
	if w.Namespace == "" {
		return w.Kind + "/" + w.Name
	}
	return w.Kind + "/" + w.Namespace + "/" + w.Name
}

// Is reports whether it names the object.
func (w Ref) Is(o object.Object) bool {
	return terminal.IsCalled(o.Kind.GroupKind(), w.Kind) && w.Namespace == o.Namespace && w.Name == o.Name
}
