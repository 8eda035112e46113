// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"math"
	"slices"
	"strings"
	"time"
)

// FindingType is what can be wrong with an object.
// +kubebuilder:validation:Enum=Unused;Dangling;Cascading;Finished;Failed;Idle;Stuck;Expired;CertificateExpired;Unhealthy
type FindingType string

// The types of findings. Each kind has some of them.
const (
	// FindingUnused is an object that nothing uses.
	FindingUnused FindingType = "Unused"
	// FindingDangling is an object that names another, which does not exist.
	FindingDangling FindingType = "Dangling"
	// FindingCascading is an object that is used only by something that is unused or idle itself.
	FindingCascading FindingType = "Cascading"
	// FindingFinished is an object whose work is done.
	FindingFinished FindingType = "Finished"
	// FindingFailed is an object whose work ended in failure.
	FindingFailed FindingType = "Failed"
	// FindingIdle is a workload that is scaled to zero, or suspended.
	FindingIdle FindingType = "Idle"
	// FindingStuck is an object whose deletion does not end.
	FindingStuck FindingType = "Stuck"
	// FindingExpired is an object that has expired, according to a time mark on it.
	FindingExpired FindingType = "Expired"
	// FindingCertificateExpired is a Secret whose certificate is not valid any more.
	FindingCertificateExpired FindingType = "CertificateExpired"
	// FindingUnhealthy is a workload that does not run as it should.
	FindingUnhealthy FindingType = "Unhealthy"
)

// FindingConfidence is how sure a finding is.
// +kubebuilder:validation:Enum=Certain;Likely;Weak
type FindingConfidence string

// The confidences, the surest first.
const (
	// ConfidenceCertain is for a finding that the object itself shows, or that was proved: its owner does not exist.
	ConfidenceCertain FindingConfidence = "Certain"
	// ConfidenceLikely is for a finding for which all known sources were searched.
	ConfidenceLikely FindingConfidence = "Likely"
	// ConfidenceWeak is for an object that something may use in a way that cannot be seen: its name is in a text.
	ConfidenceWeak FindingConfidence = "Weak"
)

// MarkDialect says which tool's time marks are meant: annotations and labels that say when an object expires.
// +kubebuilder:validation:Enum=KubeCleaner;KubeJanitor;K8sTTLController;Kyverno;Mayfly;PodReaper
type MarkDialect string

// The dialects of time marks.
const (
	// MarkKubeCleaner is our own: the annotations cleaner/ttl and cleaner/expires.
	MarkKubeCleaner MarkDialect = "KubeCleaner"
	// MarkKubeJanitor is kube-janitor's: the annotations janitor/ttl and janitor/expires.
	MarkKubeJanitor MarkDialect = "KubeJanitor"
	// MarkK8sTTLController is k8s-ttl-controller's: the annotation k8s-ttl-controller.twin.sh/ttl.
	MarkK8sTTLController MarkDialect = "K8sTTLController"
	// MarkKyverno is Kyverno's: the label cleanup.kyverno.io/ttl.
	MarkKyverno MarkDialect = "Kyverno"
	// MarkMayfly is mayfly's: the annotation mayfly.cloud.namecheap.com/expire.
	MarkMayfly MarkDialect = "Mayfly"
	// MarkPodReaper is pod-reaper's: the annotation pod.kubernetes.io/lifetime of Pods.
	MarkPodReaper MarkDialect = "PodReaper"
)

// MarkDialects are all of them.
func MarkDialects() []MarkDialect {
	return []MarkDialect{MarkKubeCleaner, MarkKubeJanitor, MarkK8sTTLController, MarkKyverno, MarkMayfly, MarkPodReaper}
}

// FindingSelector selects the objects that have a finding.
// +kubebuilder:validation:XValidation:rule="!has(self.dialects) || self.type == 'Expired'",message="dialects are for type Expired only; leave dialects out"
type FindingSelector struct {
	// type is the type of the finding that an object must have, for example "Unused". Each kind has some of the types. If
	// the kind does not have the type, the Cleaner is not Ready, and its message lists the types that the kind has. Delete
	// and Transform may act on some of them only.
	// +required
	Type FindingType `json:"type"`

	// forSeconds is how long an object must have had the finding, for example 1209600 for two weeks. The object must have
	// it in every run during that time, and in at least three runs. After a run in which the object does not have it, the
	// time starts again. Unset or 0 means that one run is enough.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3153600000
	ForSeconds *int64 `json:"forSeconds,omitempty"`

	// minConfidence is the lowest confidence of a finding that counts: Certain (the object says so itself, or it was
	// proved), Likely (all known sources were searched) or Weak (something may use it in a way that cannot be verified:
	// for example, its name is in a script). Default Likely.
	// +optional
	MinConfidence FindingConfidence `json:"minConfidence,omitempty"`

	// includeManaged also selects objects that a tool manages, such as Argo CD, Flux or Helm. Otherwise they are
	// protected: the tool would create them again, or deletes them itself. Default false.
	// +optional
	IncludeManaged *bool `json:"includeManaged,omitempty"`

	// dialects are the dialects of time marks that count for the type Expired, for example [KubeCleaner, KubeJanitor].
	// Marks of other dialects are not read, even if they would keep the object. Unset means all: an object then stays as
	// long as any of its marks keeps it. See
	// https://github.com/kubecleaner/kubecleaner/blob/main/docs/reference/time-marks.md
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=6
	Dialects []MarkDialect `json:"dialects,omitempty"`
}

