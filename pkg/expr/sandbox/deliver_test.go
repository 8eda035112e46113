// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func isLost(err error) bool {
	var lost *LostError
	return errors.As(err, &lost)
}

// someObjects are ConfigMaps with so many bytes of data each.
func someObjects(t testing.TB, count, size int) []object.Object {
	value := strings.Repeat("x", size)
	var objects []object.Object
	for i := range count {
		objects = append(objects, configMap(t, fmt.Sprintf("o%d", i), value))
	}
	return objects
}

// TestAggregateLosesItsChild lets another script of the same session end the child that has the objects.
func TestAggregateLosesItsChild(t *testing.T) {
	s := open(t, newPool(t, Config{}), short)
	a := s.Aggregate(unused)
	objects := someObjects(t, 60, 100_000)
	addAll(t, a, objects[:30]...)
	if _, err := s.Evaluate(t.Context(), behave, configMap(t, "a", "native")); budgetKind(err) != BudgetTime {
		t.Fatalf("got %v", err)
	}
	addAll(t, a, objects[30:]...)
	if got, err := a.Finish(t.Context()); !isLost(err) || got != nil ||
		err.Error() != "the process that had the objects ended, because of another script of the same run or for want of memory on the node" {
		t.Errorf("got %d, %v", len(got), err)
	}
	if got, err := s.chooseOnce(t.Context(), unused, objects); err != nil || len(got) != len(objects) {
		t.Errorf("once more: got %d, %v", len(got), err)
	}
}

// TestHangingOverObjectsTakesNoMoreThanTheyNeed lets scripts hang over objects for which 64 MiB and 128 MiB are enough: there is memory
// for another that chooses among many.
func TestHangingOverObjectsTakesNoMoreThanTheyNeed(t *testing.T) {
	p := newPool(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	objects := someObjects(t, 16_000, 2000)
	var all sync.WaitGroup
	for _, count := range []int{7_000, 12_000} {
		hangs := open(t, p, Options{}).Aggregate(`function evaluate() while true do end end`)
		addAll(t, hangs, objects[:count]...)
		all.Go(func() { _, _ = hangs.Finish(ctx) })
	}
	limit, stop := context.WithTimeout(t.Context(), 40*time.Second) // before they are out of time
	defer stop()
	if got, err := open(t, p, Options{}).Choose(limit, unused, objects); err != nil || len(got) != len(objects) {
		t.Errorf("%d of many objects: %v", len(got), err)
	}
	cancel()
	all.Wait()
}

// TestLargeAggregatesWait lets more of them choose at once than there is memory for: each has its turn.
func TestLargeAggregatesWait(t *testing.T) {
	p := newPool(t, Config{})
	objects := someObjects(t, 16_000, 100)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if got, err := open(t, p, Options{}).Choose(t.Context(), unused, objects); err != nil || len(got) != len(objects) {
				t.Errorf("%d: %v", len(got), err)
			}
		})
	}
	all.Wait()
}

// TestLargeAggregateWaitsForWhatItNeeds finds no more than 64 MiB free at first, and 128 MiB later.
func TestLargeAggregateWaitsForWhatItNeeds(t *testing.T) {
	p := newPool(t, Config{})
	defer hold(t, p.room, &p.room.notSlow, p.room.notSlow.size).release()
	defer hold(t, p.room, &p.room.general, p.room.general.size-2*smallMemory).release()
	other := hold(t, p.room, &p.room.general, smallMemory)
	objects := someObjects(t, 14_000, 100)
	ended := make(chan error)
	go func() {
		_, err := open(t, p, Options{Owner: "one"}).Choose(t.Context(), unused, objects)
		ended <- err
	}()
	awaitWaiting(t, p.room, 1)
	other.release()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if size, _ := p.outgrown.Get("one"); size != int64(2*smallMemory) {
		t.Errorf("what is remembered is %v", size)
	}
}

