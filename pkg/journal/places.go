// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Places are where copies can be kept besides Secrets. The cluster's admin says so, never a Cleaner.
type Places struct {
	// CopiesPath is the directory below which files are written. Empty when there is none.
	CopiesPath string
	// S3Secret is the name of the Secret in the operator's namespace that says where the bucket is. Empty when there is
	// none.
	S3Secret string
	// MaxBytes is how much the copies of all runs may take together, in bytes: one run's may not take more either. Zero
	// means any amount.
	MaxBytes int64
	// MaxKeepersPerCleaner is how many runs of one Cleaner keep copies, and MaxKeepers how many of all do. Zero means the
	// constants of these names.
	MaxKeepersPerCleaner, MaxKeepers int
}

// maxCopyBytes is how much the copies of one run may take.
func (j *Journal) maxCopyBytes(cleaner *v1alpha1.Cleaner) int64 {
	if j.Places.MaxBytes == 0 {
		return cleaner.MaxCopyBytes()
	}
	return min(cleaner.MaxCopyBytes(), j.Places.MaxBytes)
}

// errNoReport is k8s-cleaner's, word for word, and then what to do.
var errNoReport = errors.New(
	"rollback is enabled but no CleanerReport notification is configured: rollback data would never be persisted; " +
		"spec.rollback.storage is Report: add a notification of type CleanerReport, or set storage to Secret",
)

// CopyProblems says why the copies could not be made that the Cleaner asks for, as far as that is known beforehand.
func (j *Journal) CopyProblems(cleaner *v1alpha1.Cleaner) []error {
	if cleaner.EffectiveAction() == v1alpha1.ActionScan {
		return nil
	}
	var problems []error
	switch storage := cleaner.CopyStorage(); {
	case storage == v1alpha1.StorageReport && !reports(cleaner):
		problems = append(problems, errNoReport)
	case storage == v1alpha1.StorageVolume && j.Places.CopiesPath == "":
		problems = append(
			problems,
			errors.New(
				"rollback.storage is Volume, and the operator has no directory for copies: mount a volume and start it with --copies-path, or set rollback.storage to Secret",
			),
		)
	case storage == v1alpha1.StorageS3 && j.Places.S3Secret == "":
		problems = append(
			problems,
			errors.New(
				"rollback.storage is S3, and the operator has no bucket for copies: start it with --s3-secret, or set rollback.storage to Secret",
			),
		)
	}
	if wanted := cleaner.Spec.StoreResourcePath; wanted != "" {
		if _, err := storePath(j.Places.CopiesPath, wanted); err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}

func reports(cleaner *v1alpha1.Cleaner) bool {
	for _, notification := range cleaner.Spec.Notifications {
		if notification.Type == v1alpha1.NotificationCleanerReport {
			return true
		}
	}
	return false
}
