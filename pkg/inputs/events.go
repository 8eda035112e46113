// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// maxEvents is how much memory the events of one selector may take, in bytes.
	maxEvents = 128 << 20
	// maxOfOne is how much memory the events take that are read for one object.
	maxOfOne = 4 << 20
	// maxOfObject is how long the events of one object may be, as scripts get them, in bytes.
	maxOfObject = 1 << 20
	// eventSize is about what an event takes besides its texts.
	eventSize = 128
)

// Events are the events of the objects of one kind.
type Events struct {
	kind schema.GroupKind
	// byUID and byName hold each event once: by name are those whose involvedObject has no UID that objects have.
	byUID  map[types.UID][]event
	byName map[types.NamespacedName][]event
	// texts are the texts of all events, each once: most are repeated many times.
	texts       map[string]string
	size, limit int
	// Grow, if not nil, is called with how many bytes more the events take, or fewer, and may refuse.
	Grow func(bytes int) error
}

type event struct {
	Reason        string `json:"reason"`
	Message       string `json:"message"`
	Type          string `json:"type"`
	Count         int32  `json:"count"`
	LastTimestamp string `json:"lastTimestamp"`

	last time.Time
}

// NewEvents returns the events of the objects of a kind: none yet.
func NewEvents(kind schema.GroupKind) *Events {
	e := &Events{kind: kind, limit: maxEvents}
	e.Reset()
	return e
}

// EventsOfOne are those of a single object of a kind: none yet.
func EventsOfOne(kind schema.GroupKind) *Events {
	e := NewEvents(kind)
	e.limit = maxOfOne
	return e
}

// Reset forgets all events, for a list that begins anew.
func (e *Events) Reset() {
	if e.Grow != nil {
		_ = e.Grow(-e.size) // less is always granted
	}
	e.byUID, e.byName, e.texts, e.size = map[types.UID][]event{}, map[types.NamespacedName][]event{}, map[string]string{},
		0
}

// Add takes one event of the core API, and keeps it when it is about an object of the kind.
func (e *Events) Add(raw []byte) error {
	var from corev1.Event
	if err := json.Unmarshal(raw, &from); err != nil {
		return fmt.Errorf("reading an event: %w", err)
	}
	about := from.InvolvedObject
	// Some writers leave the group out; a kind of the same name in another group is another one.
	if about.Kind != e.kind.Kind || about.APIVersion != "" && about.GroupVersionKind().Group != e.kind.Group {
		return nil
	}
	before := e.size
	kept := e.event(&from)
	if e.Grow != nil {
		if err := e.Grow(e.size - before); err != nil {
			return fmt.Errorf("not enough memory for the events of %s objects: %w", e.kind.Kind, err)
		}
	}
	if e.size > e.limit {
		return fmt.Errorf(
			"the events of %s objects take more than %d MiB of memory: let the Cleaner select fewer objects (with namespace), or write several Cleaners",
			e.kind.Kind,
			e.limit>>20,
		)
	}
	name := types.NamespacedName{Namespace: about.Namespace, Name: about.Name}
	// The events of Nodes have the Node's name in the place of its UID.
	if about.UID == "" || string(about.UID) == about.Name {
		e.byName[name] = append(e.byName[name], kept)
		return nil
	}
	e.byUID[about.UID] = append(e.byUID[about.UID], kept)
	return nil
}

func (e *Events) event(from *corev1.Event) event {
	kept := event{
		Reason: e.text(from.Reason), Message: e.text(from.Message), Type: e.text(from.Type), Count: max(1, from.Count),
		last: latest(from.CreationTimestamp.Time, from.FirstTimestamp.Time, from.LastTimestamp.Time, from.EventTime.Time),
	}
	if series := from.Series; series != nil {
		kept.Count = max(kept.Count, series.Count)
		kept.last = latest(kept.last, series.LastObservedTime.Time)
	}
	e.size += eventSize
	return kept
}

// text is the text, in memory once.
func (e *Events) text(text string) string {
	if known, ok := e.texts[text]; ok {
		return known
	}
	e.texts[text] = text
	e.size += eventSize + len(text)
	return text
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// Of writes down the events of one object, newest first, as JSON: a map with the list events.
func (e *Events) Of(o object.Object) (object.JSON, error) {
	name := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	// Who had the name before is another object.
	byName := slices.DeleteFunc(slices.Clone(e.byName[name]), func(kept event) bool { return kept.last.Before(o.Created) })
	of := slices.Concat(e.byUID[o.UID], byName)
	slices.SortStableFunc(of, func(a, b event) int {
		return cmp.Or(b.last.Compare(a.last), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
	size := 0
	for i := range of {
		of[i].LastTimestamp = of[i].last.UTC().Format(time.RFC3339)
		size += eventSize + jsonSize(of[i].Reason) + jsonSize(of[i].Message) + jsonSize(of[i].Type)
	}
	if size > maxOfObject { // before it is written down: many may have one text
		return nil, fmt.Errorf(
			"the %d events of the object are longer than %d MiB together; it is not judged by a part of them",
			len(of),
			maxOfObject>>20,
		)
	}
	if of == nil {
		of = []event{}
	}
	written, err := json.Marshal(map[string][]event{"events": of})
	if err != nil {
		return nil, fmt.Errorf("writing down the events of %s: %w", o, err)
	}
	return written, nil
}
