// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// askedFor keeps which lists a server was asked for.
type askedFor struct {
	mu    sync.Mutex
	lists []string
	// changed is closed with the next one.
	changed chan struct{}
}

func (a *askedFor) add(uri string) {
	path, _, _ := strings.Cut(uri, "?")
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lists = append(a.lists, path)
	if a.changed != nil {
		close(a.changed)
	}
	a.changed = make(chan struct{})
}

func (a *askedFor) count(path string) (n int, changed chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, list := range a.lists {
		if list == path {
			n++
		}
	}
	return n, a.changed
}

// await waits until a list was asked for so often. The test's own time limit ends a wait in vain.
func (a *askedFor) await(path string, times int) {
	for {
		n, changed := a.count(path)
		if n >= times {
			return
		}
		<-changed
	}
}

// surveyed is what a survey of the answers finds, and in which order its lists and their objects came.
func surveyed(
	t *testing.T, answers map[string]string, asked func(string), atList func(kind string), memory *selector.Share,
) (order []string, found string, err error) {
	t.Helper()
	reader := server(t, answers, asked)
	finder, err := New(t.Context(), reader, Options{Wanted: configMaps(), Now: now, Catalog: catalog()})
	if err != nil {
		t.Fatal(err)
	}
	err = Read(t.Context(), reader, finder, "", memory, Observer{
		List: func(kind object.Kind, _, _ int) {
			if order = append(order, kind.Kind); atList != nil {
				atList(kind.Kind)
			}
		},
		Object: func() { order = append(order, "object") },
	})
	return order, reported(finder), err
}

// All lists are asked for while the first is read. The finder sees their objects in the order of the lists all the same.
func TestListsAreAskedForAhead(t *testing.T) {
	learns(t)
	asked := &askedFor{}
	order, found, err := surveyed(t, answers(), asked.add, func(kind string) {
		if kind != "Pod" {
			return
		}
		for _, path := range []string{"/api/v1/pods", "/apis/example.com/v1/apps", "/api/v1/configmaps"} {
			asked.await(path, 1)
		}
	}, nil)
	want := []string{"Pod", "App", "object", "ConfigMap", "ConfigMap", "object", "object"}
	if !slices.Equal(order, want) || found != "unused" || err != nil {
		t.Errorf("%v, want %v; found %s, error %v", order, want, found, err)
	}
}

// Where memory is charged, no answer waits for its turn.
func TestNothingIsAskedForAhead(t *testing.T) {
	learns(t)
	asked := &askedFor{}
	_, found, err := surveyed(t, answers(), asked.add, func(kind string) {
		if n, _ := asked.count("/apis/example.com/v1/apps"); n > 0 && kind == "Pod" {
			t.Error("the list of Apps was asked for before its turn")
		}
	}, selector.NewBudget(1<<20).Share())
	if found != "unused" || err != nil {
		t.Errorf("found %s, error %v", found, err)
	}
}

// An answer that waited for its turn for too long is given up, and the list is read anew when it is its turn.
func TestListsAreAskedForAgain(t *testing.T) {
	learns(t)
	before := longestAhead
	longestAhead = 0
	t.Cleanup(func() { longestAhead = before })
	if before > time.Minute/2 {
		t.Errorf("an answer waits for %s, and the API server gives it up after a minute", before)
	}
	p := &pending{turn: make(chan struct{})}
	if err := p.holdUntilTurn(t.Context()); !errors.Is(err, errTooEarly) {
		t.Errorf("before its turn: %v", err)
	}
	close(p.turn)
	if err := p.holdUntilTurn(t.Context()); err != nil {
		t.Errorf("at its turn: %v", err)
	}
	asked := &askedFor{}
	order, found, err := surveyed(t, answers(), asked.add, func(kind string) {
		if kind == "Pod" {
			asked.await("/api/v1/configmaps", 1)
		}
	}, nil)
	if want := []string{"Pod", "App", "object", "ConfigMap", "ConfigMap", "object", "object"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
	if found != "unused" || err != nil {
		t.Errorf("found %s, error %v", found, err)
	}
}

// A list that fails ends the survey. The lists that were asked for end with it: nobody waits for their answers.
func TestListsAheadEnd(t *testing.T) {
	learns(t)
	release, asked := make(chan struct{}), &askedFor{}
	_, _, err := surveyed(t, answers("/api/v1/pods", "500"), func(uri string) {
		if asked.add(uri); strings.HasPrefix(uri, "/api/v1/configmaps") {
			<-release
		}
	}, func(string) { asked.await("/api/v1/configmaps", 1) }, nil)
	close(release)
	if err == nil || !strings.Contains(err.Error(), "listing Pod") {
		t.Errorf("got %v", err)
	}
}
