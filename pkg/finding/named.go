// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// rows are all that can be found.
var rows = slices.Concat(namedRows())

// namedRows are of kinds that are unused when nothing names them.
func namedRows() []*row {
	kinds := []schema.GroupKind{
		{Kind: "ConfigMap"}, {Kind: "PersistentVolumeClaim"}, {Kind: "ServiceAccount"},
		{Group: "storage.k8s.io", Kind: "StorageClass"}, {Group: "scheduling.k8s.io", Kind: "PriorityClass"},
	}
	all := make([]*row, 0, len(kinds))
	for _, kind := range kinds {
		all = append(all, &row{
			kind: kind, typ: v1alpha1.FindingUnused, actionable: true, named: true, cascades: true,
			look: lookUnlessLive, judge: judgeNamed,
		})
	}
	return all
}

// lookUnlessLive keeps what nothing that runs has named so far.
func lookUnlessLive(f *Finder, o object.Object) *candidate {
	if f.graph.Use(graph.NameOf(o)).Live {
		return nil
	}
	return &candidate{}
}

// judgeNamed finds what nothing names, or only what is idle or unused itself.
func judgeNamed(f *Finder, c *candidate) *Finding {
	found := c.found
	name := graph.Name{GroupKind: found.Kind.GroupKind(), Namespace: found.Namespace, Name: found.Name}
	use, sources := f.graph.Use(name), f.Table.NamedBy(name.GroupKind)
	found.Searched = f.searched(sources)
	switch found.Unknown = f.unreadOf(sources); {
	case use.IsUsed():
		return nil
	case len(found.Unknown) > 0:
		found.Reason = fmt.Sprintf("no user found in %d of %d kinds that can name it", found.Searched-len(found.Unknown), found.Searched)
	case use.Read:
		found.Reason = "nothing names it, but somebody may read it by its name: " + usersOf(use.Users)
		found.Unknown = []Unread{{Kind: name.GroupKind}}
	case use.IsNamed():
		found.Type, found.Confidence, found.Users = v1alpha1.FindingCascading, v1alpha1.ConfidenceLikely, use.Users
		found.Reason = "only what is unused or idle uses it: " + usersOf(use.Users)
	case f.graph.IsMentioned(name):
		found.Confidence = v1alpha1.ConfidenceWeak
		found.Reason = fmt.Sprintf("none of %d kinds names it, but its name stands in a text that a Pod is given", found.Searched)
	default:
		found.Confidence = v1alpha1.ConfidenceLikely
		found.Reason = fmt.Sprintf("none of %d kinds names it", found.Searched)
	}
	return &found
}

func usersOf(users []graph.User) string {
	if len(users) == 1 {
		return users[0].String()
	}
	return fmt.Sprintf("%s and %d more", users[0], len(users)-1)
}
