// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// rows are all that can be found.
var rows = slices.Concat(
	namedRows(),
	storageRows(),
	serviceRows(),
	podRows(),
	jobRows(),
	workloadRows(),
	roleRows(),
	selectiveRows(),
	routingRows(),
	danglingRows(),
	namespaceRows(),
	markedRows(),
)

// row is one type of findings of one kind.
type row struct {
	kind schema.GroupKind
	typ  v1alpha1.FindingType
	// means says in one sentence which objects are found, for people.
	means string
	// actionable is true when a Cleaner may act on it.
	actionable bool
	// named is true when all kinds that can name one of the kind must have been searched.
	named bool
	// cascades is true when the row finds what is used only by something unused or idle as well.
	cascades bool
	// pods is true when the row needs the labels of all Pods and templates.
	pods bool
	// reads are other kinds whose objects must pass, and crosses is true when they may be in another namespace than the
	// object.
	reads   []schema.GroupKind
	crosses bool
	// counts is true of kinds of which it matters whether there are any objects, in any namespace. Nil for none.
	counts func(object.Kind) bool
	// fields is a field selector for the objects of the row, and body is true when it needs more of them than metadata.
	fields string
	body   bool
	// likely is true when nothing proves it: no finding of the row is Certain.
	likely bool
	// ofOwned is true for what is found although another object owns it, and ofStock for what is found also of objects
	// that are never unused: what people protect, and what each cluster has.
	ofOwned, ofStock bool
	// look looks at one object of the kind as it passes. It returns nil when there is nothing to find, whatever else
	// passes.
	look func(f *Finder, o *object.Parts) *candidate
	// judge says what was found when all objects have passed. Nil when there is nothing. Without it, the candidate
	// decides.
	judge func(f *Finder, c *candidate) *Finding
}

// candidate is what is kept of an object until all have passed. There may be very many.
type candidate struct {
	row *row
	// kind, namespace, name, uid and created are the object's, and managed names what manages it.
	kind            *object.Kind
	namespace, name string
	uid             types.UID
	created         time.Time
	managed         string
	// protected says why no Cleaner acts on it.
	protected string
	// found is what else is known of it already. Nil when nothing is. When isFound is true, it is the finding, and other
	// candidates may have the same.
	found   *Finding
	isFound bool
	// excluded is true of what is judged, but not reported.
	excluded bool
	// reported is true when the object bears a label that says it is unused.
	reported bool
	// mayUse says what may use it although nothing names it. Empty when the object shows none.
	mayUse string
	// marks are the values of the labels of a claim, and the names of those of a ConfigMap or a Secret.
	marks []string
	// names are objects that it refers to, and that had not passed before it.
	names []graph.User
	// decide says what was found. Nil when that is known already.
	decide func(f *Finder, found Finding) *Finding
}

// finding is what is known of the candidate, with its object.
func (c *candidate) finding() Finding {
	found := Finding{Type: c.row.typ}
	if c.found != nil {
		found = *c.found
	}
	found.Kind, found.Namespace, found.Name = *c.kind, c.namespace, c.name
	found.UID, found.Created, found.Managed, found.Protected = c.uid, c.created, c.managed, c.protected
	return found
}

// object names the candidate's object.
func (c *candidate) object() graph.Name {
	return graph.Name{GroupKind: c.kind.GroupKind(), Namespace: c.namespace, Name: c.name}
}
