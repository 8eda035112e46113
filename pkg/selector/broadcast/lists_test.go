// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package broadcast

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
)

// The rules of sharing, with arrivals at random: each run sees each object once, in a list that began after the run had asked for
// it, and there are at most five lists in any second, but for those that begin anew.
func TestListsAreSharedAndNeverOlderThanTheirRuns(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			of := &server{objects: 10, each: time.Duration(rng.IntN(20)) * time.Millisecond, cut: rng.IntN(3)}
			lists := New(clock.RealClock{})
			var group sync.WaitGroup
			for range 50 {
				delay := time.Duration(rng.IntN(1500)) * time.Millisecond
				group.Go(func() {
					<-time.After(delay)
					defer lists.Enter()()
					<-time.After(300 * time.Millisecond) // of the run, before it comes to its list
					asked := time.Now()
					seen, err := read(t.Context(), lists.Run(), "key", of)
					if err != nil || !seen.isWhole(10) {
						t.Errorf("seed %d: %v: %v", seed, seen.names, err)
					}
					if began := of.beginning(seen.request); began.Before(asked) {
						t.Errorf("seed %d: a list of %s was given to a run that asked at %s", seed, began, asked)
					}
				})
			}
			group.Wait()
			of.wantRate(t, 5+of.cut)
		})
	}
}

// A run that is alone waits for nothing, also when it lists the same objects again, or when another has just done so.
func TestRunThatIsAloneDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of, lists, begin := &server{objects: 3}, New(clock.RealClock{}), time.Now()
		for range 5 {
			leave := lists.Enter()
			run := lists.Run()
			for range 2 {
				if seen, err := read(t.Context(), run, "key", of); err != nil || !seen.isWhole(3) {
					t.Fatalf("%v: %v", seen.names, err)
				}
			}
			leave()
		}
		if waited := time.Since(begin); waited > 0 {
			t.Errorf("it took %s", waited)
		}
	})
}

// A run among others waits with its first list for those that were due with it, and when nobody wants that, with no other one: neither the second list of
// the same objects for another selector, nor other objects.
func TestOtherObjectsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of, lists, begin := &server{objects: 3}, New(clock.RealClock{}), time.Now()
		defer lists.Enter()()
		for i := range 10 {
			leave := lists.Enter()
			run := lists.Run()
			key := fmt.Sprintf("n=%d", i)
			for range 2 {
				if _, err := read(t.Context(), run, key, of); err != nil {
					t.Fatal(err)
				}
			}
			key += " metadata"
			if _, err := read(t.Context(), run, key, of); err != nil {
				t.Fatal(err)
			}
			leave()
		}
		if waited := time.Since(begin); waited != 10*dueTogether || of.count() != 30 {
			t.Errorf("it took %s and %d requests", waited, of.count())
		}
	})
}

// Runs that look into many namespaces stay together: each namespace is listed for all of them.
func TestRunsGoFromListToListTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of, lists, begin := &server{objects: 3, each: time.Millisecond}, New(clock.RealClock{}), time.Now()
		const runs, namespaces = 20, 50
		var group sync.WaitGroup
		for range runs {
			leave := lists.Enter()
			group.Go(func() {
				defer leave()
				run := lists.Run()
				for i := range namespaces {
					if seen, err := read(t.Context(), run, fmt.Sprintf("n%d", i), of); err != nil || !seen.isWhole(3) {
						t.Errorf("%v: %v", seen.names, err)
					}
				}
			})
		}
		group.Wait()
		if n := of.count(); n > 3*namespaces {
			t.Errorf("%d requests for %d namespaces", n, namespaces)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// Runs that are due together, but do not come to their lists at quite the same time, read one list, few as they may be.
func TestRunsThatAreDueTogetherReadOneList(t *testing.T) {
	for _, runs := range []int{2, 3, 10} {
		synctest.Test(t, func(t *testing.T) {
			of, lists := &server{objects: 5, each: 20 * time.Millisecond}, New(clock.RealClock{})
			var group sync.WaitGroup
			for range runs {
				defer lists.Enter()()
			}
			for i := range runs {
				group.Go(func() {
					<-time.After(time.Duration(i) * 4 * time.Millisecond)
					if seen, err := read(t.Context(), lists.Run(), "key", of); err != nil || !seen.isWhole(5) {
						t.Errorf("%v: %v", seen.names, err)
					}
				})
			}
			group.Wait()
			if n := of.count(); n != 1 {
				t.Errorf("%d runs made %d requests", runs, n)
			}
		})
	}
}
