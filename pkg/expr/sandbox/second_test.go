// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// heavy takes some milliseconds for each object, much longer than it takes to hand the objects over.
const heavy = `function evaluate()
	local n = 0
	for i = 1, 2e5 do n = n + i end
	if string.sub(obj.data.k, 1, 4) == "more" then
		local t = {}
		for i = 1, 100 do t[i] = string.rep("x", 1000000 + i) end
	end
	return {matching=true, message=obj.metadata.name}
end`

// withSecond is a pool that has a second worker, whatever the number of CPUs.
func withSecond(t *testing.T) *Pool {
	p := newPool(t, Config{})
	p.second = make(chan struct{}, 1)
	p.second <- struct{}{}
	return p
}

// judgeHeavy judges many large objects, and returns what was said of them and whether there was a second worker.
func judgeHeavy(t *testing.T, s *Session, last string) (got []string, second bool, err error) {
	t.Helper()
	stream := s.Stream(heavy, func(j Judged) error {
		got = append(got, j.Message)
		if len(s.pool.second) == 0 {
			second = true
			if s.borrow() != nil {
				t.Error("there are two second workers")
			}
		}
		return j.Err
	})
	for i := range 120 {
		value := strings.Repeat("x", 60<<10)
		if i == 119 {
			value = last + value
		}
		if err := stream.Add(t.Context(), configMap(t, fmt.Sprint("o", i), value)); err != nil {
			return got, second, err
		}
	}
	return got, second, stream.Finish(t.Context())
}

func TestHeavyScriptGetsTheSecondWorker(t *testing.T) {
	var want []string
	for i := range 120 {
		want = append(want, fmt.Sprint("o", i))
	}
	for name, c := range map[string]struct {
		memory int64
		second bool
	}{
		"a small session":                        {SmallMemory, true},
		"a session with more than it may use":    {SmallMemory + 1, false},
		"a session while another one has it too": {SmallMemory, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := withSecond(t)
			var other *Session
			if strings.Contains(name, "another") {
				other = open(t, p, Options{Memory: SmallMemory})
				other.borrow()
			}
			s := open(t, p, Options{Memory: c.memory})
			got, second, err := judgeHeavy(t, s, "")
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Fatalf("%v, the messages (-want +got):\n%s", err, diff)
			}
			if other != nil {
				if len(p.second) != 0 || s.second != nil {
					t.Error("the second worker of another session was used")
				}
				return
			}
			if second != c.second || len(p.second) != 1 {
				t.Errorf("a second worker was here: %v, want %v; afterwards the pool has %d", second, c.second, len(p.second))
			}
		})
	}
}

// TestSecondWorkerIsGivenBack: also by a session that ends in the middle.
func TestSecondWorkerIsGivenBack(t *testing.T) {
	p := withSecond(t)
	s := open(t, p, Options{Memory: SmallMemory})
	_, second, err := judgeHeavy(t, s, "more")
	var outgrown *OutgrownError
	if !second || !errors.As(err, &outgrown) {
		t.Fatalf("a second worker was here: %v; the error is %v", second, err)
	}
	if s.Close(); len(p.second) != 1 {
		t.Error("the second worker was not given back")
	}
	if s.borrow() != nil {
		t.Error("a session that is over got the second worker")
	}
}
