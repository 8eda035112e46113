// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// play sends so many requests at a time as the limit lets, and answers all of them, each round as the script says: the time that they
// take, or 429 for the first so many of them.
func play(l *limit, script string) (nows []string) {
	for _, word := range strings.Fields(script) {
		refused := 0
		took, err := time.ParseDuration(word)
		if err != nil {
			_, _ = fmt.Sscanf(word, "429x%d", &refused)
		}
		var numbers []int
		for range l.now {
			numbers = append(numbers, l.number())
		}
		for i, number := range numbers {
			if i < refused {
				l.refused(number)
			} else {
				l.answered(number, took)
			}
		}
		nows = append(nows, fmt.Sprint(l.now))
	}
	return nows
}

func TestLimit(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ script, want string }{
		"never more than at the beginning":          {"5ms 5ms 5ms", "16 16 16"},
		"one 429 halves it":                         {"5ms 429x1", "16 8"},
		"as many as were on their way count as one": {"5ms 429x16 429x8 429x4", "16 8 4 2"},
		"it does not go below one":                  {"429x1 429x1 429x1 429x1 429x1 429x1", "8 4 2 1 1 1"},
		"one more after each round":                 {"429x1 5ms 5ms 5ms", "8 9 10 11"},
		"but not sooner than after four":            {"429x1 429x1 429x1 429x1 5ms 5ms 5ms 5ms 5ms 5ms 5ms", "8 4 2 1 1 1 1 2 2 3 3"},
		"a slow server halves it":                   {"5ms 300ms 300ms 300ms", "16 8 4 2"},
		"what is quick for a person is not slow":    {"5ms 150ms 150ms", "16 16 16"},
		"a server that is always slow is not slow":  {"2s 2s 3s", "16 16 16"},
		"fourfold its best is":                      {"2s 9s", "16 8"},
		"it comes back":                             {"5ms 300ms 300ms 5ms 5ms", "16 8 4 5 6"},
		"at one it is not because of us":            {"5ms 1s 1s 1s 1s 1s 1s 1s 1s 1s 1s 1s 1s 1s", "16 8 4 2 2 1 1 1 1 1 1 1 1 2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLimit()
			if got := strings.Join(play(&l, test.script), " "); got != test.want {
				t.Errorf("with the answers %s it is %s, want %s", test.script, got, test.want)
			}
		})
	}
}

// What was sent before the limit was lowered does not raise it again.
func TestLateAnswersDoNotRaiseTheLimit(t *testing.T) {
	t.Parallel()
	l := newLimit()
	for range parallel {
		l.number()
	}
	l.refused(0)
	for number := 1; number < parallel; number++ {
		l.answered(number, time.Millisecond)
	}
	if l.now != parallel/2 || len(l.took) != 0 {
		t.Errorf("the limit is %d, and %d answers count", l.now, len(l.took))
	}
}