// TestObjectsCanNeedMuch lets a script take more over few objects than a small child has: that is remembered.
func TestObjectsCanNeedMuch(t *testing.T) {
	p := newPool(t, Config{})
	const source = `function evaluate() local t = {} for i = 1, 1500000 do t[i] = {} end
		return {resources={{resource=resources[2], message=#t .. resources[1].metadata.name}}} end`
	objects := objectsOf(t, "a", "b")
	s := open(t, p, Options{Owner: "one"})
	if got, err := s.chooseOnce(t.Context(), source, objects); !isLost(err) {
		t.Fatalf("in a small child: %v, %v", selectedNames(got), err)
	}
	for what, s := range map[string]*Session{"the same session": s, "the same owner": open(t, p, Options{Owner: "one"})} {
		got, err := s.chooseOnce(t.Context(), source, objects)
		if diff := cmp.Diff([]string{"1 ConfigMap default/b1 1500000a0"}, selectedNames(got)); diff != "" || err != nil {
			t.Error(what, diff, err)
		}
	}
	for what, s := range map[string]*Session{"another owner": open(t, p, Options{Owner: "two"}), "nobody's": open(t, p, Options{})} {
		if got, err := s.chooseOnce(t.Context(), source, objects); !isLost(err) {
			t.Errorf("%s: %v, %v", what, selectedNames(got), err)
		}
	}
}

// TestReadyWaitsBeforeObjectsCome lets an aggregate wait for memory, if it is known to need much.
func TestReadyWaitsBeforeObjectsCome(t *testing.T) {
	p := newPool(t, Config{})
	p.outgrown.Add("large", int64(defaultMemory))
	defer hold(t, p.room, &p.room.notSlow, p.room.notSlow.size).release()
	taken := hold(t, p.room, &p.room.general, p.room.general.size)
	if err := open(t, p, Options{Owner: "small"}).Aggregate(unused).Ready(t.Context()); err != nil {
		t.Error(err)
	}
	ready := make(chan error)
	go func() { ready <- open(t, p, Options{Owner: "large"}).Aggregate(unused).Ready(t.Context()) }()
	awaitWaiting(t, p.room, 1)
	taken.release()
	if err := <-ready; err != nil {
		t.Error(err)
	}
}

// TestLostObjectsAreForgotten lets a list begin anew after its objects were lost: all of them, or some.
func TestLostObjectsAreForgotten(t *testing.T) {
	objects := someObjects(t, 30, 50_000) // five in a batch
	for keep, lost := range map[int]bool{0: false, 12: true} {
		s := open(t, newPool(t, Config{}), short)
		a := s.Aggregate(unused)
		addAll(t, a, objects[:18]...)
		if _, err := s.Evaluate(t.Context(), behave, configMap(t, "a", "native")); budgetKind(err) != BudgetTime {
			t.Fatalf("got %v", err)
		}
		addAll(t, a, objects[18:25]...)
		a.Truncate(keep)
		addAll(t, a, objects[keep:]...)
		if got, err := a.Finish(t.Context()); isLost(err) != lost || !lost && (err != nil || len(got) != len(objects)) {
			t.Errorf("of %d objects: got %d, %v", keep, len(got), err)
		}
	}
}

// TestEvaluateOutgrowsTheChildOfAnAggregate lets another script of the session need more than a small child has: the next aggregate
// begins with a large one.
func TestEvaluateOutgrowsTheChildOfAnAggregate(t *testing.T) {
	s := open(t, newPool(t, Config{}), Options{})
	const needsMuch = `function evaluate() local t = {} for i = 1, 1500000 do t[i] = {} end return {matching = #t > 0} end`
	objects := someObjects(t, 10, 50_000) // five in a batch
	for i, lost := range []bool{true, false} {
		a := s.Aggregate(unused)
		if err := a.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		addAll(t, a, objects...)
		if err := a.land(t.Context()); err != nil { // or the other script may come first
			t.Fatal(err)
		}
		if match, err := s.Evaluate(t.Context(), needsMuch, objects[0]); err != nil || !match.Matching {
			t.Fatal(match, err)
		}
		if got, err := a.Finish(t.Context()); isLost(err) != lost || !lost && err != nil {
			t.Errorf("%d: got %v, %v", i, selectedNames(got), err)
		}
	}
}

// hold takes memory of one share, so that others have it not.
func hold(t *testing.T, r *room, from *share, size int64) reservation {
	t.Helper()
	held, ok := r.take(wish{size, []*share{from}})
	if !ok {
		t.Fatal("there is no memory")
	}
	return held
}

