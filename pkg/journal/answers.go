// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// errUnproved says that an answer claims success and is not the API server's, but of something on the way to it. Then
// nothing is durable.
var errUnproved = errors.New(
	"the answer does not show that it is an API server's: is there something between the operator and the API server?",
)

// What is written is written from a copy: the client puts the answer into it, whatever that is. An answer that is no
// API server's, such as {}, would leave the caller with a record that says nothing: not even whether to delete or to
// change.

// create creates an object that must be durable before anything else is done. Of the answer, o takes the UID and the
// version.
func (j *Journal) create(ctx context.Context, o client.Object) error {
	sent, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return errors.New("a fault of KubeCleaner: a copy is not of its kind")
	}
	err := j.client.Create(ctx, sent)
	if err == nil && (sent.GetName() != o.GetName() || sent.GetUID() == "" || sent.GetResourceVersion() == "") {
		err = errUnproved
	}
	if err == nil {
		o.SetUID(sent.GetUID())
		o.SetResourceVersion(sent.GetResourceVersion())
		o.SetCreationTimestamp(sent.GetCreationTimestamp())
	}
	return err
}

// update writes an object that differs from the stored one. Of the answer, o takes the version.
func (j *Journal) update(ctx context.Context, o client.Object) error {
	return overwrite(o, func(sent client.Object) error { return j.client.Update(ctx, sent) })
}

// changeStatus writes a status that differs from the stored one, and must be durable before anything else is done.
func (j *Journal) changeStatus(ctx context.Context, run *v1alpha1.CleanerRun) error {
	return overwrite(run, func(sent client.Object) error { return j.client.Status().Update(ctx, sent) })
}

func overwrite(o client.Object, write func(client.Object) error) error {
	sent, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return errors.New("a fault of KubeCleaner: a copy is not of its kind")
	}
	if err := write(sent); err != nil {
		return err
	}
	version := sent.GetResourceVersion()
	if sent.GetName() != o.GetName() || o.GetUID() != "" && sent.GetUID() != o.GetUID() || version == "" ||
		version == o.GetResourceVersion() {
		return errUnproved
	}
	o.SetResourceVersion(version)
	return nil
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

// Cleaner reads a Cleaner from the API server, not from a cache: one that is not there, or is another of the name, is
// gone. Then it is nil.
func (j *Journal) Cleaner(ctx context.Context, name string, uid types.UID) (*v1alpha1.Cleaner, error) {
	var cleaner v1alpha1.Cleaner
	err := j.client.Get(ctx, client.ObjectKey{Name: name}, &cleaner)
	switch {
	case err == nil && (cleaner.Name != name || cleaner.UID == ""):
		return nil, wrap("reading Cleaner "+name, errUnproved)
	case apiserver.IsAbsent(err, name), err == nil && cleaner.UID != uid:
		return nil, nil
	}
	return &cleaner, wrap("reading Cleaner "+name, err)
}
