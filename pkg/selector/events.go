// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// eventPaths are the collections of the events of the objects in the scope, in the order of Scope.paths.
func eventPaths(kind object.Kind, scope Scope) []string {
	if !kind.Namespaced {
		return []string{eventKind().Path(metav1.NamespaceDefault, "")}
	}
	return scope.paths(eventKind())
}

// readEvents reads the events of all objects of a kind in one collection, before the objects: one of them may be newer
// than its events. It returns nil when nobody wants them. Their memory is the share's.
func (s *Selector) readEvents(
	ctx context.Context,
	path string,
	kind object.Kind,
	share *Share,
) (*inputs.Events, error) {
	if !s.spec.WantsEvents() {
		return nil, nil
	}
	events := inputs.NewEvents(kind.GroupKind())
	events.Grow = func(bytes int) error { return share.add(int64(bytes)) }
	return events, s.reader.events(ctx, path, events, fields.Set{"involvedObject.kind": kind.Kind})
}

// Data reads the inputs of one object anew, as scripts and conditions take them. It is nil when nobody wants any.
func (s *Selector) Data(ctx context.Context, o object.Object) (object.JSON, error) {
	data, err := s.cheapData(ctx, o)
	if err != nil {
		return nil, err
	}
	found, _ := s.found(o)
	logs, err := s.logs(ctx, o)
	return inputs.Join(inputs.Join(found.Data, data), logs), err
}

// cheapData is all of it but logs.
func (s *Selector) cheapData(ctx context.Context, o object.Object) (object.JSON, error) {
	metrics, err := s.metrics(ctx)
	if err != nil || !s.spec.WantsEvents() {
		return metrics, err
	}
	if given := s.judge.Given; given != nil && given.Events != nil {
		return joinEvents(metrics, given.Events, o)
	}
	if s.reader == nil {
		return nil, errors.New(
			"includeEvents: there are no events here: they are read by kubectl cleaner preview on a cluster, and in a test they are in its events.yaml",
		)
	}
	path := eventPaths(o.Kind, Scope{Namespaces: []string{o.Namespace}})[0]
	events := inputs.EventsOfOne(o.Kind.GroupKind())
	if err := s.reader.events(
		ctx,
		path,
		events,
		fields.Set{"involvedObject.kind": o.Kind.Kind, "involvedObject.name": o.Name},
	); err != nil {
		return nil, err
	}
	return joinEvents(metrics, events, o)
}

// events reads the events that are about some objects.
func (r *Reader) events(ctx context.Context, path string, events *inputs.Events, about fields.Set) error {
	restart := func() error { events.Reset(); return nil }
	query := query{kind: eventKind(), path: path, fields: about.AsSelector().String()}
	if err := r.list(ctx, query, restart, events.Add); err != nil {
		return fmt.Errorf("includeEvents: %w", err)
	}
	return nil
}

// freshFor is for how long an object is new by its timestamp, when the clocks differ as much as they may.
const freshFor = time.Minute

// refresh reads the list of events once more, at the first object that may be newer than it: the list of objects, whose
// resourceVersion is that of its beginning, has none that is newer than that. When it fails, the events that were known
// may be lost.
func (c *collector) refresh(ctx context.Context, o object.Object) error {
	if c.events == nil || c.refreshed || !o.Created.After(c.selector.now.Add(-freshFor)) {
		return nil
	}
	c.refreshed = true
	return c.selector.reader.events(ctx, c.eventPath, c.events, fields.Set{"involvedObject.kind": c.kind.Kind})
}

// data is the inputs of an object of the list.
func (c *collector) data(ctx context.Context, o object.Object) (object.JSON, error) {
	metrics, err := c.selector.metrics(ctx)
	if err != nil || c.events == nil {
		return metrics, err
	}
	return joinEvents(metrics, c.events, o)
}

func joinEvents(data object.JSON, events *inputs.Events, o object.Object) (object.JSON, error) {
	of, err := events.Of(o)
	if err != nil {
		return nil, fmt.Errorf("includeEvents: %w", err)
	}
	return inputs.Join(data, of), nil
}

func eventKind() object.Kind {
	return object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Event"), Resource: "events", Namespaced: true}
}
