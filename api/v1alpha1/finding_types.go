// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// FindingType is what can be wrong with an object.
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
	// FindingExpired is an object whose time is over, by a mark on itself.
	FindingExpired FindingType = "Expired"
	// FindingCertificateExpired is a Secret whose certificate is not valid any more.
	FindingCertificateExpired FindingType = "CertificateExpired"
	// FindingUnhealthy is a workload that does not run as it should.
	FindingUnhealthy FindingType = "Unhealthy"
)

// FindingConfidence is how sure a finding is.
type FindingConfidence string

// The confidences, the surest first.
const (
	// ConfidenceCertain is for what the object says itself, or what was proved: its owner does not exist.
	ConfidenceCertain FindingConfidence = "Certain"
	// ConfidenceLikely is for what was searched in all known sources.
	ConfidenceLikely FindingConfidence = "Likely"
	// ConfidenceWeak is for what something may use in a way that cannot be seen: its name stands in a text.
	ConfidenceWeak FindingConfidence = "Weak"
)
