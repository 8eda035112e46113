// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	"github.com/kubecleaner/kubecleaner/test/faultproxy"
	"github.com/kubecleaner/kubecleaner/test/testenv/seed"
)

// pageSize is in how small pages the API server answers here.
const pageSize = 3

// attack is a fault at some of an operator's requests, counting those that it concerns.
type attack struct {
	kind faultproxy.Kind
	// from and to are the first and the last of the requests.
	from, to int
	// runner is which operator it strikes: 0 is the first, 1 the one that takes over.
	runner int
}

func (a attack) String() string {
	return fmt.Sprintf("%s at %d-%d of operator %d", a.kind.Name, a.from, a.to, a.runner)
}

// faultRun is one case.
type faultRun struct {
	n       int
	action  v1alpha1.Action
	attacks []attack
	// dies is the request from which on nothing of the first operator gets through, as if it were dead. Zero means never.
	dies int
}

func (r faultRun) String() string {
	parts := []string{fmt.Sprintf("%d %s", r.n, r.action)}
	for _, a := range r.attacks {
		parts = append(parts, a.String())
	}
	if r.dies > 0 {
		parts = append(parts, fmt.Sprintf("dead from %d", r.dies))
	}
	return strings.Join(parts, ", ")
}

// longest is how many requests of an operator are attacked. A run of the worlds here makes fewer.
const longest = 60

// chooseRuns chooses cases: each kind of fault at each position, as far as there are enough runs for that, and random ones: longer
// faults, pairs, operators that die, faults while another operator takes over.
func chooseRuns(total int, length map[v1alpha1.Action]int, rng *rand.Rand) []faultRun {
	var singles []faultRun
	for _, action := range []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionTransform} {
		for _, kind := range faultproxy.Kinds {
			for position := range length[action] {
				if (kind.Lists || kind.Pages) && position > 8 {
					break // there are not so many lists
				}
				singles = append(singles, faultRun{action: action, attacks: []attack{{kind: kind, from: position, to: position}}})
			}
		}
	}
	var chosen []faultRun
	if random := total / 5; len(singles) > total-random {
		rng.Shuffle(len(singles), func(i, j int) { singles[i], singles[j] = singles[j], singles[i] })
		chosen = spread(singles, total-random)
	} else {
		chosen = singles
	}
	for len(chosen) < total {
		chosen = append(chosen, randomRun(length, rng))
	}
	return chosen
}

// spread takes n of the cases, of each kind about as many.
func spread(cases []faultRun, n int) []faultRun {
	seen := map[string]int{}
	rank := make([]int, len(cases))
	places := make([]int, len(cases))
	for i := range cases {
		name := cases[i].attacks[0].kind.Name
		rank[i], places[i] = seen[name], i
		seen[name]++
	}
	slices.SortStableFunc(places, func(a, b int) int { return rank[a] - rank[b] })
	taken := make([]faultRun, n)
	for i := range taken {
		taken[i] = cases[places[i]]
	}
	return taken
}

func randomRun(length map[v1alpha1.Action]int, rng *rand.Rand) faultRun {
	result := faultRun{action: v1alpha1.ActionDelete}
	if rng.IntN(2) == 0 {
		result.action = v1alpha1.ActionTransform
	}
	if rng.IntN(3) == 0 {
		result.dies = 1 + rng.IntN(length[result.action])
	}
	for range 1 + rng.IntN(3) {
		a := attack{kind: faultproxy.Kinds[rng.IntN(len(faultproxy.Kinds))], from: rng.IntN(length[result.action])}
		a.to = a.from + rng.IntN(3)
		if result.dies > 0 {
			a.runner = rng.IntN(2)
		}
		result.attacks = append(result.attacks, a)
	}
	return result
}

// tally counts how the runs ended.
type tally struct {
	mu                      sync.Mutex
	kinds, phases, takeover map[string]int
}

func (y *tally) add(counts *map[string]int, key string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if *counts == nil {
		*counts = map[string]int{}
	}
	(*counts)[key]++
}

func lines(counts map[string]int) string {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&text, "\n  %5d %s", counts[key], key)
	}
	return text.String()
}

// Whatever happens to its requests, a run breaks none of the invariants, and comes to an end when nothing happens any more.
func TestFaults(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	length := map[v1alpha1.Action]int{}
	for _, action := range []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionTransform} {
		length[action] = undisturbed(t, s, action)
	}
	began := time.Now()
	results := &tally{}
	runs := chooseRuns(*faultRuns, length, random(*faultSeed))
	for _, failed := range seed.Failed {
		if failed != *faultSeed { // a tenth as many
			runs = append(runs, chooseRuns(*faultRuns/10, length, random(failed))...)
		}
	}
	for i := range runs {
		runs[i].n = i
	}
	try := func(t *testing.T, namespace string, r faultRun) { r.try(t, s, namespace, results) }
	inParallel(t, s, runs, try, func() {
		t.Logf("%d fault runs in %s with -fault-seed=%d; an undisturbed Delete makes %d requests, a Transform %d.\nBy fault:%s\nAfter the first operator:%s\nIn the end:%s",
			len(runs), time.Since(began).Round(time.Second), *faultSeed, length[v1alpha1.ActionDelete], length[v1alpha1.ActionTransform],
			lines(results.kinds), lines(results.takeover), lines(results.phases))
	})
}

