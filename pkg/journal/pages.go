// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// eachName lists objects by their metadata, in pages.
func (j *Journal) eachName(
	ctx context.Context,
	list schema.GroupVersionKind,
	each func(*metav1.PartialObjectMetadata),
	options ...client.ListOption,
) error {
	next := ""
	for {
		page := &metav1.PartialObjectMetadataList{}
		page.SetGroupVersionKind(list)
		if err := j.client.List(
			ctx,
			page,
			append(options, client.Limit(namesPerPage), client.Continue(next))...); err != nil {
			return err
		}
		for i := range page.Items {
			each(&page.Items[i])
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}

// eachRun reads CleanerRuns, in pages.
func (j *Journal) eachRun(ctx context.Context, each func(*v1alpha1.CleanerRun), options ...client.ListOption) error {
	next := ""
	for {
		var page v1alpha1.CleanerRunList
		if err := j.client.List(
			ctx,
			&page,
			append(options, client.Limit(runsPerPage), client.Continue(next))...); err != nil {
			return wrap("listing CleanerRuns", err)
		}
		for i := range page.Items {
			each(&page.Items[i])
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}
