// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package finding knows what is unused, finished, idle, stuck or expired, kind by kind. A Finder says which lists it
// needs, looks at each object as it passes, and judges when all have passed. All of it is pure: who reads the lists
// passes in the objects, and what could not be read.
package finding

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/mark"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Finding is what was found of one object.
type Finding struct {
	// Kind, Namespace, Name, UID and Created are the object's.
	Kind            object.Kind
	Namespace, Name string
	UID             types.UID
	Created         time.Time
	Type            v1alpha1.FindingType
	// Unknown says which sources could not be read that might show that it is used. Nothing may be done to the object
	// then. Empty of what is known.
	Unknown []Unread
	// Confidence is how sure it is. Empty of what is unknown.
	Confidence v1alpha1.FindingConfidence
	// Reason says in one sentence why it was found.
	Reason string
	// Users are who uses it of a Cascading finding, and what it names in vain of a Dangling one.
	Users []graph.User
	// Since is the earliest time that the API server knows it to be so, or a part of it: see IsSinceProved. Zero where
	// nobody knows.
	Since time.Time
	// Searched is how many kinds were searched for users.
	Searched int
	// Managed names what manages the object: "Helm release shop/web". Empty when nothing is known to.
	Managed string
	// Protected says why no Cleaner acts on the object, although one may act on others with such a finding. Empty when
	// nothing of the object says so.
	Protected string
	// Marks are the time marks of an Expired finding.
	Marks []mark.Mark
	// Frees is what its deletion would give back.
	Frees Resources
	// Requests are what those of its Pods hold that wait for what does not come: a container that crashes, an image.
	Requests Requests
}

// Resources are what objects hold: bytes of volumes, and load balancers.
type Resources struct {
	VolumeBytes   int64
	LoadBalancers int
}

// Unread is a source that could not be read.
type Unread struct {
	// Kind is what could not be listed. Its name is empty where everything was read, and the kind is not known.
	Kind schema.GroupKind
	// Err is why. It may be nil where the reason says it already.
	Err error
	// Elsewhere is true when it could be in the namespace that is looked at.
	Elsewhere bool
}

// NotReadable are the sources that could not be read. There may be none of what is unknown: then no right would help.
func (f *Finding) NotReadable() []Unread {
	return slices.DeleteFunc(slices.Clone(f.Unknown), func(u Unread) bool { return u.Kind.Kind == "" })
}

// IsSinceProved reports whether the object has had the whole finding since Since. What is unused or idle is so by other
// objects, too: that no Pod uses a claim, or that a workload was scaled to zero, says nothing of what named it or
// scaled it until today. A CronJob that fails is found some periods after Since.
func (f *Finding) IsSinceProved() bool {
	switch {
	case f.Since.IsZero():
		return false
	case f.Type == v1alpha1.FindingUnused:
		return f.Kind.GroupKind() == volumes
	case f.Type == v1alpha1.FindingUnhealthy:
		return f.Kind.GroupKind() != cronJobs
	}
	return !slices.Contains([]v1alpha1.FindingType{
		v1alpha1.FindingIdle, v1alpha1.FindingCascading, v1alpha1.FindingDangling,
	}, f.Type)
}

// String names the object.
func (f *Finding) String() string {
	return graph.Name{GroupKind: f.Kind.GroupKind(), Namespace: f.Namespace, Name: f.Name}.String()
}

// Actionable reports whether a Cleaner may delete or transform objects of such a finding. Nothing that is found, not
// even a mark of their owner, is enough for Nodes and for what the cluster's API stands on.
func Actionable(kind schema.GroupKind, typ v1alpha1.FindingType) bool {
	if kind == nodes || object.Foundation(kind) != "" {
		return false
	}
	i := slices.IndexFunc(rows, func(r *row) bool { return r.kind == kind && r.typ == typ })
	if i < 0 {
		i = slices.IndexFunc(rows, func(r *row) bool { return r.kind == anyKind && r.typ == typ })
	}
	return i >= 0 && rows[i].actionable
}

// Surest is how sure a finding of the type can be of objects of the kind.
func Surest(kind schema.GroupKind, typ v1alpha1.FindingType) v1alpha1.FindingConfidence {
	isOf := func(r *row) bool { return (r.kind == kind || r.kind == anyKind) && r.typ == typ && !r.likely }
	if slices.ContainsFunc(rows, isOf) {
		return v1alpha1.ConfidenceCertain
	}
	return v1alpha1.ConfidenceLikely
}

// TypesOf are the types that a kind has, in the order of their names.
func TypesOf(kind schema.GroupKind) []v1alpha1.FindingType {
	var found []v1alpha1.FindingType
	for _, r := range rows {
		if r.kind == kind || r.kind == anyKind {
			found = append(found, r.typ)
		}
		if r.kind == kind && r.cascades {
			found = append(found, v1alpha1.FindingCascading)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Kinds are the kinds that have rows of their own.
func Kinds() []schema.GroupKind {
	var found []schema.GroupKind
	for _, r := range rows {
		if r.kind != anyKind && !slices.Contains(found, r.kind) {
			found = append(found, r.kind)
		}
	}
	slices.SortFunc(found, func(a, b schema.GroupKind) int { return cmp.Compare(a.String(), b.String()) })
	return found
}

// Row describes one type of findings of one kind.
type Row struct {
	// Kind is that of the objects. Its name is "*" for every kind.
	Kind schema.GroupKind
	Type v1alpha1.FindingType
	// Actionable is true when a Cleaner may delete or transform what was found.
	Actionable bool
	// Means says in one sentence which objects are found.
	Means string
}

// Rows describe all that can be found, in the order of kinds and types.
func Rows() []Row {
	all := make([]Row, 0, len(rows))
	for _, r := range rows {
		all = append(all, Row{r.kind, r.typ, r.actionable, r.means})
		if r.cascades {
			all = append(all, Row{r.kind, v1alpha1.FindingCascading, false, "only unused or idle objects use it"})
		}
	}
	slices.SortStableFunc(all, func(a, b Row) int {
		return cmp.Or(
			cmp.Compare(a.Kind.Kind, b.Kind.Kind),
			cmp.Compare(a.Kind.Group, b.Kind.Group),
			cmp.Compare(a.Type, b.Type),
		)
	})
	return slices.CompactFunc(all, func(a, b Row) bool { return a.Kind == b.Kind && a.Type == b.Type })
}

// anyKind is the kind of rows that are for every kind.
var anyKind = schema.GroupKind{Kind: "*"}
