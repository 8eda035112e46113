// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

// site is where a variant works, in a process of its own.
type site struct {
	load   load
	config *rest.Config
	client rest.Interface
	pool   *sandbox.Pool
	// start is when the work began that counts, and cpu the CPU time until then.
	start time.Time
	cpu   time.Duration
	fault error
}

// begin begins to count, anew if the work so far was but to get ready.
func (s *site) begin() {
	s.cpu, s.fault = ownCPU()
	s.start = time.Now()
}

func (s *site) connect() (err error) {
	s.client, err = rawClient(s.config)
	return err
}

// measured is what a variant's process finds out about itself.
type measured struct {
	Wall time.Duration
	// CPU is the process's and its children's, from the first request on.
	CPU time.Duration
}

// measure does the work of one variant, in this process, and writes what it took as JSON.
func measure(ctx context.Context, v variant, l load, kubeconfig, cpuProfile string, out io.Writer) error {
	debug.SetGCPercent(50) // as the manager and the plugin
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	s := &site{
		load:   l,
		config: config,
		pool:   sandbox.New(sandbox.Config{Command: sandbox.Runner(), Clock: clock.RealClock{}}),
	}
	defer s.pool.Close()
	if err := s.connect(); err != nil {
		return err
	}
	stop, err := profile(cpuProfile)
	if err != nil {
		return err
	}
	s.begin()
	if err := errors.Join(v.work(ctx, s), s.fault); err != nil {
		return err
	}
	took := measured{Wall: time.Since(s.start)}
	s.pool.Close() // a child's CPU time is known when it has ended
	end, err := ownCPU()
	if err != nil {
		return err
	}
	took.CPU = end - s.cpu
	if err := stop(); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(took)
}

// rawClient speaks plain JSON to absolute paths, as the manager's does.
func rawClient(config *rest.Config) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion()
	config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	return rest.UnversionedRESTClientFor(config)
}

// profile records in a file where this process spends its CPU time. No name is no profile.
func profile(name string) (stop func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, fmt.Errorf("profiling: %w", err)
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}
