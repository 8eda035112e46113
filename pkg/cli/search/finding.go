// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// SchemasHint is the way out when manifests hold custom resources without what defines them.
const SchemasHint = "give the CustomResourceDefinitions of these groups with --from, too: they say what the objects can name"

// Finding is a finding for programs.
type Finding struct {
	Type       v1alpha1.FindingType       `json:"type"`
	APIVersion string                     `json:"apiVersion"`
	Kind       string                     `json:"kind"`
	Namespace  string                     `json:"namespace,omitempty"`
	Name       string                     `json:"name"`
	UID        types.UID                  `json:"uid"`
	Created    *time.Time                 `json:"created,omitempty"`
	Since      *time.Time                 `json:"since,omitempty"`
	Confidence v1alpha1.FindingConfidence `json:"confidence,omitempty"`
	Reason     string                     `json:"reason"`
	ManagedBy  string                     `json:"managedBy,omitempty"`
	// Protected says why no Cleaner would touch the object, although such a finding may be acted on.
	Protected string `json:"protected,omitempty"`
	// Actionable is true when a Cleaner may delete or change such objects.
	Actionable bool `json:"actionable"`
	// Unknown is true when it is unknown whether it is so. NotReadable is empty then if everything could be read.
	Unknown bool   `json:"unknown,omitempty"`
	Users   []User `json:"users,omitempty"`
	// Searched is how many kinds can name the object, and NotReadable are those of them that could not be read.
	Searched    int      `json:"searched,omitempty"`
	NotReadable []Unread `json:"notReadable,omitempty"`
	Frees       *Frees   `json:"frees,omitempty"`

	// Of is the finding itself.
	Of *finding.Finding `json:"-"`
}

// User names something that is missing or unused, and where it does.
type User struct {
	Kind      string `json:"kind"`
	Group     string `json:"group,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Path      string `json:"path,omitempty"`
}

// Frees is what there would be more without what was found.
type Frees struct {
	Objects       int   `json:"objects,omitempty"`
	VolumeBytes   int64 `json:"volumeBytes,omitempty"`
	LoadBalancers int   `json:"loadBalancers,omitempty"`
}

// Worst is the order of types: what is broken now, what costs and serves nobody, what serves nobody at present, what is
// done.
var Worst = []v1alpha1.FindingType{
	v1alpha1.FindingStuck,
	v1alpha1.FindingCertificateExpired,
	v1alpha1.FindingUnhealthy,
	v1alpha1.FindingFailed,
	v1alpha1.FindingDangling,
	v1alpha1.FindingUnused,
	v1alpha1.FindingExpired,
	v1alpha1.FindingCascading,
	v1alpha1.FindingIdle,
	v1alpha1.FindingFinished,
}

// Confidences are in the order of how sure they are.
var Confidences = []v1alpha1.FindingConfidence{
	v1alpha1.ConfidenceCertain,
	v1alpha1.ConfidenceLikely,
	v1alpha1.ConfidenceWeak,
}

// Add adds what an object frees.
func (f *Frees) Add(found *finding.Finding) {
	f.Objects++
	f.VolumeBytes += found.Frees.VolumeBytes
	f.LoadBalancers += found.Frees.LoadBalancers
}

// SortWorst puts the worst type first, in it the kind that holds most, and in that what is surest.
func SortWorst(findings []Finding) {
	type group struct {
		t    v1alpha1.FindingType
		kind string
	}
	holds := map[group]int64{}
	for i := range findings {
		f := &findings[i]
		const loadBalancer = 1 << 40 // one costs about as much as that many bytes
		holds[group{f.Type, f.Kind}] += f.Of.Frees.VolumeBytes + loadBalancer*int64(f.Of.Frees.LoadBalancers)
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(Worst, a.Type), slices.Index(Worst, b.Type)),
			cmp.Compare(holds[group{b.Type, b.Kind}], holds[group{a.Type, a.Kind}]),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion),
			cmp.Compare(slices.Index(Confidences, a.Confidence), slices.Index(Confidences, b.Confidence)),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// NewFinding is a finding for programs.
func NewFinding(f *finding.Finding) Finding {
	s := Finding{
		Type: f.Type, APIVersion: f.Kind.APIVersion(), Kind: f.Kind.Kind, Namespace: f.Namespace, Name: f.Name, UID: f.UID,
		Created: TimeOf(f.Created), Since: TimeOf(f.Since), Confidence: f.Confidence, Reason: f.Reason, ManagedBy: f.Managed,
		Actionable: finding.Actionable(f.Kind.GroupKind(), f.Type) && len(f.Unknown) == 0, Unknown: len(f.Unknown) > 0,
		Protected: f.Protected, Searched: f.Searched, Of: f,
	}
	for _, u := range f.Users {
		s.Users = append(s.Users, User{u.Kind, u.Group, u.Namespace, u.Name.Name, u.Path})
	}
	for _, u := range f.NotReadable() {
		s.NotReadable = append(s.NotReadable, NewUnread(u))
	}
	if f.Frees != (finding.Resources{}) {
		s.Frees = &Frees{VolumeBytes: f.Frees.VolumeBytes, LoadBalancers: f.Frees.LoadBalancers}
	}
	return s
}

// TimeOf is a time, or nil when it is not known.
func TimeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Ref is the name of the object.
func (f *Finding) Ref() cluster.Ref {
	return cluster.Ref{Kind: f.Kind, Namespace: f.Namespace, Name: f.Name}
}

// Why is the reason, and of what is unknown what could not be read.
func (f *Finding) Why() string {
	if len(f.NotReadable) == 0 {
		return f.Reason
	}
	kinds := make([]string, 0, len(f.NotReadable))
	for _, u := range f.NotReadable {
		kinds = append(kinds, u.Words())
	}
	return f.Reason + survey.NotReadable + terminal.Shortened(kinds, 4)
}

// WhyAndManager is the reason, for tables that have no column for what manages the object.
func (f *Finding) WhyAndManager() string {
	if manager := f.Manager(); manager != "" {
		return f.Why() + " (" + manager + ")"
	}
	return f.Why()
}

// Manager is what manages the object, and whether it is protected.
func (f *Finding) Manager() string {
	switch {
	case f.Protected == "":
		return f.ManagedBy
	case f.ManagedBy == "":
		return "protected"
	}
	return "protected, " + f.ManagedBy
}