// undisturbed carries out a run without faults and returns how many requests it made.
func undisturbed(t *testing.T, s *site, action v1alpha1.Action) int {
	t.Helper()
	w := newWorld(t, s, s.newNamespace(t), action)
	w.populate()
	runner, proxy := s.newRunner(t)
	proxy.Handle(func(c *faultproxy.Call) faultproxy.Fault { return w.paged(c, nil) })
	record, _ := runner.Run(t.Context(), w.request())
	if record.Status.Phase != v1alpha1.RunCompleted {
		t.Fatalf("without any fault the run is %s: %s", record.Status.Phase, record.Status.Message)
	}
	seen := w.check(t, "after the run")
	if n := len(seen.Records[0].Intents); n != 8+1 {
		t.Fatalf("the run intended %d objects, want 9", n)
	}
	if proxy.Calls() > longest {
		t.Fatalf("the run made %d requests", proxy.Calls())
	}
	return proxy.Calls()
}

func (w *world) request() run.Request {
	return run.Request{Cleaner: w.name, UID: w.cleaner.UID, Nominal: w.clock.Now().Truncate(time.Second), Trigger: v1alpha1.TriggerSchedule}
}

// paged lets the world go on, and makes small pages of the lists of the objects in question.
func (w *world) paged(c *faultproxy.Call, fault faultproxy.Fault) faultproxy.Fault {
	w.meddle(c)
	if c.Verb == "list" && c.Namespace == w.namespace {
		return faultproxy.Paged(pageSize, fault)
	}
	return fault
}

// check checks the invariants.
func (w *world) check(t *testing.T, when string) *World {
	t.Helper()
	seen, err := w.observe(context.Background())
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	for _, err := range Check(seen) {
		t.Errorf("%s: %v", when, err)
	}
	return seen
}

func (r faultRun) try(t *testing.T, s *site, namespace string, results *tally) {
	w := newWorld(t, s, namespace, r.action)
	w.populate()
	for _, a := range r.attacks {
		results.add(&results.kinds, a.kind.Name)
	}
	if r.dies > 0 {
		results.add(&results.kinds, "the operator dies")
	}
	request := w.request()
	seen := r.operate(t, w, request, 0)
	w.later(!begun(seen))
	results.add(&results.takeover, phase(seen))
	if r.dies > 0 {
		w.replan(begun(r.operate(t, w, request, 1)))
	}
	seen = r.operate(t, w, request, 2)
	results.add(&results.phases, phase(seen))
	if len(seen.Records) != 1 || !seen.Records[0].Run.Status.Phase.Final() {
		t.Errorf("without any fault the run came to no end: it is %s", phase(seen))
	}
}

// phase says how far the run has come.
func phase(seen *World) string {
	if len(seen.Records) == 0 {
		return "no record"
	}
	status := seen.Records[0].Run.Status
	if status.Phase == "" {
		return "nothing touched yet"
	}
	return strings.TrimSpace(string(status.Phase) + " " + status.Reason)
}

// later creates an object that matches. A run that has begun to touch things, or has ended, must not touch it any more: it would
// have run twice.
func (w *world) later(mayRun bool) {
	spared := "it was created after the run had begun to act"
	if mayRun {
		spared = ""
	}
	w.create("ConfigMap", "later", spared)
	w.replan(!mayRun)
}

// begun reports whether the run has begun to touch things, or has ended.
func begun(seen *World) bool {
	return len(seen.Records) > 0 && seen.Records[0].Run.Status.Phase != ""
}

// replan makes what was created after the list fair game, unless the run has begun: then there is going to be another list.
func (w *world) replan(begun bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, object := range w.before {
		if !begun && object.Spared == afterList {
			object.Spared = ""
		}
	}
}

// operate lets an operator carry out the run, with its share of the faults, and checks the invariants.
func (r faultRun) operate(t *testing.T, w *world, request run.Request, operator int) *World {
	t.Helper()
	runner, proxy := w.newRunner(t)
	var counted calls
	dead, die := context.WithCancel(context.Background())
	defer die()
	proxy.Handle(func(c *faultproxy.Call) faultproxy.Fault {
		if operator == 0 && r.dies > 0 && c.Index >= r.dies {
			die()
			return faultproxy.Close
		}
		if operator == 0 && r.dies > 0 { // it may die before it has written down what it learned
			w.mayNotLearn(c)
		}
		fault := r.faultAt(&counted, c, operator)
		if fault != nil && !c.Changes() { // it may be a look at what became of an object
			w.mayNotLearn(c)
		}
		return w.paged(c, fault)
	})
	ended := make(chan struct{})
	w.running.Go(func() {
		defer close(ended)
		_, _ = runner.Run(dead, request)
	})
	select {
	case <-ended:
	case <-dead.Done(): // it goes on trying to say so, for a while, and nobody hears it
	}
	proxy.Wait()
	return w.check(t, fmt.Sprintf("after operator %d", operator))
}

// faultAt is the first fault that strikes the call.
func (r faultRun) faultAt(counted *calls, c *faultproxy.Call, operator int) (fault faultproxy.Fault) {
	for i, a := range r.attacks {
		if a.runner != operator || !a.kind.Concerns(c) {
			continue
		}
		if n := counted.next(fmt.Sprint(i)); n >= a.from && n <= a.to && fault == nil {
			fault = a.kind.Fault
		}
	}
	return fault
}
