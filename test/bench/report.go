// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// printHead prints the machine and the load.
func printHead(ctx context.Context, out io.Writer, api server, s settings) error {
	version, err := api.version(ctx)
	if err != nil {
		return err
	}
	objects, err := s.load.describe(ctx, api.client)
	if err != nil {
		return err
	}
	fmt.Fprintf(
		out,
		"\n%s; %d rounds; %s; Kubernetes %s; %s; load average %s\n",
		objects,
		s.rounds,
		machine(),
		version,
		runtime.Version(),
		loadAverage(),
	)
	fmt.Fprintln(
		out,
		"Server CPU has in it what its collector will take for what was allocated; while a variant is timed, it does not collect.",
	)
	if s.load.Pods < defaultObjects {
		fmt.Fprintf(out, "The targets are for %d Pods: with fewer, what a run costs once weighs more.\n", defaultObjects)
	}
	return nil
}

// printResults prints the table.
func printResults(out io.Writer, chosen []variant, found results) {
	rows := [][]string{
		{
			"variant",
			"wall s",
			"min-max",
			"x floor",
			"client CPU s",
			"server CPU s",
			"x floor",
			"server MB",
			"etcd reads",
			"RSS MB",
			"text once",
			"anon",
			"target",
			"met?",
		},
	}
	for _, v := range chosen {
		if samples := found[v.name]; len(samples) > 0 {
			rows = append(rows, row(v, samples, found[cmp.Or(v.floor, floorName)], found[oneRequestName]))
		} else {
			rows = append(
				rows,
				[]string{v.name, "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", v.target.String(), "WRONG"},
			)
		}
	}
	fmt.Fprintln(out)
	printTable(out, rows)
	fmt.Fprintln(out)
}

// printProofs prints what each row proves.
func printProofs(out io.Writer, chosen []variant) {
	for _, v := range chosen {
		fmt.Fprintf(out, "- %s: %s\n", v.name, v.proves)
	}
}

// row is a variant's line. The samples of one request, which its target of CPU time may depend on, may be none.
func row(v variant, samples, floor, oneRequest []sample) []string {
	walls, ratio := sorted(samples, wall), median(samples, wall)/median(floor, wall)
	resident := median(samples, residentMemory)
	growth := resident / median(floor, residentMemory)
	server, share := median(samples, serverCPU)/median(floor, serverCPU), ""
	if median(floor, serverCPU) > leastServerCPU {
		share = fmt.Sprintf("%.2f", server)
	}
	own := median(samples, func(s sample) float64 { return megabytes(s.Memory.Anonymous) })
	goal := v.target.least(
		median(oneRequest, wall)/median(floor, wall),
		median(oneRequest, serverCPU)/median(floor, serverCPU),
	)
	return []string{
		v.name,
		fmt.Sprintf("%.2f", median(samples, wall)),
		fmt.Sprintf("%.2f-%.2f", walls[0], walls[len(walls)-1]),
		fmt.Sprintf("%.2f", ratio),
		fmt.Sprintf("%.2f", median(samples, func(s sample) float64 { return s.CPU.Seconds() })),
		fmt.Sprintf("%.2f", median(samples, serverCPU)),
		share,
		fmt.Sprintf("%.0f", median(samples, func(s sample) float64 { return megabytes(s.Server.Allocated) })),
		fmt.Sprintf("%.0f", median(samples, func(s sample) float64 { return float64(s.Server.EtcdReads) })),
		fmt.Sprintf("%.0f", resident),
		fmt.Sprintf("%.0f", median(samples, func(s sample) float64 { return megabytes(s.Memory.SharedOnce) })),
		fmt.Sprintf("%.0f", own),
		v.target.String(),
		goal.verdict(need{ratio, resident, own, growth, server}),
	}
}

// String is the target as the table shows it.
func (t target) String() string {
	var parts []string
	if t.ratio > 0 {
		parts = append(parts, fmt.Sprintf("<= %.1f x", t.ratio))
	}
	if t.memoryMB > 0 {
		parts = append(parts, fmt.Sprintf("%d MB", t.memoryMB))
	}
	if t.ownMB > 0 {
		parts = append(parts, fmt.Sprintf("anon %d MB", t.ownMB))
	}
	if t.server > 0 {
		parts = append(parts, fmt.Sprintf("<= %.1f x server CPU", t.server))
	}
	if t.growth > 0 {
		parts = append(parts, fmt.Sprintf("<= %.1f x RSS", t.growth))
	}
	if t.orOneRequest {
		parts = append(parts, "or one request's")
	}
	return strings.Join(parts, ", ")
}

// least is the target where a single request takes these parts of the floor's wall time and of the API server's CPU
// time for the floor. They are NaN if it was not measured.
func (t target) least(time, server float64) target {
	if t.orOneRequest && time > t.ratio {
		t.ratio = time
	}
	if t.orOneRequest && t.server > 0 && overOneRequest*server > t.server {
		t.server = overOneRequest * server
	}
	return t
}

// need is what a variant took, as the target says it.
type need struct{ ratio, residentMB, ownMB, growth, server float64 }

func (t target) verdict(n need) string {
	var missed []string
	over := func(needed, most float64) bool { return most > 0 && needed > most }
	if over(n.ratio, t.ratio) {
		missed = append(missed, "time")
	}
	if over(n.residentMB, float64(t.memoryMB)) || over(n.ownMB, float64(t.ownMB)) || over(n.growth, t.growth) {
		missed = append(missed, "memory")
	}
	if over(n.server, t.server) {
		missed = append(missed, "server")
	}
	switch {
	case t == target{}:
		return ""
	case len(missed) == 0:
		return "met"
	}
	return "missed: " + strings.Join(missed, ", ")
}

// printTable prints Markdown whose columns are aligned.
func printTable(out io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for r, row := range rows {
		for i, cell := range row {
			fmt.Fprintf(out, "| %-*s ", widths[i], cell)
		}
		fmt.Fprintln(out, "|")
		if r == 0 {
			for _, width := range widths {
				fmt.Fprint(out, "|", strings.Repeat("-", width+2))
			}
			fmt.Fprintln(out, "|")
		}
	}
}

func wall(s sample) float64 { return s.Wall.Seconds() }

// leastServerCPU is below how many seconds the API server's CPU time says nothing: it is counted in steps of 10 ms.
const leastServerCPU = 0.2

func serverCPU(s sample) float64 { return s.Server.CPU.Seconds() }

func residentMemory(s sample) float64 { return megabytes(s.Memory.Resident) }

func megabytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func sorted(samples []sample, of func(sample) float64) []float64 {
	values := make([]float64, 0, len(samples))
	for _, s := range samples {
		values = append(values, of(s))
	}
	slices.Sort(values)
	return values
}

// median is the middle value, or the mean of the two in the middle. Zero of nothing.
func median(samples []sample, of func(sample) float64) float64 {
	values := sorted(samples, of)
	n := len(values)
	if n == 0 {
		return 0
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}

func machine() string {
	model := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		_, rest, _ := strings.Cut(string(text), "model name\t: ")
		name, _, _ := strings.Cut(rest, "\n")
		model = cmp.Or(name, model)
	}
	return fmt.Sprintf("%d CPUs (%s), shared with the API server", runtime.NumCPU(), model)
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}
