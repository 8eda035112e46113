// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// sighting is a Cleaner as it is now, or why it cannot be looked at any more.
type sighting struct {
	cleaner *v1alpha1.Cleaner
	err     error
}

// lookAtCleaner sends how a Cleaner is, and whenever it changes, until the context ends or there is nothing to look at.
// Where watching is not allowed or breaks off, it asks again now and then.
func lookAtCleaner(ctx context.Context, c *cluster.Client, clk clock.Clock, name string, seen chan<- sighting) {
	send := func(s sighting) bool {
		select {
		case seen <- s:
			return s.err == nil
		case <-ctx.Done():
			return false
		}
	}
	for {
		var cleaner v1alpha1.Cleaner
		err := c.Read(ctx, cluster.CleanerPath(name), &cleaner)
		if ctx.Err() != nil {
			return
		}
		if err := lasting(name, err); err != nil {
			send(sighting{err: err})
			return
		}
		if err == nil && (!send(sighting{cleaner: &cleaner}) || !reportChanges(ctx, c, &cleaner, send)) {
			return
		} // else it is asked again: the API server may be back soon
		select {
		case <-clk.After(cluster.Rewatch):
		case <-ctx.Done():
			return
		}
	}
}

// lasting is why a Cleaner cannot be read, if it is no use to ask again.
func lasting(name string, err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return terminal.Fail(codes.RunNotBegun, fmt.Errorf("cleaner %q was deleted", name), "")
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return cluster.RequestError(fmt.Sprintf("reading cleaner %q", name), err)
	}
	return nil
}

// reportChanges sends the changes of a Cleaner, and reports whether it makes sense to begin anew.
func reportChanges(ctx context.Context, c *cluster.Client, from *v1alpha1.Cleaner, send func(sighting) bool) bool {
	body, err := c.Raw.Get().
		AbsPath(cluster.CleanerPath("")).
		Param("watch", "true").
		Param("fieldSelector", "metadata.name="+from.Name).
		Param("resourceVersion", from.ResourceVersion).
		Stream(ctx)
	if err != nil {
		return true
	}
	defer func() { _ = body.Close() }()
	decoder := json.NewDecoder(body)
	for {
		var event struct {
			Type   watch.EventType
			Object json.RawMessage
		}
		if decoder.Decode(&event) != nil {
			return true
		}
		var cleaner v1alpha1.Cleaner
		switch event.Type {
		case watch.Added, watch.Modified:
			if json.Unmarshal(event.Object, &cleaner) != nil {
				return true
			}
			if !send(sighting{cleaner: &cleaner}) {
				return false
			}
		case watch.Deleted:
			return send(sighting{err: terminal.Fail(codes.RunNotBegun, fmt.Errorf("cleaner %q was deleted", from.Name), "")})
		case watch.Error:
			return true
		}
	}
}
