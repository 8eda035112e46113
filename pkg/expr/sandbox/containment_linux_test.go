// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	apiwait "k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
)

// aChild is a session and the process of its child, which is running.
func aChild(t *testing.T, p *Pool, options Options) (*Session, *process) {
	t.Helper()
	s := open(t, p, options)
	if _, err := s.Evaluate(t.Context(), behave, configMap(t, "a", "")); err != nil {
		t.Fatal(err)
	}
	return s, processOf(s)
}

func processOf(s *Session) *process {
	w := <-s.free
	defer func() { s.free <- w }()
	return w.process
}

func proc(t *testing.T, pid int, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// field is the rest of the line that begins so.
func field(t *testing.T, text, begin string) string {
	t.Helper()
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, begin); ok {
			return strings.Join(strings.Fields(rest), " ")
		}
	}
	t.Fatalf("no %s in %s", begin, text)
	return ""
}

func TestContainment(t *testing.T) {
	t.Setenv("SECRET", "canary")
	// As a careless parent leaves it open: it comes to the child and must be closed there.
	file, err := syscall.Open("/etc/passwd", syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(file) }()
	_, child := aChild(t, newPool(t, Config{}), Options{Memory: SmallMemory})
	pid := child.cmd.Process.Pid

	environ := strings.Split(strings.TrimSuffix(proc(t, pid, "environ"), "\x00"), "\x00")
	if want := []string{"GOTRACEBACK=none", "GOMAXPROCS=1", "MALLOC_ARENA_MAX=1"}; !slices.Equal(environ, want) {
		t.Errorf("environment: %q", environ)
	}
	entries, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		target, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "fd", entry.Name()))
		number, _ := strconv.Atoi(entry.Name())
		if pipe := number <= 2; err != nil || pipe != strings.HasPrefix(target, "pipe:") || !pipe && !strings.HasPrefix(target, "anon_inode:[event") {
			t.Errorf("descriptor %s is %s, %v", entry.Name(), target, err)
		}
	}
	limits := proc(t, pid, "limits")
	for name, want := range map[string]string{"Max core file size": "0 0 bytes", "Max open files": "8 8 files"} {
		if got := field(t, limits, name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	const stack = 1 << 20 // the limit of data is measured with the stack, and VmData without
	for limit, c := range map[string]struct {
		size string
		most int
	}{"Max address space": {"VmSize:", SmallMemory + memoryStep + memoryStep/2}, "Max data size": {"VmData:", SmallMemory + memoryStep/2 + stack}} {
		limited := strings.Fields(field(t, limits, limit))
		soft, _ := strconv.Atoi(limited[0])
		size, _ := strconv.Atoi(strings.Fields(field(t, proc(t, pid, "status"), c.size))[0])
		if room := soft - size<<10; room <= 0 || room > c.most || limited[1] != limited[0] {
			t.Errorf("%s: %v of %d kB", limit, limited, size)
		}
	}
	if got := field(t, proc(t, pid, "status"), "NoNewPrivs:"); got != "1" {
		t.Errorf("NoNewPrivs: %s", got)
	}
	if got := strings.TrimSpace(proc(t, pid, "oom_score_adj")); got != "1000" {
		t.Errorf("oom_score_adj: %s", got)
	}
	if got, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "cwd")); got != "/" {
		t.Errorf("working directory: %s, %v", got, err)
	}
}

// niceOf are the nicenesses of a process's threads, each once.
func niceOf(t *testing.T, pid int) []string {
	t.Helper()
	stats, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	if err != nil || len(stats) == 0 {
		t.Fatalf("the process has no threads: %v", err)
	}
	all := map[string]bool{}
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // the thread has ended
		}
		_, fields, _ := strings.Cut(string(text), ") ")
		all[strings.Fields(fields)[16]] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// TestGivesWay lets a script run for long: then others have the processors first. A quick one does not change.
