// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func TestLoad(t *testing.T) {
	l := load{Pods: 101, ConfigMaps: 60}
	exists, used, succeeded := map[string]bool{}, map[string]bool{}, 0
	for i := range l.ConfigMaps {
		namespace, created, err := l.configMap(i)
		if err != nil {
			t.Fatal(err)
		}
		exists[namespace+"/"+object.JSON(created).At("metadata", "name").Text()] = true
	}
	for i := range l.Pods {
		namespace, created, status, err := l.pod(i)
		if err != nil {
			t.Fatal(err)
		}
		if object.JSON(status).At("status", "phase").Text() == "Succeeded" {
			succeeded++
		}
		name := configMapUsed(object.JSON(created))
		if used[namespace+"/"+name] = true; !exists[namespace+"/"+name] {
			t.Fatalf("Pod %d uses %s/%s, which does not exist", i, namespace, name)
		}
	}
	if len(exists) != l.ConfigMaps || len(used) != l.used() || succeeded != l.succeeded() {
		t.Errorf("%d ConfigMaps, %d used, %d Pods succeeded; want %d, %d, %d",
			len(exists), len(used), succeeded, l.ConfigMaps, l.used(), l.succeeded())
	}
	_, first, _, _ := l.pod(7)
	if _, second, _, _ := l.pod(7); !bytes.Equal(first, second) {
		t.Errorf("the same Pod is once\n%s\nand once\n%s", first, second)
	}
}

// configMapUsed is the name of the ConfigMap that a Pod uses in whatever way.
func configMapUsed(pod object.JSON) string {
	for container := range pod.At("spec", "containers").Elements() {
		for env := range container.Field("env").Elements() {
			return env.At("valueFrom", "configMapKeyRef", "name").Text()
		}
		for from := range container.Field("envFrom").Elements() {
			return from.At("configMapRef", "name").Text()
		}
	}
	for volume := range pod.At("spec", "volumes").Elements() {
		if name := volume.At("configMap", "name").Text(); name != "" {
			return name
		}
	}
	return ""
}

func TestIndexOf(t *testing.T) {
	for name, want := range map[string]int{podName(7): 7, configMapName(12345): 12345, "kube-root-ca.crt": -1, "": -1} {
		if got := indexOf(name); got != want {
			t.Errorf("the index of %q is %d, want %d", name, got, want)
		}
	}
}

