// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// hostileLimit is for one object in the corpus. What is about memory gets more time, so that it is memory that ends.
const (
	hostileLimit = 200 * time.Millisecond
	memoryLimit  = 20 * time.Second
)

// calm is what a script says of the object that comes after, by which it can be seen that nothing was spoilt.
const calm = `
local function calm()
	return {matching = true, message = table.concat({
		("ab"):rep(2), tostring(math.floor(2.5)), type(pairs), tostring(leak), tostring(next(metrics)), logs, string.format("%d", 3),
		tostring(#{1, 2}), tostring(getmetatable("")), select("#", 1, 2), tostring(tonumber("7")), tostring(counter), obj.data.k, tostring(_G._G == _G),
	}, ",")}
end`

const calmAnswer = "abab,2,function,nil,nil,,3,2,false,2,7,nil,calm,true"

func wholeScript(body string) string {
	if whole, ok := strings.CutPrefix(body, "--whole\n"); ok {
		return whole
	}
	return calm + "\nfunction evaluate() if obj.data.k == 'calm' then return calm() end\n" + body + "\nend"
}

// outcome is what an error of the corpus is.
func outcome(err error) string {
	switch {
	case err == nil:
		return harmless
	case is[*lua.ScriptError](err):
		return faulty
	case is[*lua.SyntaxError](err):
		return syntax
	case is[*lua.TimeoutError](err):
		return timeout
	case budgetKind(err) == BudgetTime:
		return slowly
	case budgetKind(err) == BudgetMemory:
		return memory
	case budgetKind(err) != "" || is[*protocolError](err):
		return "the parent must not see: "
	}
	return refused
}

// causes are what the message of each kind of error must say.
var causes = map[string]string{timeout: "took longer than", slowly: "took longer than", memory: "MiB of memory", refused: "the limit is", syntax: "line "}

// TestHostile runs every script of the corpus in a real child. The cause must be named, the script be stopped in time, and
// nobody else notice anything: neither the next object, nor the next session, nor the parent.
func TestHostile(t *testing.T) {
	p := newPool(t, Config{})
	var alone sync.Mutex
	count := 0
	watch := watchHeap()
	t.Run("all", func(t *testing.T) {
		for _, category := range hostile {
			for i, body := range category.bodies {
				count++
				t.Run(fmt.Sprintf("%s/%d", category.category, i), func(t *testing.T) {
					t.Parallel()
					tryHostile(t, p, &alone, body, category.outcome)
				})
			}
		}
	})
	if count < 150 {
		t.Errorf("only %d scripts", count)
	}
	if grown := watch(); grown > 32<<20 {
		t.Errorf("the parent's heap grew by %d MB", grown>>20)
	}
}

// tryHostile tries one script. On a busy machine the clock runs faster than a script, also than the harmless ones: who fails tries
// again, alone. A limit that does not hold never does.
func tryHostile(t *testing.T, p *Pool, alone *sync.Mutex, body, want string) {
	options := Options{ObjectTimeout: hostileLimit}
	if want == memory {
		options.ObjectTimeout = memoryLimit
	}
	fault := hostileFault(t, p, options, body, want)
	if fault == nil {
		return
	}
	alone.Lock()
	defer alone.Unlock()
	for range 4 {
		if fault = hostileFault(t, p, options, body, want); fault == nil {
			return
		}
	}
	t.Errorf("%.200s\n%v", body, fault)
}

// hostileFault is what is wrong with how a script ends, or with what it leaves behind.
func hostileFault(t *testing.T, p *Pool, options Options, body, want string) error {
	s := open(t, p, options)
	defer s.Close()
	good, source := configMap(t, "good", "yes"), wholeScript(body)
	if _, err := s.Evaluate(t.Context(), behave, good); err != nil {
		return err
	}
	begin := time.Now()
	match, err := s.Evaluate(t.Context(), source, configMap(t, "bad", "x"))
	took, got := time.Since(begin), outcome(err)
	switch {
	case !strings.Contains(want, got):
		return fmt.Errorf("got %s, want %s: %w", got, want, err)
	case err != nil && !strings.Contains(err.Error(), causes[got]):
		return fmt.Errorf("the error does not name the cause: %w", err)
	case err == nil && match.Message == "survived":
		return errors.New("the script survived its limit")
	case took > limitOf(got, options)+10*time.Second: // half a second where nothing else runs
		return fmt.Errorf("took %s", took)
	}
	// Neither the same script nor another one of the session may notice.
	if !strings.HasPrefix(body, "--whole") {
		if next, err := s.Evaluate(t.Context(), source, configMap(t, "next", "calm")); err != nil || !next.Matching || next.Message != calmAnswer {
			return fmt.Errorf("the next object: %+v, %w", next, err)
		}
	}
	if next, err := s.Evaluate(t.Context(), behave, good); err != nil || next.Message != "good is yes" {
		return fmt.Errorf("another script: %+v, %w", next, err)
	}
	return nil
}

func limitOf(outcome string, options Options) time.Duration {
	if outcome == syntax || outcome == refused {
		return compileTimeout
	}
	return options.ObjectTimeout
}

// watchHeap returns a function that says how much larger than now the heap ever was.
func watchHeap() func() int64 {
	heap := func() int64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapSys - stats.HeapReleased)
	}
	runtime.GC()
	before := heap()
	stop, result := make(chan struct{}), make(chan int64)
	go func() {
		most := before
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				result <- most - before
				return
			case <-ticker.C:
				most = max(most, heap())
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-result
	}
}

func TestForgingScripts(t *testing.T) {
	p := newPool(t, Config{})
	objects := []object.Object{configMap(t, "a", "x"), configMap(t, "b", "x")}
	for _, body := range forged["transform"] {
		s := open(t, p, Options{ObjectTimeout: 2 * time.Second})
		patch, _, err := s.Transform(t.Context(), "function transform() "+body+" end", objects[0])
		if !is[*lua.ScriptError](err) || patch != nil {
			t.Errorf("%s: got %v, %v", body, patch, err)
		}
		s.Close()
	}
	for _, body := range forged["aggregate"] {
		s := open(t, p, Options{AggregateTimeout: 5 * time.Second})
		selected, err := s.Choose(t.Context(), "function evaluate() "+body+" end", objects)
		if !is[*lua.ScriptError](err) || selected != nil {
			t.Errorf("%s: got %v, %v", body, selectedNames(selected), err)
		}
		s.Close()
	}
	// One that it was given, but twice, counts once.
	a := open(t, p, Options{}).Aggregate(`function evaluate() local r = resources[2] return {resources = {{resource = r}, {resource = r}}} end`)
	addAll(t, a, objects...)
	if selected, err := a.Finish(t.Context()); err != nil || len(selected) != 1 || selected[0].Index != 1 {
		t.Errorf("twice: got %v, %v", selectedNames(selected), err)
	}
}
