// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"cmp"
	"context"

	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// collector gathers what one list yields.
type collector struct {
	selector *Selector
	kind     object.Kind
	found    *Matches
	before   int // how many candidates there were before this list
	scope    Scope
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
	outcome stage.Outcome
}

func newCollector(ctx context.Context, s *Selector, kind object.Kind, found *Matches) *collector {
	c := &collector{selector: s, kind: kind, found: found, before: found.len()}
	c.open(ctx)
	return c
}

func (c *collector) open(ctx context.Context) {
	if c.selector.judge.Script != "" {
		c.stream = c.selector.judge.Session.Stream(
			c.selector.judge.Script,
			func(answer sandbox.Judged) error { return c.answered(ctx, answer) },
		)
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
	*c = collector{
		selector: c.selector,
		kind:     c.kind,
		scope:    c.scope,

		found:     c.found,
		before:    c.before,
		lists:     c.lists,
		events:    c.events,
		eventPath: c.eventPath,
	}
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
	if !c.selector.selects(o) {
		Call(c.found.Observer.Judged)
		return nil
	}
	c.added++
	if err := c.refresh(ctx, o); err != nil {
		return err
	}
	so, err := c.selector.early(ctx, o, c.data)
	if err == nil && so.hold && c.selector.spec.LogSource != nil {
		return c.read(ctx, o, so)
	}
	return c.askScript(ctx, o, c.added, so, err)
}

// askScript lets the script judge an object for which all else holds.
func (c *collector) askScript(ctx context.Context, o object.Object, place int64, so judgement, err error) error {
	if err == nil && so.hold && c.stream != nil {
		c.waiting = append(c.waiting, waiting{place, so.because})
		return c.stream.AddWith(ctx, o, so.data)
	}
	return c.judged(ctx, o, place, so.hold, so.because, err)
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
	return c.judged(
		ctx,
		answer.Object,
		first.place,
		answer.Matching,
		joined(first.because, object.Mask(answer.Message, answer.Object)),
		err,
	)
}

// judged takes the judgement of one object.
func (c *collector) judged(
	ctx context.Context,
	o object.Object,
	place int64,
	matches bool,
	message string,
	err error,
) error {
	if stopped := context.Cause(ctx); err != nil && stopped != nil {
		return stopped // in the middle of the script, which is no failure of the script's, and no judgement
	}
	c.considered++
	Call(c.found.Observer.Judged)
	if err != nil {
		return c.failed(o, place, err)
	}
	c.failures = 0
	if !matches {
		return nil
	}
	return c.found.add(
		ctx,
		stage.Candidate{Object: o, Selector: c.selector.index, Message: object.WithManager(message, c.selector.managed(o))},
		c.selector.Excludes(o) || c.scope.isEnding(o),
	)
}
