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

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector/broadcast"
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
func atOnce(t *testing.T, lists *broadcast.Lists, n int, read func(i int) (*seen, error)) []result {
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
