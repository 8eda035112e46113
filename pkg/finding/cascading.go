// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
)

// doubt makes no Cascading finding surer than the least sure of its users.
func (f *Finder) doubt() {
	weak := map[graph.Name]bool{}
	var cascading []*candidate
	for _, candidates := range f.candidates {
		for _, c := range candidates {
			switch {
			case !c.isFound:
			case c.found.Type == v1alpha1.FindingCascading:
				cascading = append(cascading, c)
			case isWeakUser(c.found):
				weak[c.object()] = true
			}
		}
	}
	for changed := len(weak) > 0; changed; { // what is used by what is Cascading may be Cascading, too
		changed = false
		for _, c := range cascading {
			found := c.found
			user, is := leastSure(found, weak)
			if is && found.Confidence == v1alpha1.ConfidenceLikely { // Weak and unknown are less sure already
				found.Confidence, changed, weak[c.object()] = v1alpha1.ConfidenceWeak, true, true
				found.Reason += "; it is not sure that nothing needs " + user.String()
			}
		}
	}
}

// isWeakUser reports whether what was found may use what it names after all.
func isWeakUser(found *Finding) bool {
	return (found.Confidence == v1alpha1.ConfidenceWeak || len(found.Unknown) > 0) &&
		(found.Type == v1alpha1.FindingUnused || found.Type == v1alpha1.FindingIdle)
}

// leastSure is a user of a Cascading finding that may be in use after all.
func leastSure(found *Finding, weak map[graph.Name]bool) (graph.Name, bool) {
	for _, user := range found.Users {
		if weak[user.Name] {
			return user.Name, true
		}
	}
	return graph.Name{}, false
}

// doubtAtZero makes a Cascading finding unknown if it is unknown whether something scales up what uses the object.
func (f *Finder) doubtAtZero(found *Finding, users []graph.User) {
	isScalable := func(u graph.User) bool { return slices.Contains(scalable, u.GroupKind) }
	if unread := f.unreadOf(scalers...); len(unread) > 0 && slices.ContainsFunc(users, isScalable) {
		found.doubt(unread, "whether something scales them up")
	}
}
