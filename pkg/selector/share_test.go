// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// The rules of sharing, with arrivals at random: each run sees each object once, in a list that began after the run had asked for
// it, and there are at most three lists in any second, but for those that begin anew.
func TestListsAreSharedAndNeverOlderThanTheirRuns(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			server := &fakeServer{objects: 10, each: time.Duration(rng.IntN(20)) * time.Millisecond, cut: rng.IntN(3)}
			lists := &Lists{}
			var group sync.WaitGroup
			for range 50 {
				delay := time.Duration(rng.IntN(1500)) * time.Millisecond
				group.Go(func() {
					<-time.After(delay)
					defer lists.Enter()()
					<-time.After(300 * time.Millisecond) // of the run, before it comes to its list
					asked := time.Now()
					seen, err := read(t.Context(), server.reader(t, "").Sharing(lists, ""), everything)
					if err != nil || !seen.isWhole(10) {
						t.Errorf("seed %d: %v: %v", seed, seen.names, err)
					}
					if began := server.beginning(seen.request); began.Before(asked) {
						t.Errorf("seed %d: a list of %s was given to a run that asked at %s", seed, began, asked)
					}
				})
			}
			group.Wait()
			server.wantRate(t, 3+server.cut)
		})
	}
}

// A run that is alone waits for nothing, also when it lists the same objects again, or when another has just done so.
func TestRunThatIsAloneDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, lists, begin := &fakeServer{objects: 3}, &Lists{}, time.Now()
		for range 5 {
			leave := lists.Enter()
			reader := server.reader(t, "").Sharing(lists, "")
			for range 2 {
				if seen, err := read(t.Context(), reader, everything); err != nil || !seen.isWhole(3) {
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
		server, lists, begin := &fakeServer{objects: 3}, &Lists{}, time.Now()
		defer lists.Enter()()
		for i := range 10 {
			leave := lists.Enter()
			reader := server.reader(t, "").Sharing(lists, "")
			q := everything
			q.labels = fmt.Sprintf("n=%d", i)
			for range 2 {
				if _, err := read(t.Context(), reader, q); err != nil {
					t.Fatal(err)
				}
			}
			q.metadataOnly = true
			if _, err := read(t.Context(), reader, q); err != nil {
				t.Fatal(err)
			}
			leave()
		}
		if waited := time.Since(begin); waited != 10*dueTogether || server.count() != 30 {
			t.Errorf("it took %s and %d requests", waited, server.count())
		}
	})
}

// Runs that look into many namespaces stay together: each namespace is listed for all of them.
func TestRunsGoFromListToListTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, lists, begin := &fakeServer{objects: 3, each: time.Millisecond}, &Lists{}, time.Now()
		const runs, namespaces = 20, 50
		var group sync.WaitGroup
		for range runs {
			leave := lists.Enter()
			group.Go(func() {
				defer leave()
				reader := server.reader(t, "").Sharing(lists, "")
				for i := range namespaces {
					q := everything
					q.path = fmt.Sprintf("/api/v1/namespaces/n%d/configmaps", i)
					if seen, err := read(t.Context(), reader, q); err != nil || !seen.isWhole(3) {
						t.Errorf("%v: %v", seen.names, err)
					}
				}
			})
		}
		group.Wait()
		if n := server.count(); n > 3*namespaces {
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
			server, lists := &fakeServer{objects: 5, each: 20 * time.Millisecond}, &Lists{}
			var group sync.WaitGroup
			for range runs {
				defer lists.Enter()()
			}
			for i := range runs {
				group.Go(func() {
					<-time.After(time.Duration(i) * 4 * time.Millisecond)
					if seen, err := read(t.Context(), server.reader(t, "").Sharing(lists, ""), everything); err != nil || !seen.isWhole(5) {
						t.Errorf("%v: %v", seen.names, err)
					}
				})
			}
			group.Wait()
			if n := server.count(); n != 1 {
				t.Errorf("%d runs made %d requests", runs, n)
			}
		})
	}
}

// Who reads as another account never gets a list of somebody else's, however many wait.
func TestAccountsAreNeverMixed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, lists := &fakeServer{objects: 5, each: 100 * time.Millisecond}, &Lists{}
		accounts := []string{"", "system:serviceaccount:a:cleaner", "system:serviceaccount:b:cleaner"}
		var group sync.WaitGroup
		leaves := make([]func(), 60)
		for i := range leaves { // before any reads: one that is alone does not wait for others
			leaves[i] = lists.Enter()
		}
		for i, leave := range leaves {
			account := accounts[i%len(accounts)]
			group.Go(func() {
				defer leave()
				seen, err := read(t.Context(), server.reader(t, account).Sharing(lists, account), everything)
				if err != nil || !seen.isWhole(5) || seen.account != account {
					t.Errorf("%q saw what %q sees: %v, %v", account, seen.account, seen.names, err)
				}
			})
		}
		group.Wait()
		if n := server.count(); n != len(accounts) {
			t.Errorf("%d requests, want one for each account", n)
		}
	})
}
