// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// seen is what a run saw.
type seen struct {
	names    []string
	account  string
	request  int
	restarts int
}

func (s *seen) restart() error {
	*s = seen{restarts: s.restarts + 1}
	return nil
}

func (s *seen) add(raw []byte) error {
	o, err := object.New(everything.kind, raw)
	if err != nil {
		return err
	}
	parts := strings.Split(o.Name, "|")
	if s.request, err = strconv.Atoi(parts[0]); err != nil {
		return err
	}
	if len(s.names) > 0 && s.account != parts[1] {
		return errors.New("objects of two accounts")
	}
	s.account, s.names = parts[1], append(s.names, parts[2])
	return nil
}

func (s *seen) isWhole(objects int) bool {
	want := make([]string, objects)
	for i := range want {
		want[i] = strconv.Itoa(i)
	}
	return slices.Equal(s.names, want)
}

func (s *seen) isLast(_ []byte, objects int) bool { return len(s.names) == objects-1 }

func read(ctx context.Context, r *Reader, q query) (*seen, error) {
	s := &seen{}
	return s, r.list(ctx, q, s.restart, s.add)
}

// result is how one run's reading went.
type result struct {
	seen *seen
	err  error
}

// atOnce lets so many runs read at the same time.
func atOnce(t *testing.T, lists *Lists, n int, read func(i int) (*seen, error)) []result {
	t.Helper()
	results := make([]result, n)
	var group sync.WaitGroup
	for i := range n {
		leave := lists.Enter()
		group.Go(func() {
			defer leave()
			results[i].seen, results[i].err = read(i)
		})
		synctest.Wait() // so that they come in this order
	}
	group.Wait()
	return results
}

// afterAnother lets so many runs read one list, which begins after another run has begun the same.
func afterAnother(t *testing.T, server *fakeServer, lists *Lists, n int) []result {
	t.Helper()
	return afterAnotherWith(t, server, lists, n, func(_ int, s *seen, raw []byte) error { return s.add(raw) })
}

func afterAnotherWith(t *testing.T, server *fakeServer, lists *Lists, n int, each func(i int, s *seen, raw []byte) error) []result {
	t.Helper()
	another := server.reader(t, "").Sharing(lists, "")
	another.waits.Store(0) // as if it had waited already
	lists.join(another, everything, nil)
	server.mu.Lock()
	server.begun = append(server.begun, time.Now())
	server.mu.Unlock()
	return atOnce(t, lists, n, func(i int) (*seen, error) {
		s := &seen{}
		return s, server.reader(t, "").Sharing(lists, "").list(t.Context(), everything, s.restart, func(raw []byte) error { return each(i, s, raw) })
	})
}
