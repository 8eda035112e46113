// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// CopyStorage is where copies are kept.
// +kubebuilder:validation:Enum=Secret;Report;Volume;S3;None
type CopyStorage string

const (
	// StorageSecret keeps copies in Secrets of the operator's namespace.
	StorageSecret CopyStorage = "Secret"
	// StorageReport keeps copies in Secrets, and also shows them in the Cleaner's Report, as k8s-cleaner did.
	// The Report does not show copies of Secrets.
	StorageReport CopyStorage = "Report"
	// StorageVolume keeps one file for each object and run below the directory that the operator was given. Copies of
	// Secrets are in Secrets.
	StorageVolume CopyStorage = "Volume"
	// StorageS3 keeps copies in the bucket that the operator was given. Copies of Secrets are in Secrets.
	StorageS3 CopyStorage = "S3"
	// StorageNone keeps no copies: you cannot restore deleted objects.
	StorageNone CopyStorage = "None"
)

const (
	// DefaultRetention is how long copies are kept.
	DefaultRetention = 7 * 24 * time.Hour
	// DefaultMaxCopyBytes is how much the copies of one run may take, compressed, in bytes.
	DefaultMaxCopyBytes = 64 << 20
)

// Rollback says how copies of the objects that a run touches are kept.
type Rollback struct {
	// storage is where the copies are kept: Secret (in Secrets of the operator's namespace), Report (the same, and in the
	// Cleaner's Report too, as k8s-cleaner did), Volume (files), S3, or None. Default Secret. No copies are made of
	// objects without state: Events, Jobs that have finished, and Pods, Leases and EndpointSlices that a controller
	// manages.
	// +optional
	Storage CopyStorage `json:"storage,omitempty"`

	// retentionSeconds is how long the copies are kept, in seconds. Default 604800, which is seven days. The oldest copies
	// are dropped earlier when more than 200 runs of the Cleaner keep copies, when more than 2000 runs of all Cleaners do,
	// or when all copies together are larger than the operator's --max-copies-bytes.
	// +optional
	// +kubebuilder:validation:Minimum=60
	RetentionSeconds *int64 `json:"retentionSeconds,omitempty"`

	// maxBytes is how much the copies of one run may take, compressed, in bytes; files on a volume are not compressed, and
	// count as they are. A run that would need more touches nothing. Default 67108864, which is 64 MiB.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxBytes *int64 `json:"maxBytes,omitempty"`
}

// ServiceAccountRef names a ServiceAccount.
type ServiceAccountRef struct {
	// namespace is the ServiceAccount's namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace"`

	// name is the ServiceAccount's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
}

// Username is what the API server calls the account.
func (r ServiceAccountRef) Username() string {
	return "system:serviceaccount:" + r.Namespace + ":" + r.Name
}

// String is the account as namespace/name.
func (r ServiceAccountRef) String() string { return r.Namespace + "/" + r.Name }

// CopyStorage is where the Cleaner's copies are kept.
func (c *Cleaner) CopyStorage() CopyStorage {
	if c.Spec.Rollback == nil {
		return StorageSecret
	}
	return cmp.Or(c.Spec.Rollback.Storage, StorageSecret)
}

// CopyRetention is how long the Cleaner's copies are kept.
func (c *Cleaner) CopyRetention() time.Duration {
	if c.Spec.Rollback == nil || c.Spec.Rollback.RetentionSeconds == nil {
		return DefaultRetention
	}
	const most = int64(100 * 365 * 24 * time.Hour / time.Second) // so that it fits into a Duration
	return time.Duration(min(*c.Spec.Rollback.RetentionSeconds, most)) * time.Second
}

// MaxCopyBytes is how much the copies of one run may take, compressed, in bytes.
func (c *Cleaner) MaxCopyBytes() int64 {
	if c.Spec.Rollback == nil {
		return DefaultMaxCopyBytes
	}
	return ptr.Deref(c.Spec.Rollback.MaxBytes, DefaultMaxCopyBytes)
}

// RunIntent says where the list of objects that a run was going to touch is stored. Its parts are Secrets in namespace,
// each with the labels apps.projectsveltos.io/run-uid and apps.projectsveltos.io/run-part.
type RunIntent struct {
	// namespace is the namespace of the Secrets.
	// +required
	Namespace string `json:"namespace"`

	// attempt is a part of the names of the Secrets, after the run's name. An operator that was cut off before it finished
	// writing may leave Secrets with another attempt. They do not count.
	// +required
	Attempt string `json:"attempt"`

	// objects is how many objects the run was going to touch.
	// +required
	Objects int64 `json:"objects"`

	// parts is how many Secrets hold the list.
	// +required
	Parts int32 `json:"parts"`

	// bundled is true when the first parts of the intent, of the copies and of the outcomes are in one Secret, as those of
	// small runs are.
	// +optional
	Bundled bool `json:"bundled,omitempty"`

	// head is the SHA-256, in hexadecimal, of the last part and, through it, of all before it.
	// +required
	Head string `json:"head"`
}

// RunParts says where a run stored the objects that do not fit into its record. Its parts are Secrets in namespace,
// each with the labels apps.projectsveltos.io/run-uid and apps.projectsveltos.io/run-part.
type RunParts struct {
	// namespace is the namespace of the Secrets.
	// +required
	Namespace string `json:"namespace"`

	// attempt is a part of the names of the Secrets, after the run's name.
	// +required
	Attempt string `json:"attempt"`

	// objects is how many objects are stored there.
	// +required
	Objects int64 `json:"objects"`

	// parts is how many Secrets hold them.
	// +required
	Parts int32 `json:"parts"`

	// head is the SHA-256, in hexadecimal, of the last part and, through it, of all before it.
	// +required
	Head string `json:"head"`
}

// RunCopies says which copies a run keeps, and where.
type RunCopies struct {
	// storage is where they are kept.
	// +required
	Storage CopyStorage `json:"storage"`

	// objects is how many objects have copies. It is 0 when the copies were dropped.
	// +required
	Objects int64 `json:"objects"`

	// parts is how many parts the copies have.
	// +required
	Parts int32 `json:"parts"`

	// bytes is how much they take, compressed; files on a volume count as they are.
	// +required
	Bytes int64 `json:"bytes"`

	// head is the SHA-256, in hexadecimal, of the last part and, through it, of all before it.
	// +required
	Head string `json:"head"`

	// secrets are the parts of the copies of Secrets, which are in Secrets when the others are in S3. Absent when there
	// are none.
	// +optional
	Secrets *CopyParts `json:"secrets,omitempty"`

	// s3Secret is the name of the Secret in the operator's namespace that says where the S3 bucket is. Absent when the
	// copies are elsewhere.
	// +optional
	S3Secret string `json:"s3Secret,omitempty"`

	// expirationTime is the time until which they are kept.
	// +required
	ExpirationTime metav1.Time `json:"expirationTime"`

	// dropped says why they were dropped. Absent as long as they are kept.
	// +optional
	Dropped string `json:"dropped,omitempty"`
}

// CopyParts are parts of copies that are kept apart from the others.
type CopyParts struct {
	// parts is how many parts there are.
	// +required
	Parts int32 `json:"parts"`

	// head is the SHA-256, in hexadecimal, of the last part and, through it, of all before it.
	// +required
	Head string `json:"head"`
}