func TestGivesWay(t *testing.T) {
	own := niceOf(t, os.Getpid())[0]
	number, err := strconv.Atoi(own)
	if err != nil {
		t.Fatal(err)
	}
	s, child := aChild(t, newPool(t, Config{}), Options{ObjectTimeout: 10 * time.Minute})
	if got := niceOf(t, child.cmd.Process.Pid); !slices.Equal(got, []string{own}) {
		t.Errorf("after a quick script: %s, and the parent %s", got, own)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := s.Evaluate(ctx, behave, configMap(t, "a", "native"))
		ended <- err
	}()
	want := []string{strconv.Itoa(min(19, number+niceness))}
	err = apiwait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return slices.Equal(niceOf(t, child.cmd.Process.Pid), want), nil
	})
	if err != nil {
		t.Errorf("%v: %s", err, niceOf(t, child.cmd.Process.Pid))
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestAnyUser starts a program that is its own child, as a user who may write nowhere.
func TestAnyUser(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), filepath.Join(programs, "probe"), `function evaluate() return {message="said"} end`)
	cmd.Dir = "/"
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	}
	if output, err := cmd.CombinedOutput(); err != nil || string(output) != "said <nil>\n" {
		t.Errorf("got %s, %v", output, err)
	}
}

// TestDiesWithParent kills a program whose child is busy.
func TestDiesWithParent(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), filepath.Join(programs, "probe"), `function evaluate() while true do end end`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := sync.OnceFunc(func() { _ = cmd.Wait() })
	t.Cleanup(func() { _ = cmd.Process.Kill(); ended() })
	var children []int
	// Before it is busy it would end because its pipes are closed.
	wait(t, "the child to be busy", func() bool {
		if children = childrenOf(t, cmd.Process.Pid); len(children) != 1 {
			return false
		}
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(children[0]), "stat"))
		if err != nil { // another one, which has ended: it compiled, or was about to become the child
			return false
		}
		ticks, _ := strconv.Atoi(strings.Fields(string(text))[13])
		return ticks >= 10
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ended()
	wait(t, "the child's end", func() bool {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(children[0]), "status"))
		return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) || strings.Contains(string(text), "State:\tZ")
	})
}

// wait waits until something is so.
func wait(t *testing.T, what string, isSo func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(time.Minute); !isSo(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited for %s in vain", what)
		}
	}
}

func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	lists, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "children"))
	if err != nil {
		t.Fatal(err)
	}
	var children []int
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, word := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(word)
			children = append(children, child)
		}
	}
	return children
}

// TestStoppedChild stops a child as a debugger does. The parent's own limit must act, and no object be blamed.
func TestStoppedChild(t *testing.T) {
	s, child := aChild(t, newPool(t, Config{}), short)
	if err := child.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	got, err := judgeAll(t, s, behave, objectsOf(t, "yes", "no")...)
	if err != nil || !slices.Equal(got, []string{"yes0 yes yes0 is yes", "no1 no"}) {
		t.Errorf("got %v, %v", got, err)
	}
	if took := time.Since(begin); took > short.ObjectTimeout+grace+silence+30*time.Second {
		t.Errorf("took %s", took)
	}
}

// TestStarvedChild lets a child have a processor for a quarter of the time, as in a Pod with a small limit of CPU: a script that takes a part
// of its time is not stopped, and one that never ends is.
func TestStarvedChild(t *testing.T) {
	const limit = time.Second
	s, child := aChild(t, newPool(t, Config{}), Options{ObjectTimeout: limit})
	work := `function evaluate() local n = 0 for i = 1, tonumber(obj.data.k) do n = n + 1 end return {matching=true, message="" .. n} end`
	loops, took := 100_000.0, time.Duration(0)
	for ; took < limit/4; loops *= 2 {
		begin := time.Now()
		if _, err := s.Evaluate(t.Context(), work, configMap(t, "a", fmt.Sprintf("%.0f", 2*loops))); err != nil {
			t.Fatal(err)
		}
		took = time.Since(begin)
	}
	loops *= float64(limit/5) / float64(took) // of a fifth of the limit

	starving, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		for turn := time.NewTicker(5 * time.Millisecond); starving.Err() == nil; <-turn.C {
			_ = child.cmd.Process.Signal(syscall.SIGCONT)
			<-turn.C
			_ = child.cmd.Process.Signal(syscall.SIGSTOP)
			<-turn.C
			<-turn.C
		}
		_ = child.cmd.Process.Signal(syscall.SIGCONT)
	})
	for passed := time.Duration(0); passed < limit+grace; loops *= 1.5 { // until it takes long enough by the clock
		text, begin := fmt.Sprintf("%.0f", loops), time.Now()
		match, err := s.Evaluate(t.Context(), work, configMap(t, "a", text))
		passed = time.Since(begin)
		if err != nil || match.Message != text {
			t.Fatalf("after %s: %v, %v", passed, match, err)
		}
	}
	if _, err := s.Evaluate(t.Context(), behave, configMap(t, "a", "loop")); !is[*lua.TimeoutError](err) {
		t.Errorf("an endless loop: %v", err)
	}
	if _, err := s.Evaluate(t.Context(), behave, configMap(t, "a", "native")); budgetKind(err) != BudgetTime {
		t.Errorf("an endless step: %v", err)
	}
	stop()
	all.Wait()
}

