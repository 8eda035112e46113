// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"errors"
	"runtime"
	"testing"
	"time"

	gopher "github.com/yuin/gopher-lua"
)

func TestTimeoutNamesTheLine(t *testing.T) {
	for _, source := range []string{
		"function evaluate()\n  local n = 0\n  while true do n = n + 1 end\nend",
		"function evaluate()\n  pcall(function()\n while true do end end)\n  return {}\nend",
		"function evaluate()\n  table.sort({2, 1}, function(a, b)\n while true do end end)\n  return {}\nend",
	} {
		s := sessionWith(t, source, Options{ObjectTimeout: 20 * time.Millisecond})
		_, err := s.Evaluate(t.Context(), deployment(t, ""))
		var timeout *TimeoutError
		if !errors.As(err, &timeout) || timeout.Line != 3 {
			t.Errorf("%s: %v", source, err)
		}
	}
	if got := (&TimeoutError{Function: "evaluate", Limit: time.Second}).Error(); got !=
		"evaluate took longer than 1s: look for an endless loop, or do less work in the script" {
		t.Error(got)
	}
}

// TestRandomWithoutUID reads the UID from the bytes where nobody did before.
func TestRandomWithoutUID(t *testing.T) {
	s := session(t, `function evaluate() return {message=tostring(math.random())} end`)
	o := configMap(t, "a")
	want, err := s.Evaluate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.UID = ""
	got, err := s.Evaluate(t.Context(), o)
	if err != nil || got != want {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// TestContain changes what the whole process shares, and puts it back.
func TestContain(t *testing.T) {
	defer func(was int) { gopher.MaxArrayIndex = was }(gopher.MaxArrayIndex)
	Contain()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := message(t, `function evaluate() local t = {} t[67108862] = 1 return {message=t[67108862] .. " " .. #t .. " " .. next(t)} end`)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; got != "1 0 67108862" || allocated > 16<<20 {
		t.Errorf("%s, %d bytes", got, allocated)
	}
}
