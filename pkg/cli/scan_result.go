// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// scanResult is what -o json prints.
type scanResult struct {
	// Findings are what is known, the worst first. Unknown are those of which something could not be read that may use them.
	Findings []scanFinding `json:"findings"`
	Unknown  []scanFinding `json:"unknown"`
	// Unread are the lists that could not be read.
	Unread []scanUnread `json:"unread"`
	// Partial is true when the scan was stopped before its end. Unknown is empty then: nothing was waited for.
	Partial bool `json:"partial,omitempty"`
	// BelowConfidence is how many findings are not shown because they are less sure than --min-confidence.
	BelowConfidence int `json:"belowConfidence,omitempty"`
	// Objects is how many objects were read, of how many Kinds.
	Objects int64 `json:"objects"`
	Kinds   int   `json:"kinds"`
	// Frees is what there would be more if what is found did not exist.
	Frees scanFrees `json:"frees"`
	// Requested is what Pods hold that wait for what does not come. Most of them would be made anew if they were deleted.
	Requested *scanRequests `json:"requested,omitempty"`
}

// scanFinding is a finding for programs.
type scanFinding struct {
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
	// Actionable is true when a Cleaner may delete or change such objects.
	Actionable bool       `json:"actionable"`
	Users      []scanUser `json:"users,omitempty"`
	// Searched is how many kinds can name the object, and NotReadable are those of them that could not be read.
	Searched    int          `json:"searched,omitempty"`
	NotReadable []scanUnread `json:"notReadable,omitempty"`
	Frees       *scanFrees   `json:"frees,omitempty"`

	of *finding.Finding
}

