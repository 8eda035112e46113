// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// server is the API server, as one sees it from outside.
type server struct {
	client rest.Interface
	pid    int
	// own is how many bytes the API server allocates to report its metrics, and profile the CPU time in which it reports
	// on its heap.
	own     float64
	profile time.Duration
}

// effort is what the API server has done so far.
type effort struct {
	// CPU has in it what its garbage collector will take for what was allocated.
	CPU time.Duration
	// Allocated is in bytes.
	Allocated int64
	// EtcdReads is how many pages of a list it had to read from etcd, because its cache could not serve them.
	EtcdReads int
}

// newServer finds the API server that testenv started.
func newServer(ctx context.Context, dir string, client rest.Interface) (server, error) {
	text, err := os.ReadFile(filepath.Join(dir, "kube-apiserver.pid"))
	if err != nil {
		return server{}, err
	}
	s := server{client: client}
	if s.pid, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
		return server{}, err
	}
	var counts [2]counters
	for i := range counts {
		if counts[i], err = s.counters(ctx); err != nil {
			return server{}, err
		}
	}
	s.own = counts[1].allocated - counts[0].allocated
	s.profile, err = s.profileHeap(ctx, "0")
	return s, err
}

// during returns what the API server did while work was under way. Asking it for its metrics is not counted.
//
// Its garbage is collected before, and not meanwhile (see startWithoutCollector). One collection takes as long as to
// list all Pods: in a round that is always the same it would hit the same variants each time, and those not at all that
// allocate a little less. Each variant is charged with its part of a collection instead. By default, there is one when
// as much was allocated as is in use.
func (s server) during(ctx context.Context, work func() error) (effort, error) {
	collection, err := s.collectGarbage(ctx)
	if err != nil {
		return effort{}, err
	}
	before, err := s.counters(ctx)
	if err != nil {
		return effort{}, err
	}
	cpu, err := cpuOf(s.pid)
	if err != nil {
		return effort{}, err
	}
	if err := work(); err != nil {
		return effort{}, err
	}
	cpuAfter, err := cpuOf(s.pid)
	if err != nil {
		return effort{}, err
	}
	after, err := s.counters(ctx)
	if err != nil {
		return effort{}, err
	}
	allocated := max(0, after.allocated-before.allocated-s.own)
	did := effort{CPU: cpuAfter - cpu, Allocated: int64(allocated), EtcdReads: int(after.etcdReads - before.etcdReads)}
	// What was collected all the same is in the CPU time already.
	did.CPU += time.Duration(float64(collection) * (allocated/before.heap - (after.collections - before.collections)))
	return did, nil
}

// collectGarbage makes the API server collect its garbage now, and returns the CPU time that it took.
func (s server) collectGarbage(ctx context.Context) (time.Duration, error) {
	took, err := s.profileHeap(ctx, "1")
	return max(0, took-s.profile), err
}

// profileHeap makes the API server describe its heap, which is how it can be made to collect its garbage first.
func (s server) profileHeap(ctx context.Context, collect string) (time.Duration, error) {
	before, err := cpuOf(s.pid)
	if err != nil {
		return 0, err
	}
	if _, err := s.client.Get().AbsPath("/debug/pprof/heap").Param("gc", collect).Do(ctx).Raw(); err != nil {
		return 0, fmt.Errorf("asking the API server for the profile of its heap: %w", err)
	}
	after, err := cpuOf(s.pid)
	return after - before, err
}

// counters are some of the API server's metrics. Sizes are in bytes.
type counters struct{ etcdReads, allocated, heap, collections float64 }

func (s server) counters(ctx context.Context) (counters, error) {
	metrics, err := s.client.Get().AbsPath("/metrics").Do(ctx).Raw()
	if err != nil {
		return counters{}, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	return readCounters(string(metrics))
}

func readCounters(metrics string) (c counters, err error) {
	for line := range strings.Lines(metrics) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		var counter *float64
		switch {
		case strings.HasPrefix(name, "etcd_requests_total{") && strings.Contains(name, `operation="list`):
			counter = &c.etcdReads
		case name == "go_memstats_alloc_bytes_total":
			counter = &c.allocated
		case name == "go_memstats_heap_alloc_bytes":
			counter = &c.heap
		case name == "go_gc_duration_seconds_count":
			counter = &c.collections
		default:
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return counters{}, fmt.Errorf("reading the API server's metrics: %w", err)
		}
		*counter += n
	}
	if c.heap == 0 || c.allocated == 0 {
		return counters{}, errors.New("the API server does not report on its garbage collector in its metrics")
	}
	return c, nil
}

func (s server) version(ctx context.Context) (string, error) {
	body, err := s.client.Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return "", fmt.Errorf("asking for the server's version: %w", err)
	}
	_, after, _ := strings.Cut(string(body), `"gitVersion": "`)
	version, _, _ := strings.Cut(after, `"`)
	return cmp.Or(version, "of unknown version"), nil
}
