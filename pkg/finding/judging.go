// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"iter"
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
)

// Findings judges, after all lists were read. They are in the order of kinds, namespaces and names. Each is made when
// it is asked for: there may be very many.
func (f *Finder) Findings() iter.Seq[*Finding] {
	f.prepare()
	for changed := true; changed; { // what is unused uses nothing: what it names may be found in the next round
		changed = f.judgeAll()
	}
	f.doubt()
	var all []*candidate
	for _, candidates := range f.candidates {
		for _, c := range candidates {
			if c.isFound && !c.excluded && f.wantsType(c) && !leadsNowhere(c, candidates) {
				all = append(all, c)
			}
		}
	}
	slices.SortFunc(all, func(a, b *candidate) int {
		return cmp.Or(
			cmp.Compare(a.kind.Group, b.kind.Group),
			cmp.Compare(a.kind.Kind, b.kind.Kind),
			cmp.Compare(a.namespace, b.namespace),
			cmp.Compare(a.name, b.name),
			cmp.Compare(a.found.Type, b.found.Type),
		)
	})
	return func(yield func(*Finding) bool) {
		for _, c := range all {
			if found := c.finding(); !yield(&found) {
				return
			}
		}
	}
}

// judgeAll judges the candidates that are not found yet. It reports whether this may change what is said of others.
func (f *Finder) judgeAll() (changed bool) {
	for _, candidates := range f.candidates {
		for _, c := range candidates {
			if c.isFound {
				continue
			}
			if finding := f.judge(c); finding != nil {
				c.found, c.isFound = f.share(finding), true
				changed = f.usesNothing(finding) || changed
			}
		}
	}
	return changed
}

// leadsNowhere reports whether what an object names in vain is all that it is for: it is unused, by another candidate
// of it, and not dangling. One that may be of use otherwise (Weak) dangles all the same.
func leadsNowhere(c *candidate, all []*candidate) bool {
	return c.found.Type == v1alpha1.FindingDangling && slices.ContainsFunc(all, func(other *candidate) bool {
		return other.row.typ == v1alpha1.FindingUnused && other.isFound && len(other.found.Unknown) == 0 &&
			other.found.Confidence != v1alpha1.ConfidenceWeak
	})
}

// judge says what was found of a candidate. A text in which its name stands makes a finding that may be acted on Weak.
// If texts could not be read that may decide it, the finding is unknown.
func (f *Finder) judge(c *candidate) *Finding {
	found := f.judgeByRow(c)
	if found == nil || !c.row.heedsTexts() || c.reported || len(found.Unknown) > 0 ||
		found.Type != c.row.typ || found.Confidence == v1alpha1.ConfidenceWeak {
		return found
	}
	searched := f.searchFor(c.row)
	unread := searched.unreadTexts
	switch {
	case f.graph.IsMentioned(c.object()):
		found.Confidence = v1alpha1.ConfidenceWeak
		found.Reason += ", but its name is in " + f.mentioned(c.object())
	case len(unread) > 0 && searched.decides:
		found.doubt(unread, "whether an annotation or another text names it")
	case len(unread) > 0:
		found.Confidence = v1alpha1.ConfidenceWeak
		found.Reason += ", but a " + unread[0].Kind.String() + " may name it, and these could not be read"
	}
	return found
}

func (f *Finder) judgeByRow(c *candidate) *Finding {
	switch {
	case c.row.judge != nil:
		return c.row.judge(f, c)
	case c.decide != nil:
		return c.decide(f, c.finding())
	}
	found := c.finding()
	return &found
}

// prepare begins to judge. It takes note of what looks idle and is not.
func (f *Finder) prepare() {
	f.searches = map[*row]*search{}
	f.settleRights()
	f.settleBound()
	f.graph.SetAwake(func(name graph.Name) bool { return f.scaled[name] || f.asleep[name.Namespace] })
}

func (f *Finder) wantsType(c *candidate) bool {
	return f.Wanted == nil || slices.Contains(f.Wanted, Want{c.kind.GroupKind(), c.found.Type})
}

// sameness is what findings have in common that say the same of many objects.
type sameness struct {
	typ        v1alpha1.FindingType
	confidence v1alpha1.FindingConfidence
	reason     string
	searched   int
}

// share keeps what a finding says without its object, and once where many say the same.
func (f *Finder) share(found *Finding) *Finding {
	says := Finding{
		Type: found.Type, Confidence: found.Confidence, Reason: found.Reason, Searched: found.Searched,
		Unknown: found.Unknown, Users: found.Users, Since: found.Since, Marks: found.Marks, Frees: found.Frees,
		Requests: found.Requests,
	}
	if len(says.Unknown)+len(says.Users)+len(says.Marks) > 0 || !says.Since.IsZero() ||
		says.Frees != (Resources{}) || says.Requests != (Requests{}) {
		return &says
	}
	key := sameness{says.Type, says.Confidence, says.Reason, says.Searched}
	if f.said[key] == nil {
		f.said[key] = &says
	}
	return f.said[key]
}

// usesNothing takes note of an object that uses nothing. What is unknown may use what it names.
func (f *Finder) usesNothing(found *Finding) bool {
	switch found.Type {
	case v1alpha1.FindingUnused, v1alpha1.FindingCascading, v1alpha1.FindingIdle:
	default:
		return false
	}
	if len(found.Unknown) > 0 {
		return false
	}
	f.graph.SetIdle(graph.Name{GroupKind: found.Kind.GroupKind(), Namespace: found.Namespace, Name: found.Name})
	return true
}