type scanUser struct {
	Kind      string `json:"kind"`
	Group     string `json:"group,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Path      string `json:"path,omitempty"`
}

type scanUnread struct {
	Kind  string `json:"kind"`
	Group string `json:"group,omitempty"`
	// Resource and Namespace say what may not be listed. The namespace is empty for the whole cluster.
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Elsewhere is true when only the objects of other namespaces could not be read.
	Elsewhere bool   `json:"elsewhere,omitempty"`
	Forbidden bool   `json:"forbidden"`
	Error     string `json:"error,omitempty"`
}

type scanFrees struct {
	Objects       int   `json:"objects,omitempty"`
	VolumeBytes   int64 `json:"volumeBytes,omitempty"`
	LoadBalancers int   `json:"loadBalancers,omitempty"`
}

type scanRequests struct {
	CPUMillis   int64 `json:"cpuMillis,omitempty"`
	MemoryBytes int64 `json:"memoryBytes,omitempty"`
}

// worst is the order of types: what is broken now, what costs and serves nobody, what serves nobody at present, what is done.
var worst = []v1alpha1.FindingType{
	v1alpha1.FindingStuck, v1alpha1.FindingCertificateExpired, v1alpha1.FindingUnhealthy, v1alpha1.FindingFailed, v1alpha1.FindingDangling,
	v1alpha1.FindingUnused, v1alpha1.FindingExpired, v1alpha1.FindingCascading, v1alpha1.FindingIdle, v1alpha1.FindingFinished,
}

// confidences are in the order of how sure they are.
var confidences = []v1alpha1.FindingConfidence{v1alpha1.ConfidenceCertain, v1alpha1.ConfidenceLikely, v1alpha1.ConfidenceWeak}

// result judges what was read. Of a search that was stopped only what is known counts.
func (j *scanJob) result(stopped bool) *scanResult {
	r := &scanResult{Findings: []scanFinding{}, Unknown: []scanFinding{}, Unread: []scanUnread{}, Partial: stopped, Objects: j.objects}
	var kinds []string
	for _, list := range j.finder.Lists() {
		kinds = append(kinds, list.Kind.GroupKind().String())
	}
	slices.Sort(kinds)
	r.Kinds = len(slices.Compact(kinds))
	freed := map[types.UID]bool{}
	var requested finding.Requests
	for _, f := range j.finder.Findings() {
		excluded := slices.ContainsFunc(j.exclude, func(p pattern) bool { return p.matches(f) })
		switch known := len(f.Unknown) == 0; {
		case excluded:
		case !known && !stopped:
			r.Unknown = append(r.Unknown, newScanFinding(f))
		case !known:
		case slices.Index(confidences, f.Confidence) > slices.Index(confidences, v1alpha1.FindingConfidence(j.minConfidence)):
			r.BelowConfidence++
		default:
			r.Findings = append(r.Findings, newScanFinding(f))
			requested = requested.Plus(f.Requests)
			if finding.Actionable(f.Kind.GroupKind(), f.Type) && !freed[f.UID] {
				freed[f.UID] = true
				r.Frees.add(f)
			}
		}
	}
	if requested != (finding.Requests{}) {
		r.Requested = &scanRequests{requested.CPUMillis, requested.MemoryBytes}
	}
	for _, u := range j.unread {
		if !u.elsewhere || r.matters(u.Kind) {
			r.Unread = append(r.Unread, j.scanUnread(u))
		}
	}
	sortWorst(r.Findings)
	sortWorst(r.Unknown)
	return r
}

// matters reports whether something is unknown because objects of the kind could not be read.
func (r *scanResult) matters(kind object.Kind) bool {
	return slices.ContainsFunc(r.Unknown, func(f scanFinding) bool {
		return slices.ContainsFunc(f.NotReadable, func(u scanUnread) bool { return u.Kind == kind.Kind && u.Group == kind.Group })
	})
}

func (f *scanFrees) add(found *finding.Finding) {
	f.Objects++
	f.VolumeBytes += found.Frees.VolumeBytes
	f.LoadBalancers += found.Frees.LoadBalancers
}

// sortWorst puts the worst type first, in it the kind that holds most, and in that what is surest.
func sortWorst(findings []scanFinding) {
	type group struct {
		t    v1alpha1.FindingType
		kind string
	}
	holds := map[group]int64{}
	for i := range findings {
		f := &findings[i]
		const loadBalancer = 1 << 40 // one costs about as much as that many bytes
		holds[group{f.Type, f.Kind}] += f.of.Frees.VolumeBytes + loadBalancer*int64(f.of.Frees.LoadBalancers)
	}
	slices.SortStableFunc(findings, func(a, b scanFinding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(worst, a.Type), slices.Index(worst, b.Type)),
			cmp.Compare(holds[group{b.Type, b.Kind}], holds[group{a.Type, a.Kind}]),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion),
			cmp.Compare(slices.Index(confidences, a.Confidence), slices.Index(confidences, b.Confidence)),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

func newScanFinding(f *finding.Finding) scanFinding {
	s := scanFinding{
		Type: f.Type, APIVersion: f.Kind.APIVersion(), Kind: f.Kind.Kind, Namespace: f.Namespace, Name: f.Name, UID: f.UID,
		Created: timeOf(f.Created), Since: timeOf(f.Since), Confidence: f.Confidence, Reason: f.Reason, ManagedBy: f.Managed,
		Actionable: finding.Actionable(f.Kind.GroupKind(), f.Type) && len(f.Unknown) == 0, Searched: f.Searched, of: f,
	}
	for _, u := range f.Users {
		s.Users = append(s.Users, scanUser{u.Kind, u.Group, u.Namespace, u.Name.Name, u.Path})
	}
	for _, u := range f.Unknown {
		if u.Err != nil {
			s.NotReadable = append(s.NotReadable, scanUnread{
				Kind: u.Kind.Kind, Group: u.Kind.Group, Elsewhere: u.Elsewhere, Forbidden: apierrors.IsForbidden(u.Err), Error: oneLine(u.Err.Error()),
			})
		}
	}
	if f.Frees != (finding.Resources{}) {
		s.Frees = &scanFrees{VolumeBytes: f.Frees.VolumeBytes, LoadBalancers: f.Frees.LoadBalancers}
	}
	return s
}

func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (s *search) scanUnread(u unreadList) scanUnread {
	found := scanUnread{
		Kind: u.Kind.Kind, Group: u.Kind.Group, Resource: u.Kind.Resource, Elsewhere: u.elsewhere,
		Forbidden: apierrors.IsForbidden(u.err), Error: oneLine(u.err.Error()),
	}
	if u.Kind.Namespaced && !u.Everywhere {
		found.Namespace = s.namespace
	}
	return found
}

func (f *scanFinding) wanted() wantedObject { return wantedObject{f.Kind, f.Namespace, f.Name} }
