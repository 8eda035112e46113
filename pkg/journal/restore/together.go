// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// together finds the objects that were gone when a run came to them because of what it had deleted before: Kubernetes
// deletes what is in a Namespace, what a definition defines, and what an owner owns.
type together struct {
	namespaces, definitions map[string]bool
	deleted                 map[types.UID]bool
	// gone are the objects that somebody else may have deleted, with their owners.
	gone map[types.UID][]types.UID
}

func newTogether(intents []journal.Intent, outcomes map[int]journal.SavedOutcome) *together {
	t := &together{
		namespaces: map[string]bool{}, definitions: map[string]bool{},
		deleted: map[types.UID]bool{}, gone: map[types.UID][]types.UID{},
	}
	for i := range intents {
		switch outcome := outcomes[i].Outcome; {
		case slices.Contains(vanished, outcome):
			t.deleted[intents[i].UID] = true
			switch intents[i].Object().Kind.GroupKind() {
			case namespaceKind().GroupKind():
				t.namespaces[intents[i].Name] = true
			case definitions:
				t.definitions[intents[i].Name] = true // it is PLURAL.GROUP
			}
		case outcome == v1alpha1.OutcomeGone, outcome == v1alpha1.OutcomeKindGone:
			t.gone[intents[i].UID] = nil
		}
	}
	for i := range intents {
		o := intents[i].Object()
		if _, is := t.gone[o.UID]; is && (t.namespaces[o.Namespace] || t.definitions[o.Kind.Resource+"."+o.Kind.Group]) {
			t.deleted[o.UID] = true
		}
	}
	return t
}

// look takes the owners of an object from its copy.
func (t *together) look(c *journal.Copy) {
	if _, is := t.gone[c.UID]; !is {
		return
	}
	o, err := objectOf(c)
	if err != nil {
		return
	}
	metadata, err := apiserver.Metadata(o)
	if err != nil {
		return
	}
	var owners []types.UID
	for _, owner := range metadata.OwnerReferences {
		owners = append(owners, owner.UID)
	}
	t.gone[c.UID] = owners
}

// settle follows owners of owners, after all copies were looked at.
func (t *together) settle() {
	for found := true; found; {
		found = false
		for uid, owners := range t.gone {
			isLeft := func(owner types.UID) bool { return !t.deleted[owner] }
			if !t.deleted[uid] && len(owners) > 0 && !slices.ContainsFunc(owners, isLeft) {
				t.deleted[uid], found = true, true
			}
		}
	}
}

// has reports whether an object was deleted together with one that the run deleted.
func (t *together) has(item *Item) bool {
	_, isGone := t.gone[item.UID]
	return isGone && t.deleted[item.UID]
}
