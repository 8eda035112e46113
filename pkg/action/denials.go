// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

const (
	// firstSpare is for how long an object is not asked for again that was denied in two runs, one after the other; twice
	// that after three, and so on up to longestSpare.
	firstSpare   = time.Minute
	longestSpare = 30 * time.Minute
	// maxDenials bounds how many objects are remembered, and maxSaid what is kept of each denial, in bytes.
	maxDenials = 10_000
	maxSaid    = 256
)

// Denials remember which objects admission did not let Cleaners delete or change, so that a Cleaner of every minute
// does not put the same question to a webhook for ever. Only requests are saved by it: it is in memory, and an operator
// that starts asks once more. Nil remembers nothing.
type Denials struct {
	mu      sync.Mutex
	objects map[deniedObject]refusedOften
}

type deniedObject struct{ cleaner, object types.UID }

type refusedOften struct {
	// version and generation are those of the object and of the Cleaner: when either changes, it is asked again.
	version    string
	generation int64
	times      int
	until      time.Time
	said       string
}

// Of says why it is too early for a run to ask for an object again, by what is known now. A run that somebody asked for
// asks for all, and so does a preview, which has no record.
func (d *Denials) Of(record *v1alpha1.CleanerRun, now time.Time) func(object.Object) string {
	if d == nil || record == nil || record.Spec.Trigger != v1alpha1.TriggerSchedule {
		return func(object.Object) string { return "" }
	}
	spared := map[types.UID]refusedOften{}
	d.mu.Lock()
	defer d.mu.Unlock()
	for of, before := range d.objects {
		if of.cleaner == record.Spec.CleanerUID && now.Before(before.until) {
			spared[of.object] = before
		}
	}
	return func(o object.Object) string {
		before, known := spared[o.UID]
		if !known || !before.isOf(record, o) {
			return ""
		}
		return fmt.Sprintf(
			"the last %d attempts to delete or change it were denied. Runs leave it alone until %s, unless the object or the Cleaner changes, or you run the Cleaner: kubectl cleaner run %s. The last denial was: %s",
			before.times,
			before.until.UTC().Format(time.RFC3339),
			record.Spec.Cleaner,
			before.said,
		)
	}
}

// Note takes down what became of the objects that were asked for.
func (d *Denials) Note(record *v1alpha1.CleanerRun, outcomes []stage.Outcome, now time.Time) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.makeRoom(now)
	for i := range outcomes {
		outcome := &outcomes[i]
		key := deniedObject{record.Spec.CleanerUID, outcome.UID}
		before, known := d.objects[key]
		switch outcome.Result {
		case v1alpha1.OutcomeDenied:
			if !outcome.Act || !known && len(d.objects) >= maxDenials { // it was not asked for, or there is no room
				continue
			}
			next := refusedOften{
				version:    outcome.ResourceVersion,
				generation: record.Spec.CleanerGeneration,
				times:      1,
				said:       v1alpha1.Truncate(outcome.Detail, maxSaid),
			}
			if before.isOf(record, outcome.Object) {
				next.times = before.times + 1
			}
			next.until = now.Add(spareTime(next.times))
			d.objects[key] = next
		case v1alpha1.OutcomePlanned, v1alpha1.OutcomeNotActed, v1alpha1.OutcomeInterrupted: // nobody was asked
		default:
			delete(d.objects, key)
		}
	}
}

func (e refusedOften) isOf(record *v1alpha1.CleanerRun, o object.Object) bool {
	return e.version == o.ResourceVersion && e.generation == record.Spec.CleanerGeneration
}

// spareTime is how long an object is not asked for that was denied so many times. The first time is no reason to wait.
func spareTime(times int) time.Duration {
	if times < 2 {
		return 0
	}
	return min(firstSpare<<min(times-2, 10), longestSpare)
}

// makeRoom forgets, when it needs room, what nobody has asked about for long.
func (d *Denials) makeRoom(now time.Time) {
	if d.objects == nil {
		d.objects = map[deniedObject]refusedOften{}
	}
	if len(d.objects) >= maxDenials {
		maps.DeleteFunc(d.objects, func(_ deniedObject, e refusedOften) bool { return now.Sub(e.until) > longestSpare })
	}
}