func TestInParallelEndsWithTheFirstError(t *testing.T) {
	boom := errors.New("boom")
	done := make([]bool, 1000)
	err := inParallel(t.Context(), len(done), func(_ context.Context, i int) error {
		if done[i] = true; i == 20 {
			return boom
		}
		return nil
	})
	if !errors.Is(err, boom) {
		t.Errorf("got %v, want boom", err)
	}
	if err := inParallel(t.Context(), len(done), func(_ context.Context, i int) error { done[i] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	for i, ok := range done {
		if !ok {
			t.Fatalf("%d was left out", i)
		}
	}
}

func TestFromEnvironment(t *testing.T) {
	environment := map[string]string{"BENCH_PODS": "2000", "BENCH_ONLY": "^CEL"}
	s, err := fromEnvironment(func(name string) string { return environment[name] })
	if err != nil || s.load != (load{2000, 2000}) || s.rounds != defaultRounds || !s.only.MatchString("CEL, per Pod") {
		t.Errorf("got %+v, %v", s, err)
	}
	environment = map[string]string{"BENCH_PODS": "many", "BENCH_ROUNDS": "0", "BENCH_ONLY": "(", peerKor: "/no/kor", peerK8sCleaner: "/no/manager"}
	_, err = fromEnvironment(func(name string) string { return environment[name] })
	for _, want := range []string{`BENCH_PODS is "many"`, `BENCH_ROUNDS is "0"`, "BENCH_ONLY: ", peerKor + ": ", peerK8sCleaner + ": "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %s", err, want)
		}
	}
}

func TestVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		target target
		need   need
		want   string
	}{
		"none":   {target{}, need{9, 999, 99, 9, 1}, ""},
		"met":    {target{ratio: 1, memoryMB: 64}, need{1, 64, 99, 9, 1}, "met"},
		"slow":   {target{ratio: 1, memoryMB: 64}, need{1.01, 64, 99, 9, 1}, "missed: time"},
		"large":  {target{ratio: 1, memoryMB: 64}, need{0.5, 65, 99, 9, 1}, "missed: memory"},
		"both":   {target{ratio: 1, memoryMB: 64}, need{2, 65, 99, 9, 1}, "missed: time, memory"},
		"small":  {target{ownMB: 32}, need{9, 999, 32, 9, 1}, "met"},
		"own":    {target{ownMB: 32}, need{9, 999, 32.1, 9, 1}, "missed: memory"},
		"flat":   {target{growth: 1.1}, need{9, 999, 99, 1.1, 1}, "met"},
		"grown":  {target{growth: 1.1}, need{9, 999, 99, 1.11, 1}, "missed: memory"},
		"busy":   {target{ratio: 1, server: 0.8}, need{1, 999, 99, 9, 0.81}, "missed: server"},
		"idle":   {target{ratio: 1, server: 0.8}, need{1, 999, 99, 9, 0.8}, "met"},
		"no max": {target{ratio: 1}, need{1, 999, 99, 9, 1}, "met"},
	} {
		if got := c.target.verdict(c.need); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestTargetOrOneRequest has an API server that a single request costs more than the target allows.
func TestTargetOrOneRequest(t *testing.T) {
	asked := target{ratio: 0.8, server: 0.8, orOneRequest: true}
	noCPU := target{ratio: 0.8, orOneRequest: true}
	for name, c := range map[string]struct {
		asked        target
		time, server float64
		want         target
	}{
		"cheap":                {asked, 0.5, 0.5, asked},
		"dear":                 {asked, 1.0, 1.0, target{ratio: 1.0, server: 1.1, orOneRequest: true}},
		"not measured":         {asked, math.NaN(), math.NaN(), asked},
		"no target of the CPU": {noCPU, 1.0, 1.0, target{ratio: 1.0, orOneRequest: true}},
		"not allowed":          {target{ratio: 0.8, server: 0.8}, 1.0, 1.0, target{ratio: 0.8, server: 0.8}},
	} {
		got := c.asked.least(c.time, c.server)
		if math.Abs(got.server-c.want.server) < 1e-9 {
			got.server = c.want.server
		}
		if got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestRow(t *testing.T) {
	samples := make([]sample, 3)
	for i, ms := range []int{300, 100, 200} {
		samples[i].Wall, samples[i].CPU = time.Duration(ms)*time.Millisecond, time.Second
		samples[i].Server, samples[i].Memory = effort{2 * time.Second, 200 << 20, 39}, memory{Resident: 50 << 20, SharedOnce: 40 << 20, Anonymous: 10 << 20}
	}
	got := row(variant{name: "x", target: target{ratio: 1, memoryMB: 64}}, samples, []sample{{measured: measured{Wall: 400 * time.Millisecond}, Server: effort{CPU: 4 * time.Second}, Memory: memory{Resident: 50 << 20}}}, nil)
	want := []string{"x", "0.20", "0.10-0.30", "0.50", "1.00", "2.00", "0.50", "200", "39", "50", "40", "10", "<= 1.0 x, 64 MB", "met"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := median(samples[:2], wall); got != 0.2 {
		t.Errorf("the median of two is %v, want what is in the middle", got)
	}
}

// TestFamilyCountsChildren watches a shell that has a child with memory of its own.
func TestFamilyCountsChildren(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc")
	}
	// dd has its buffer in memory as long as it waits for the end of its input.
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "(cat | dd bs=32M count=1 iflag=fullblock of=/dev/null; cat) | cat")
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := input.Write(make([]byte, 30<<20)); err != nil { // when it returns, all but what is in pipes is in dd's buffer
		t.Fatal(err)
	}
	family := newFamily(cmd.Process.Pid)
	for range 5 { // a process is found by one sample and counted by the next
		family.sample()
	}
	if err := errors.Join(input.Close(), cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	if min(family.peak.Resident, family.peak.SharedOnce, family.peak.Anonymous) < 28<<20 {
		t.Errorf("the peak is %+v, want at least the memory of the child", family.peak)
	}
	family.sample()
	if len(family.members) > 0 {
		t.Errorf("%v have ended and are still watched", family.members)
	}
}

func TestCPU(t *testing.T) {
	before, err := ownCPU()
	if err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); time.Since(start) < 50*time.Millisecond; {
		_ = strings.Repeat("x", 1000)
	}
	after, err := ownCPU()
	if err != nil {
		t.Fatal(err)
	}
	if after-before <= 0 {
		t.Errorf("working took %s", after-before)
	}
	fromProc, err := cpuOf(os.Getpid())
	if err != nil {
		t.Skip(err)
	}
	if fromProc <= 0 || fromProc > after+time.Second {
		t.Errorf("/proc says %s, the process %s", fromProc, after)
	}
}

func TestReadCounters(t *testing.T) {
	const collector = `go_gc_duration_seconds{quantile="0"} 3.1e-05
go_gc_duration_seconds_count 12
go_memstats_alloc_bytes 7
go_memstats_alloc_bytes_total 1.5e+09
go_memstats_heap_alloc_bytes 4e+08
`
	got, err := readCounters(collector + `# HELP etcd_requests_total Etcd request counts.
# TYPE etcd_requests_total counter
etcd_requests_total{group="",operation="create",resource="pods"} 12
etcd_requests_total{group="",operation="list",resource="pods"} 39
etcd_requests_total{group="",operation="listWithCount",resource="configmaps"} 1e+00
etcd_request_errors_total{group="",operation="list",resource="pods"} 7
`)
	if want := (counters{40, 1.5e9, 4e8, 12}); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := readCounters(strings.Replace(collector, "1.5e+09", "much", 1)); err == nil {
		t.Error("no error for what is no number")
	}
}

func TestCountRequests(t *testing.T) {
	before := requests{"LIST cleanerruns": 5}
	got, err := countRequests(`# TYPE apiserver_request_total counter
apiserver_request_total{code="200",component="apiserver",dry_run="",group="apps.projectsveltos.io",resource="cleanerruns",scope="cluster",subresource="",verb="LIST",version="v1alpha1"} 12
apiserver_request_total{code="500",component="apiserver",dry_run="",group="apps.projectsveltos.io",resource="cleanerruns",scope="cluster",subresource="",verb="LIST",version="v1alpha1"} 3
apiserver_request_total{code="200",component="apiserver",dry_run="",group="apps.projectsveltos.io",resource="cleaners",scope="resource",subresource="status",verb="PATCH",version="v1alpha1"} 20
apiserver_request_total{code="0",component="apiserver",dry_run="",group="",resource="pods",scope="cluster",subresource="",verb="WATCH",version="v1"} 99
apiserver_request_total{code="200",component="apiserver",dry_run="",group="coordination.k8s.io",resource="leases",scope="resource",subresource="",verb="PUT",version="v1"} 99
`)
	if want := "1.00 LIST cleanerruns, 2.00 PATCH cleaners/status"; err != nil || got.since(before, 10) != want {
		t.Errorf("got %s, %v; want %s", got.since(before, 10), err, want)
	}
}

func TestCheckKor(t *testing.T) {
	l := load{Pods: 20, ConfigMaps: 20}
	unused := map[string]map[string][]string{}
	for i := range l.ConfigMaps {
		if kinds := map[string][]string{}; !l.isInUse(i) {
			if have := unused[namespaceOf(i)]; have != nil {
				kinds = have
			}
			kinds["ConfigMap"] = append(kinds["ConfigMap"], configMapName(i))
			unused[namespaceOf(i)] = kinds
		}
	}
	unused["kube-system"] = map[string][]string{"ConfigMap": {"its-own"}}
	right, err := json.Marshal(unused)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ output, want string }{
		"all of them":         {"kor\n" + string(right), ""},
		"none":                {"{}", "kor found 0 unused"},
		"one that a Pod uses": {fmt.Sprintf(`{%q: {"ConfigMap": [%q]}}`, namespaceOf(0), configMapName(0)), "which a Pod uses"},
		"no JSON":             {"error", "printed no JSON"},
		"JSON that is cut":    {"{", "reading what kor printed"},
	} {
		err := checkKor([]byte(c.output), l)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