// MinFindingRuns is in how many runs an object must have been found so, where forSeconds is set.
const MinFindingRuns = 3

// Least is the least confidence that is selected.
func (s *FindingSelector) Least() FindingConfidence {
	if s.MinConfidence == "" {
		return ConfidenceLikely
	}
	return s.MinConfidence
}

// Waits says for how long, and in how many runs, an object must have been found so. Zero of both is this run.
func (s *FindingSelector) Waits() (long time.Duration, runs int64) {
	if s.ForSeconds == nil || *s.ForSeconds <= 0 {
		return 0, 0
	}
	return time.Duration(min(*s.ForSeconds, int64(math.MaxInt64/time.Second))) * time.Second, MinFindingRuns
}

// TakesManaged reports whether objects are selected that something else manages.
func (s *FindingSelector) TakesManaged() bool { return s.IncludeManaged != nil && *s.IncludeManaged }

// IsAtLeast reports whether the confidence is as sure as the other, or surer.
func (c FindingConfidence) IsAtLeast(other FindingConfidence) bool {
	order := []FindingConfidence{ConfidenceCertain, ConfidenceLikely, ConfidenceWeak}
	at := slices.Index(order, c)
	return at >= 0 && at <= slices.Index(order, other)
}

// HasFindings reports whether a selector of the Cleaner asks for findings.
func (c *Cleaner) HasFindings() bool {
	return slices.ContainsFunc(
		c.Spec.ResourcePolicySet.ResourceSelectors,
		func(s ResourceSelector) bool { return s.Finding != nil },
	)
}

// JudgesFindings reports whether conditions or scripts of the Cleaner seem to ask what was found.
func (c *Cleaner) JudgesFindings() bool {
	return slices.ContainsFunc(
		c.Spec.ResourcePolicySet.ResourceSelectors,
		func(s ResourceSelector) bool { return s.JudgesFinding() },
	)
}

// JudgesFinding reports whether a condition or a script of the selector seems to ask what was found.
func (s *ResourceSelector) JudgesFinding() bool {
	asks := func(m MatchCondition) bool { return strings.Contains(m.Expression, "finding") }
	return s.Finding != nil && (s.Evaluate != "" || slices.ContainsFunc(s.MatchConditions, asks))
}

// LongestFinding is the longest finding.forSeconds of the Cleaner's selectors.
func (c *Cleaner) LongestFinding() (seconds int64) {
	for _, selector := range c.Spec.ResourcePolicySet.ResourceSelectors {
		if selector.Finding != nil && selector.Finding.ForSeconds != nil {
			seconds = max(seconds, *selector.Finding.ForSeconds)
		}
	}
	return seconds
}

// KeepsCounts reports whether what the Cleaner does depends on earlier runs, so that each run counts what it found.
func (c *Cleaner) KeepsCounts() bool {
	return c.Spec.OccurrenceThreshold != nil && *c.Spec.OccurrenceThreshold > 1 ||
		slices.ContainsFunc(
			c.Spec.ResourcePolicySet.ResourceSelectors,
			func(s ResourceSelector) bool { return s.KeepsSince() },
		)
}

// SkipsDeleted reports whether objects that are being deleted are skipped. Only they can be Stuck.
func (s *ResourceSelector) SkipsDeleted() bool {
	if s.Finding != nil && s.Finding.Type == FindingStuck {
		return false
	}
	return s.ExcludeDeleted == nil || *s.ExcludeDeleted
}

// KeepsSince reports whether it matters since when an object was found so: because it must be so for long, or because a
// condition or script seems to ask.
func (s *ResourceSelector) KeepsSince() bool {
	if s.Finding == nil {
		return false
	}
	long, _ := s.Finding.Waits()
	asks := func(m MatchCondition) bool { return strings.Contains(m.Expression, "since") }
	return long > 0 || strings.Contains(s.Evaluate, "since") || slices.ContainsFunc(s.MatchConditions, asks)
}
