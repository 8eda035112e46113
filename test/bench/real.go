// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/testenv"
)

const (
	// realName is what BENCH_ONLY says for this measurement, which takes several minutes and is none of the variants.
	realName = "real100k"
	// realFew and realMany are how many ConfigMaps the API server has before and after.
	realFew, realMany = 20_000, 100_000
	// realMatches is how many of them match where few do.
	realMatches = 1000

	fewMatch, allMatch = "few match", "all match"
)

// reals are whole runs, Scans, on as many ConfigMaps as there are.
func reals() []variant {
	few := fmt.Sprintf(
		`function evaluate() return {matching = obj.data ~= nil and string.sub(obj.metadata.name, 1, 9) == %q} end`,
		configMapName(0)[:9],
	)
	all := `function evaluate() return {matching = obj.data ~= nil} end`
	return []variant{
		{
			name: fewMatch, work: scanAll("few", func(int) int { return realMatches }), prepare: prepareScan("few", few),
			proves: "Whether memory stays the same with five times as many objects on a real API server.",
		},
		{
			name: allMatch, work: scanAll("all", func(n int) int { return n }), prepare: prepareScan("all", all),
			proves: "What each object that matches takes, until all are reported.",
		},
	}
}

func prepareScan(name, script string) func(context.Context, rest.Interface) error {
	return func(ctx context.Context, c rest.Interface) error {
		cleaner := cleanerWith(name, "", script)
		cleaner.APIVersion, cleaner.Kind = v1alpha1.GroupVersion.String(), "Cleaner"
		body, err := json.Marshal(cleaner)
		if err != nil {
			return err
		}
		return client.IgnoreAlreadyExists(c.Post().AbsPath(cleanersPath).Body(body).Do(ctx).Error())
	}
}

// scanAll carries out a Scan. Some ConfigMaps are the API server's own.
func scanAll(name string, matches func(objects int) int) func(context.Context, *site) error {
	return func(ctx context.Context, s *site) error {
		record, err := s.runCleaner(ctx, name)
		if err != nil {
			return err
		}
		status := record.Status
		want, own := int64(matches(s.load.ConfigMaps)), int64(2*namespaces)
		if status.Phase != v1alpha1.RunCompleted || status.Considered < int64(s.load.ConfigMaps) || status.Matched < want ||
			status.Matched > want+own {
			return fmt.Errorf("want %d of %d objects to match: %s", want, s.load.ConfigMaps, status.Message)
		}
		return nil
	}
}

// measureReal measures the memory of Scans before and after the API server has many more objects.
func measureReal(ctx context.Context, s settings, out io.Writer) error {
	fmt.Fprintf(out, "Starting etcd and kube-apiserver ...\n")
	env, err := testenv.Start(ctx, testenv.Options{})
	if err != nil {
		return err
	}
	return errors.Join(realOn(ctx, s, env, out), env.Stop())
}

func realOn(ctx context.Context, s settings, env *testenv.Env, out io.Writer) error {
	client, err := rawClient(env.Config)
	if err != nil {
		return err
	}
	api, err := newServer(ctx, env.Dir, client)
	if err != nil {
		return err
	}
	rows := [][]string{
		{"Scan", "ConfigMaps", "wall s", "client CPU s", "server CPU s", "RSS MB", "anon", "target", "met?"},
	}
	before := results{}
	for _, n := range []int{realFew, realMany} {
		s.load = load{ConfigMaps: n}
		fmt.Fprintf(out, "Creating ConfigMaps until there are %d ...\n", n)
		start := time.Now()
		if err := s.load.create(ctx, client); err != nil {
			return err
		}
		fmt.Fprintf(out, "Created in %.0f s.\n", time.Since(start).Seconds())
		t := &trial{settings: s, kubeconfig: env.Kubeconfig, server: api, out: out}
		found, err := t.measureAll(ctx, reals())
		if err != nil {
			return err
		}
		for _, v := range reals() {
			rows = append(rows, realRow(v.name, n, found[v.name], before[v.name]))
		}
		before = found
	}
	fmt.Fprintf(out, "\n%d rounds; %s; load average %s\n\n", s.rounds, machine(), loadAverage())
	printTable(out, rows)
	return nil
}

// realRow compares the samples with those of fewer objects, of which there are none at first.
func realRow(name string, n int, samples, before []sample) []string {
	resident := median(samples, residentMemory)
	row := []string{
		name, fmt.Sprint(n), fmt.Sprintf("%.2f", median(samples, wall)),
		fmt.Sprintf("%.2f", median(samples, func(s sample) float64 { return s.CPU.Seconds() })),
		fmt.Sprintf("%.2f", median(samples, serverCPU)), fmt.Sprintf("%.0f", resident),
		fmt.Sprintf("%.0f", median(samples, func(s sample) float64 { return megabytes(s.Memory.Anonymous) })), "", "",
	}
	if len(before) == 0 {
		return row
	}
	was := median(before, residentMemory)
	if name == fewMatch {
		goal := target{memoryMB: 96, growth: 1.1}
		row[7], row[8] = goal.String(), goal.verdict(need{residentMB: resident, growth: resident / was})
		return row
	}
	row[7], row[8] = "about 150 B of RSS more for each match", fmt.Sprintf(
		"%.0f B",
		(resident-was)*(1<<20)/float64(realMany-realFew),
	)
	return row
}
