// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"

	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// maxConsecutiveErrors is after how many objects in a row that could not be judged no more are tried.
const maxConsecutiveErrors = 100

// Observer follows a reading. After a list had to begin anew, it gets its objects again. Nil functions are not called.
type Observer struct {
	// Lists is called with the kind that is listed next.
	Lists func(kind object.Kind)
	// Judged is called for each object that was judged or passed over, which may be long after it was read.
	Judged func()
	// Candidate is called with each object that matches, after Judged. Its bytes are valid only during the call.
	Candidate func(stage.Candidate)
	// Chooses is called when an aggregated script begins to look at the candidates.
	Chooses func()
}

// Call calls a function of an observer, unless it is nil.
func Call(observe func()) {
	if observe != nil {
		observe()
	}
}

// Selection is how a selector's reading went.
type Selection struct {
	Kind  object.Kind
	Scope Scope
	// Considered is how many objects were judged.
	Considered int64
	// NotEvaluated are the objects that could not be judged, without their bytes.
	NotEvaluated []stage.Outcome
	// Err says why not everything was read and asked, if it was not.
	Err error
}

// Select reads and judges all that the selector selects. What it finds is added to found also when the view is not
// complete, for the report; nothing may be touched then.
func (s *Selector) Select(ctx context.Context, reader *Reader, found *Matches) Selection {
	var result Selection
	if result.Kind, result.Err = s.Resolve(ctx, reader); result.Err != nil {
		return result
	}
	if result.Scope, result.Err = reader.scope(ctx, s.namespace, s.namespaces, s.judge.Aggregated); result.Err != nil {
		return result
	}
	if _, result.Err = s.metrics(ctx); result.Err != nil {
		return result
	}
	if found.Observer.Lists != nil {
		found.Observer.Lists(result.Kind)
	}
	lists, about := s.collections(ctx, result.Kind, result.Scope), eventPaths(result.Kind, result.Scope)
	for i, path := range lists.paths {
		var events *inputs.Events
		if events, result.Err = s.readEvents(ctx, about[i], result.Kind, found.share()); result.Err != nil {
			return result
		}
		c := newCollector(ctx, s, result.Kind, found)
		c.scope, c.lists, c.events, c.eventPath = result.Scope, lists, events, about[i]
		query := query{
			kind:         result.Kind,
			path:         path,
			labels:       s.labels.String(),
			metadataOnly: s.judge.MetadataOnly,
			slow:         s.spec.LogSource != nil,
		}
		err := reader.list(
			ctx,
			query,
			func() error { return c.restart(ctx) },
			func(raw []byte) error { return c.add(ctx, raw) },
		)
		if fault := c.finish(ctx); err == nil {
			err = fault // after a fault of the list, one of the script does not matter
		}
		if events != nil {
			events.Reset()
		}
		result.Considered += c.considered
		result.NotEvaluated = append(result.NotEvaluated, c.outcomes()...)
		if err != nil {
			reader.forget(err, s.gvk)
			result.Err = err
			return result
		}
	}
	return result
}

// collections are what the selector lists. Where events are read too, those of a namespace are read with its objects;
// and where logs are, a list of all would last for so long that the server forgets it.
func (s *Selector) collections(ctx context.Context, kind object.Kind, scope Scope) collections {
	if s.spec.WantsEvents() || s.spec.LogSource != nil {
		return collections{paths: scope.paths(kind)}
	}
	return s.reader.collections(ctx, kind, scope)
}
