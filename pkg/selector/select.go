// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"cmp"
	"context"

	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// maxConsecutiveErrors is after how many objects in a row that could not be judged no more are tried.
const maxConsecutiveErrors = 100

// Observer is told how a reading goes. After a list had to begin anew, it is told its objects again. Nil functions are not
// called.
type Observer struct {
	// Lists is told what kind is going to be listed.
	Lists func(kind object.Kind)
	// Judged is told of each object that was judged or passed over, which may be long after it was read.
	Judged func()
	// Candidate is told each object that matches, after Judged. Its bytes are valid only during the call.
	Candidate func(object.Candidate)
	// Chooses is told when an aggregated script begins to look at the candidates.
	Chooses func()
}

// Tell calls what an observer is told by, unless it is nil.
func Tell(observe func()) {
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
	NotEvaluated []object.Outcome
	// Err says why not everything was read and asked, if it was not.
	Err error
}

// Select reads and judges all that the selector selects. What it finds is added to found also when the view is not complete,
// for the report; nothing may be touched then.
func (s *Selector) Select(ctx context.Context, reader *Reader, found *Found) Selection {
	var result Selection
	if result.Kind, result.Err = s.Resolve(ctx, reader); result.Err != nil {
		return result
	}
	if result.Scope, result.Err = reader.scope(ctx, s.namespace, s.namespaces); result.Err != nil {
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
		c.lists, c.events, c.eventPath = lists, events, about[i]
		query := query{kind: result.Kind, path: path, labels: s.labels.String(), metadataOnly: s.judge.MetadataOnly, slow: s.spec.LogSource != nil}
		err := reader.list(ctx, query, func() error { return c.restart(ctx) }, func(raw []byte) error { return c.add(ctx, raw) })
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

// collections are what the selector lists. Where events are read too, those of a namespace are read with its objects; and where logs are,
// a list of all would last for so long that the server forgets it.
func (s *Selector) collections(ctx context.Context, kind object.Kind, scope Scope) collections {
	if s.spec.WantsEvents() || s.spec.LogSource != nil {
		return collections{paths: scope.paths(kind)}
	}
	return s.reader.collections(ctx, kind, scope)
}

// collector gathers what one list yields.
type collector struct {
	selector *Selector
	kind     object.Kind
	found    *Found
	before   int // how many candidates there were before this list
	lists    collections
	// stream is the script at work, some objects behind the list. Nil when there is no script.
	stream *sandbox.Stream
	// added and considered are how many objects the list held so far that are to be judged, and how many were.
	added, considered int64
	// waiting are the objects that the script has not judged yet: their places in the list, and what the conditions said.
	waiting      []waiting
	notEvaluated []notEvaluated
	failures     int // in a row
	kept         int // bytes of notEvaluated
	// events are those of the objects. Nil when nobody wants them.
	events *inputs.Events
	// eventPath is where they were listed; refreshed, whether that was done once more since the list began.
	eventPath string
	refreshed bool
	// readings are the Pods whose logs are being read, in the order of the list.
	readings []*reading
	// stale is true while what comes back from the script is of a list that began anew.
	stale bool
}

type waiting struct {
	place   int64
	because string
}

type notEvaluated struct {
	place   int64
	outcome object.Outcome
}

func newCollector(ctx context.Context, s *Selector, kind object.Kind, found *Found) *collector {
	c := &collector{selector: s, kind: kind, found: found, before: found.len()}
	c.open(ctx)
	return c
}

func (c *collector) open(ctx context.Context) {
	if c.selector.judge.Script != "" {
		c.stream = c.selector.judge.Session.Stream(c.selector.judge.Script, func(answer sandbox.Judged) error { return c.answered(ctx, answer) })
		c.stream.MetadataOnly = c.selector.judge.MetadataOnly
	}
}

// restart forgets all that the list had yielded.
func (c *collector) restart(ctx context.Context) error {
	if c.added == 0 {
		return nil
	}
	c.stale = true
	if err := c.finish(ctx); err != nil {
		return err
	}
	c.found.truncate(c.before)
	c.found.giveBack(c.kept)
	*c = collector{selector: c.selector, kind: c.kind, found: c.found, before: c.before, lists: c.lists, events: c.events, eventPath: c.eventPath}
	c.open(ctx)
	return nil
}

// finish waits for the logs and the script.
func (c *collector) finish(ctx context.Context) (fault error) {
	for len(c.readings) > 0 {
		if err := c.settle(ctx); err != nil && fault == nil {
			fault, c.stale = err, true // the others are not judged any more, and yet waited for
		}
	}
	if c.stream == nil {
		return fault
	}
	return cmp.Or(fault, c.stream.Finish(ctx))
}

func (c *collector) add(ctx context.Context, raw []byte) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	o, err := object.New(c.kind, raw)
	if err != nil || !c.lists.has(o.Namespace) {
		return err
	}
	if !c.selector.eligible(o) || !c.selector.hasLabels(o) {
		Tell(c.found.Observer.Judged)
		return nil
	}
	c.added++
	found, ok := c.selector.found(o)
	if !ok {
		return c.judged(ctx, o, c.added, false, "", nil)
	}
	if err := c.refresh(ctx, o); err != nil {
		return err
	}
	data, err := c.data(ctx, o)
	if err != nil {
		return c.judged(ctx, o, c.added, false, "", err)
	}
	data = inputs.Join(found.Data, data)
	hold, because, err := c.selector.conditions(ctx, o, data)
	because = joined(found.Reason, because)
	if err == nil && hold && c.selector.spec.LogSource != nil {
		return c.read(ctx, o, because, data)
	}
	return c.askScript(ctx, o, c.added, hold, because, data, err)
}

// askScript lets the script judge an object for which the conditions hold.
func (c *collector) askScript(ctx context.Context, o object.Object, place int64, hold bool, because string, data object.JSON, err error) error {
	if err == nil && hold && c.stream != nil {
		c.waiting = append(c.waiting, waiting{place, because})
		return c.stream.AddWith(ctx, o, data)
	}
	return c.judged(ctx, o, place, hold, because, err)
}

// answered takes what the script says of the object that has been waiting longest.
func (c *collector) answered(ctx context.Context, answer sandbox.Judged) error {
	first := c.waiting[0]
	c.waiting = c.waiting[1:]
	if c.stale {
		return nil
	}
	err := answer.Err
	if err != nil {
		err = masked("evaluate", err, answer.Object)
	}
	return c.judged(ctx, answer.Object, first.place, answer.Matching, joined(first.because, object.Mask(answer.Message, answer.Object)), err)
}

// judged takes the judgement of one object.
func (c *collector) judged(ctx context.Context, o object.Object, place int64, matches bool, message string, err error) error {
	if stopped := context.Cause(ctx); err != nil && stopped != nil {
		return stopped // in the middle of the script, which is no failure of the script's, and no judgement
	}
	c.considered++
	Tell(c.found.Observer.Judged)
	if err != nil {
		return c.failed(o, place, err)
	}
	c.failures = 0
	if !matches {
		return nil
	}
	return c.found.add(ctx, object.Candidate{Object: o, Selector: c.selector.index, Message: message}, c.selector.Excludes(o))
}
