// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
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
}

// effort is what the API server has done so far.
type effort struct {
	CPU time.Duration
	// EtcdReads is how many pages of a list it had to read from etcd, because its cache could not serve them.
	EtcdReads int
}

func (e effort) since(before effort) effort {
	return effort{e.CPU - before.CPU, e.EtcdReads - before.EtcdReads}
}

// newServer finds the API server that testenv started.
func newServer(dir string, client rest.Interface) (server, error) {
	text, err := os.ReadFile(filepath.Join(dir, "kube-apiserver.pid"))
	if err != nil {
		return server{}, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	return server{client, pid}, err
}

// during returns what the API server did while work was under way. Asking it for its metrics is not counted.
func (s server) during(ctx context.Context, work func() error) (effort, error) {
	var before, after effort
	err := s.collectGarbage(ctx)
	if err != nil {
		return effort{}, err
	}
	if before.EtcdReads, err = s.etcdReads(ctx); err != nil {
		return effort{}, err
	}
	if before.CPU, err = cpuOf(s.pid); err != nil {
		return effort{}, err
	}
	if err := work(); err != nil {
		return effort{}, err
	}
	if after.CPU, err = cpuOf(s.pid); err != nil {
		return effort{}, err
	}
	after.EtcdReads, err = s.etcdReads(ctx)
	return after.since(before), err
}

// collectGarbage makes the API server collect its garbage now. One collection takes it as long as to list all Pods, and comes after every
// third list or so: in a round that is always the same it would hit the same variants each time.
func (s server) collectGarbage(ctx context.Context) error {
	if _, err := s.client.Get().AbsPath("/debug/pprof/heap").Param("gc", "1").Do(ctx).Raw(); err != nil {
		return fmt.Errorf("making the API server collect its garbage: %w", err)
	}
	return nil
}

func (s server) etcdReads(ctx context.Context) (int, error) {
	metrics, err := s.client.Get().AbsPath("/metrics").Do(ctx).Raw()
	if err != nil {
		return 0, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	return countEtcdReads(string(metrics))
}

func countEtcdReads(metrics string) (total int, err error) {
	for line := range strings.Lines(metrics) {
		if !strings.HasPrefix(line, "etcd_requests_total{") || !strings.Contains(line, `operation="list`) {
			continue
		}
		fields := strings.Fields(line)
		n, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err != nil {
			return 0, fmt.Errorf("reading the API server's metrics: %w", err)
		}
		total += int(n)
	}
	return total, nil
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