// TestLargeOnesBesideSlowOnes lets aggregates have all that one child may have, while others that are known to be slow hang in all that they
// can get and wait for more.
func TestLargeOnesBesideSlowOnes(t *testing.T) {
	p := newPool(t, Config{})
	p.outgrown.Add("large", int64(defaultMemory))
	hangs := hold(t, p.room, &p.room.general, defaultMemory)
	ctx, cancel := context.WithCancel(t.Context())
	var slow sync.WaitGroup
	for range 3 {
		slow.Go(func() {
			_ = open(t, p, Options{Owner: "large", Pace: Pace{Slow: true}}).Aggregate(unused).Ready(ctx) // until it is cancelled
		})
	}
	awaitWaiting(t, p.room, 3)
	objects := someObjects(t, 30_000, 100)
	limit, stop := context.WithTimeout(t.Context(), 2*time.Minute) // much more than they need
	defer stop()
	var all sync.WaitGroup
	for i, pace := range []Pace{{}, {}, {Quick: true}, {Quick: true}} {
		all.Go(func() {
			owner := fmt.Sprint("owner ", i)
			got, err := open(t, p, Options{Owner: owner, Pace: pace}).Choose(limit, unused, objects)
			if err != nil || len(got) != len(objects) {
				t.Errorf("%+v: %d, %v", pace, len(got), err)
			}
		})
	}
	all.Wait()
	cancel()
	slow.Wait()
	if hangs.release(); !p.room.isFree() {
		t.Errorf("not all memory is free again: %+v", p.room)
	}
}

// TestGrowsIntoOneShare lets a child that hangs grow when there is enough for it, but in no share all of it: it waits for that, and leaves room
// for another one as large.
func TestGrowsIntoOneShare(t *testing.T) {
	objects := someObjects(t, 30_000, 100)
	for _, pace := range []Pace{{}, {Quick: true}} {
		p := newPool(t, Config{})
		r := p.room
		others := []reservation{hold(t, r, &r.general, r.general.size-2*smallMemory), hold(t, r, &r.notSlow, 2*smallMemory)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var hanging sync.WaitGroup
		hanging.Go(func() {
			_, _ = open(t, p, Options{Pace: pace}).Choose(ctx, `function evaluate() while true do end end`, objects)
		})
		awaitWaiting(t, r, 1)
		for _, one := range others {
			one.release()
		}
		p.outgrown.Add("large", int64(defaultMemory))
		if err := open(t, p, Options{Owner: "large", Pace: pace}).Aggregate(unused).Ready(ctx); err != nil {
			t.Errorf("%+v: another one has no room: %v", pace, err)
		}
		cancel()
		hanging.Wait()
	}
}

// TestVeryLargeOneAfterAScriptThatNeedsMuch lets a script of the same session have all that one child may have, before the objects need more: the
// next aggregate waits for that, too.
func TestVeryLargeOneAfterAScriptThatNeedsMuch(t *testing.T) {
	p := newPool(t, Config{})
	others := hold(t, p.room, &p.room.general, 3*smallMemory)
	s := open(t, p, Options{Memory: 2 * smallMemory})
	const needsMuch = `function evaluate() local t = {} for i = 1, 700000 do t[i] = {} end return {matching = #t > 0} end`
	if match, err := s.Evaluate(t.Context(), needsMuch, configMap(t, "a", "")); err != nil || !match.Matching {
		t.Fatal(match, err)
	}
	defer hold(t, p.room, &p.room.notSlow, p.room.notSlow.free).release()
	objects := someObjects(t, 30_000, 100)
	if _, err := s.chooseOnce(t.Context(), unused, objects); !isLost(err) {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := s.chooseOnce(t.Context(), unused, objects)
		ended <- err
	}()
	awaitWaiting(t, p.room, 1)
	others.release()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestVeryLargeOnesShareWhatIsForAll gives scripts more objects than a child has room for usually: each moves to where those are that
// are slow, and one waits for the other there.
func TestVeryLargeOnesShareWhatIsForAll(t *testing.T) {
	p := newPool(t, Config{})
	objects := someObjects(t, 14_000, 100)
	for _, pace := range []Pace{{}, {Quick: true}, {Slow: true}} {
		taken := hold(t, p.room, &p.room.general, p.room.general.size-smallMemory)
		s := open(t, p, Options{Pace: pace, Memory: smallMemory, Owner: fmt.Sprint(pace)})
		if _, err := s.chooseOnce(t.Context(), unused, objects); !isLost(err) {
			t.Errorf("%+v, without room: %v", pace, err)
		}
		taken.release()
		a := s.Aggregate(unused)
		addAll(t, a, objects...)
		if err := a.land(t.Context()); err != nil || p.room.notSlow.free != p.room.notSlow.size {
			t.Errorf("%+v: %v, %+v", pace, err, p.room.notSlow)
		}
		s.Close()
	}
}
