// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// The bench measures what it takes to select objects of a cluster, against the least that any client needs who reads
// them all. It starts a control plane of its own, fills it, measures, prints a table and ends. See
// docs/explanation/performance.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

const (
	// variantTimeout is how long one measurement may take.
	variantTimeout = 3 * time.Minute

	defaultObjects = 20_000
	defaultRounds  = 5
)

func main() {
	sandbox.Main() // a child that runs scripts goes no further
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends it at once
	var err error
	if len(os.Args) > 1 {
		err = measureNamed(ctx, os.Args[1:])
	} else {
		err = benchFromEnvironment(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measureNamed measures one variant, in this process: the bench starts itself so.
func measureNamed(ctx context.Context, args []string) error {
	var l load
	flags := flag.NewFlagSet("bench", flag.ContinueOnError) // of its own: libraries put theirs into the common one
	name := flags.String("variant", "", "the variant to measure")
	kubeconfig := flags.String("kubeconfig", "", "the cluster")
	cpuProfile := flags.String("cpuprofile", "", "a file for the CPU profile of this process; none if empty")
	flags.IntVar(&l.Pods, "pods", defaultObjects, "how many Pods there are")
	flags.IntVar(&l.ConfigMaps, "configmaps", defaultObjects, "how many ConfigMaps there are")
	if err := flags.Parse(args); err != nil {
		return err
	}
	all := slices.Concat(variants(), reals())
	i := slices.IndexFunc(all, func(v variant) bool { return v.name == *name })
	if i < 0 {
		return fmt.Errorf("there is no variant %q", *name)
	}
	return measure(ctx, all[i], l, *kubeconfig, *cpuProfile, os.Stdout)
}

func benchFromEnvironment(ctx context.Context) error {
	s, err := fromEnvironment(os.Getenv)
	if err != nil {
		return err
	}
	switch {
	case s.only != nil && s.only.String() == manyName:
		return many(ctx, s.cleaners, s.cleaners/manyShare, os.Stdout)
	case s.only != nil && s.only.String() == pageName:
		return measurePage(ctx, s.cleaners, os.Stdout)
	case s.only != nil && s.only.String() == realName:
		return measureReal(ctx, s, os.Stdout)
	}
	return bench(ctx, s, os.Stdout)
}

// fromEnvironment reads the settings.
func fromEnvironment(getenv func(string) string) (settings, error) {
	var errs []error
	number := func(name string, fallback int) int {
		text := getenv(name)
		if text == "" {
			return fallback
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			errs = append(errs, fmt.Errorf("%s is %q; it must be a whole number above zero", name, text))
		}
		return n
	}
	program := func(name string) string {
		path := getenv(name)
		if path == "" {
			return ""
		}
		if _, err := exec.LookPath(path); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
		return path
	}
	var s settings
	s.load.Pods = number("BENCH_PODS", defaultObjects)
	s.load.ConfigMaps = number("BENCH_CONFIGMAPS", s.load.Pods)
	s.cleaners = number("BENCH_CLEANERS", manyCleaners)
	s.rounds = number("BENCH_ROUNDS", defaultRounds)
	s.profiles = getenv("BENCH_PROFILES")
	s.picture = getenv("BENCH_SVG")
	s.kor, s.k8sCleaner = program(peerKor), program(peerK8sCleaner)
	if text := getenv("BENCH_ONLY"); text != "" {
		var err error
		if s.only, err = regexp.Compile(text); err != nil {
			errs = append(errs, fmt.Errorf("BENCH_ONLY: %w", err))
		}
	}
	return s, errors.Join(errs...)
}