// TestKilledChild kills a child between two objects, as the kernel does when memory runs out.
func TestKilledChild(t *testing.T) {
	s, child := aChild(t, newPool(t, Config{}), short)
	if err := child.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	got, err := judgeAll(t, s, behave, objectsOf(t, "yes", "no")...)
	if err != nil || !slices.Equal(got, []string{"yes0 yes yes0 is yes", "no1 no"}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestNoLeaks opens and closes much, and counts what is left.
func TestNoLeaks(t *testing.T) {
	p := newPool(t, Config{})
	use := func() {
		for range 3 {
			s := p.Open(short)
			if _, err := judgeAll(t, s, behave, objectsOf(t, "yes", "native", "loop")...); err != nil {
				t.Fatal(err)
			}
			s.Close()
		}
	}
	use()
	before := descriptors(t)
	use()
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors, before %d", after, before)
	}
	if left := childrenOf(t, os.Getpid()); len(left) > 0 {
		t.Errorf("children are left: %v", left)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.sessions) > 0 {
		t.Errorf("%d sessions are left", len(p.sessions))
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// TestChildKeepsToItsMemory watches children that want all memory.
func TestChildKeepsToItsMemory(t *testing.T) {
	for _, bytes := range []int64{SmallMemory, 256 << 20} {
		keepsToItsMemory(t, bytes)
	}
}

func keepsToItsMemory(t *testing.T, bytes int64) {
	t.Helper()
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{
		`local t = {} while true do t[#t + 1] = {} end`,
		`local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(1000000 + i % 7) end`,
		`local t = {} for i = 1, 2000 do t[i] = "" end return {message = table.concat(t, ("x"):rep(1000000))}`,
		`return {message = ("x"):rep(1000000):gsub(".", ("y"):rep(1000000))}`,
		`return {message = string.format("%999999999d", 1)}`,
	} {
		s := open(t, newPool(t, Config{}), Options{ObjectTimeout: time.Minute, Memory: bytes})
		stop, peak := make(chan struct{}), make(chan int64)
		go func() {
			most := int64(0)
			ticker := time.NewTicker(2 * time.Millisecond)
			defer ticker.Stop()
			for {
				select {
				case <-stop:
					peak <- most
					return
				case <-ticker.C:
				}
				for _, pid := range childrenOf(t, os.Getpid()) {
					// Right after the fork a child is still this process, with this process's memory.
					program, _ := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
					if program == self {
						continue
					}
					text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
					_, rest, _ := strings.Cut(string(text), "VmHWM:")
					if words := strings.Fields(rest); len(words) > 0 {
						kilobytes, _ := strconv.Atoi(words[0])
						most = max(most, int64(kilobytes)<<10)
					}
				}
			}
		}()
		_, err := s.Evaluate(t.Context(), "function evaluate() "+body+" end", configMap(t, "a", "x"))
		close(stop)
		most := <-peak
		// The program's own text counts too.
		if most > bytes+memoryStep/2+16<<20 {
			t.Errorf("%s: %d MB", body, most>>20)
		}
		t.Logf("%s: %d MB, %v", body, most>>20, err)
	}
}
