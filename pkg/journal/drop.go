// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// DropCopies deletes the copies of a run that has ended, wherever they are; the files of storeResourcePath stay. It can
// be called again when it failed. The record stays as it is: the caller writes there that the copies were dropped.
func (j *Journal) DropCopies(ctx context.Context, run *v1alpha1.CleanerRun) error {
	kept, intent := run.Status.Copies, run.Status.Intent
	if kept == nil || intent == nil {
		return nil
	}
	doing := "deleting the copies of run " + run.Name
	if !run.Status.Phase.Final() {
		return wrap(doing, errors.New("the run has not ended"))
	}
	var err error
	switch kept.Storage {
	case v1alpha1.StorageVolume: // while the chain is there that says which files these are
		err = j.dropFiles(ctx, run)
	case v1alpha1.StorageS3:
		err = j.dropObjects(ctx, run)
	}
	if err == nil {
		err = j.dropCopyParts(ctx, run)
	}
	return wrap(doing, err)
}

// dropFiles deletes the files that the run's chain of copies names, and no others.
func (j *Journal) dropFiles(ctx context.Context, run *v1alpha1.CleanerRun) error {
	if j.Places.CopiesPath == "" {
		return errors.New("they are files, and the operator has no directory for copies: start it with --copies-path")
	}
	var names []string
	err := (&Parts{client: j.client}).copies(ctx, run, func(c Copy) error {
		if c.File != "" {
			names = append(names, c.File)
		}
		return nil
	})
	if errors.Is(err, ErrNoPart) {
		return nil // the parts are deleted after the files
	}
	if err != nil {
		return err
	}
	return removeFiles(j.Places.CopiesPath, names)
}

func (j *Journal) dropObjects(ctx context.Context, run *v1alpha1.CleanerRun) error {
	bucket, err := openBucket(ctx, j.client, run.Status.Intent.Namespace, run.Status.Copies.S3Secret)
	if err != nil {
		return err
	}
	for n := range run.Status.Copies.Parts {
		if err := bucket.remove(ctx, bucket.key(run, run.Status.Intent.Attempt, n)); err != nil {
			return err
		}
	}
	return nil
}

// dropCopyParts deletes the Secrets with copies of the run, also those that an operator left that was cut off.
func (j *Journal) dropCopyParts(ctx context.Context, run *v1alpha1.CleanerRun) error {
	streams, err := labels.NewRequirement(
		v1alpha1.PartLabel,
		selection.In,
		[]string{streamCopies, streamSecrets, streamBundle},
	)
	if err != nil {
		return err
	}
	ofRun := labels.SelectorFromSet(labels.Set{v1alpha1.RunLabel: string(run.UID)}).Add(*streams)
	var names []*metav1.PartialObjectMetadata
	err = j.eachName(
		ctx,
		corev1.SchemeGroupVersion.WithKind("SecretList"),
		func(part *metav1.PartialObjectMetadata) { names = append(names, part) },
		client.InNamespace(run.Status.Intent.Namespace),
		client.MatchingLabelsSelector{Selector: ofRun},
	)
	if err != nil {
		return fmt.Errorf("listing their Secrets: %w", err)
	}
	var errs []error
	for _, part := range names {
		errs = append(errs, client.IgnoreNotFound(j.client.Delete(ctx, part, client.Preconditions{UID: &part.UID})))
	}
	return errors.Join(errs...)
}
