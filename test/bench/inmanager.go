// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/testenv"
)

const (
	// managerName is what BENCH_ONLY says for this measurement.
	managerName = "memory of the manager"
	// started is when the manager has started, and has not given memory back yet.
	started = 10 * time.Second
	// scanPatience is how long a Scan may take, and scanPoll how often it is looked at.
	scanPatience, scanPoll = 2 * time.Minute, 500 * time.Millisecond
)

// measureManager measures the memory of the manager and its children while it scans all Pods: the manager as people
// have it, some time after its start. The variants run in the bench's own process, which has a part of the manager and
// much else.
func measureManager(ctx context.Context, env *testenv.Env, l load, out io.Writer) error {
	fmt.Fprintf(out, "\nBuilding and starting the manager ...\n")
	binary, err := buildManager(ctx, env.Dir)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		return err
	}
	c, err := client.New(env.Config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	// The runs that were measured before may have left ConfigMaps, which nothing uses either.
	if err := c.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(victimNamespace)); err != nil {
		return err
	}
	m, err := startManager(ctx, binary, env)
	if err != nil {
		return err
	}
	return errors.Join(inManager(ctx, m, c, l, out), m.stop())
}

func inManager(ctx context.Context, m *managed, c client.Client, l load, out io.Writer) error {
	pid := m.cmd.Process.Pid
	rows, err := idleRows(ctx, pid)
	if err != nil {
		return err
	}
	defer func() {
		fmt.Fprintln(out)
		printTable(out, rows)
	}()
	source, err := readScript("succeeded")
	if err != nil {
		return err
	}
	lua, cel := podSelector(), podSelector()
	lua.Evaluate = source
	cel.MatchConditions = []v1alpha1.MatchCondition{{Name: "succeeded", Expression: succeededCEL}}
	unused := configMapSelector()
	unused.Finding = &v1alpha1.FindingSelector{Type: v1alpha1.FindingUnused}
	for _, scan := range []struct {
		name     string
		selector v1alpha1.ResourceSelector
		want     int
		ownMB    int64
	}{{"lua", lua, l.succeeded(), 32}, {"cel", cel, l.succeeded(), 32}, {"finding", unused, l.unused(), 40}} {
		peak, err := peakOfScan(ctx, pid, c, scan.name, scan.selector, int64(scan.want))
		if err != nil {
			return err
		}
		name := fmt.Sprintf("a Scan of %d Pods, %s, peak", l.Pods, scan.name)
		rows = append(rows, managerRow(name, peak, target{ownMB: scan.ownMB}))
	}
	return nil
}

// idleRows are what the manager takes after its start, and after it gave back what only the start needed. What they
// differ by is what that is worth: in anon the heap, in the rest the program's file.
func idleRows(ctx context.Context, pid int) ([][]string, error) {
	rows := [][]string{{"the manager", "RSS MB", "text once", "anon", "target", "met?"}}
	for _, state := range []struct {
		name  string
		after time.Duration
		goal  target
	}{{"after its start", started, target{}}, {"nothing to do", settle, target{memoryMB: 40}}} {
		if err := pause(ctx, state.after); err != nil {
			return nil, err
		}
		idle, err := memoryOf(pid)
		if err != nil {
			return nil, err
		}
		now := idle.anonymous + idle.files
		rows = append(rows, managerRow(state.name, memory{now, now, idle.anonymous}, state.goal))
	}
	return rows, nil
}

func managerRow(name string, m memory, goal target) []string {
	row := []string{name}
	for _, bytes := range []int64{m.Resident, m.SharedOnce, m.Anonymous} {
		row = append(row, fmt.Sprintf("%.0f", megabytes(bytes)))
	}
	return append(row, goal.String(), goal.verdict(need{residentMB: megabytes(m.Resident), ownMB: megabytes(m.Anonymous)}))
}

// peakOfScan lets the manager carry out a Scan now, and returns the most memory that it took meanwhile.
func peakOfScan(
	ctx context.Context,
	pid int,
	c client.Client,
	name string,
	selector v1alpha1.ResourceSelector,
	want int64,
) (memory, error) {
	cleaner := cleanerWith(name, "", "")
	cleaner.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{selector}
	if err := c.Create(ctx, cleaner); err != nil {
		return memory{}, err
	}
	// As a Cleaner that has been there for a while: the process that checked its script is over.
	if err := pause(ctx, settle); err != nil {
		return memory{}, err
	}
	if err := forgetPeak(pid); err != nil {
		return memory{}, err
	}
	family := watchFamily(pid)
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"bench"}}}`, v1alpha1.RunRequestedAtAnnotation)
	err := c.Patch(ctx, cleaner, client.RawPatch("application/merge-patch+json", patch))
	if err == nil {
		err = awaitScan(ctx, c, name, want)
	}
	return family.stop(), err
}

func awaitScan(ctx context.Context, c client.Client, name string, want int64) error {
	for start := time.Now(); time.Since(start) < scanPatience; {
		if err := pause(ctx, scanPoll); err != nil {
			return err
		}
		var runs v1alpha1.CleanerRunList
		if err := c.List(ctx, &runs); err != nil {
			return err
		}
		for _, run := range runs.Items {
			switch {
			case run.Spec.Cleaner != name || run.Status.CompletionTime == nil:
			case run.Status.Phase != v1alpha1.RunCompleted || run.Status.Matched != want:
				return fmt.Errorf("want %d objects to match: %s", want, run.Status.Message)
			default:
				return nil
			}
		}
	}
	return fmt.Errorf("the Scan was not over after %s", scanPatience)
}
