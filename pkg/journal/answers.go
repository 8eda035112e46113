// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// errUnproved says that an answer claims success and is not the API server's, but of something on the way to it. Then nothing is
// durable.
var errUnproved = errors.New("the answer does not show that it is an API server's: is there something between the operator and the API server?")

// create creates an object that must be durable before anything else is done.
func (j *Journal) create(ctx context.Context, o client.Object) error {
	err := j.client.Create(ctx, o)
	if err == nil && (o.GetUID() == "" || o.GetResourceVersion() == "") {
		return errUnproved
	}
	return err
}

// changeStatus writes a status that differs from the stored one, and must be durable before anything else is done.
func (j *Journal) changeStatus(ctx context.Context, run *v1alpha1.CleanerRun) error {
	before := run.ResourceVersion
	err := j.client.Status().Update(ctx, run)
	if err == nil && run.ResourceVersion == before {
		return errUnproved
	}
	return err
}

// read reads a record.
func (j *Journal) read(ctx context.Context, name string) (*v1alpha1.CleanerRun, error) {
	var run v1alpha1.CleanerRun
	err := j.client.Get(ctx, client.ObjectKey{Name: name}, &run)
	if err == nil && (run.Name != name || run.UID == "") {
		return nil, errUnproved
	}
	return &run, err
}
