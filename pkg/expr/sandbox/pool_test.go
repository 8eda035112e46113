// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// needsMuch is the body of a function that needs some 50 MiB.
// needsMuch takes more memory than a small session has, for long enough to be seen on a busy machine.
const needsMuch = `local t = {} for i = 1, 400000 do t[i] = {} end for i = 1, 1000000 do end `

// TestOutgrown uses more memory than a session has, in each way in which that can be: where another session may have more, that is what
// is said, and nothing else is.
func TestOutgrown(t *testing.T) {
	p := newPool(t, Config{})
	few, many := objectsOf(t, "a", "b"), someObjects(t, 10_000, 100)
	choose := func(s *Session, source string, objects []object.Object) error {
		chosen, err := s.Choose(t.Context(), source, objects)
		if err == nil && len(chosen) != 1 {
			t.Errorf("%d are chosen", len(chosen))
		}
		return err
	}
	for what, use := range map[string]func(s *Session) error{
		"evaluate": func(s *Session) error {
			_, err := s.Evaluate(t.Context(), "function evaluate() "+needsMuch+" return {matching = #t > 0} end", few[0])
			return err
		},
		"a stream": func(s *Session) error {
			got, err := judgeAll(t, s, "function evaluate() "+needsMuch+" return {matching = #t > 0} end", few...)
			if err == nil && !strings.HasPrefix(got[0], "a0 yes") {
				err = errors.New(got[0])
			}
			return err
		},
		"transform": func(s *Session) error {
			_, _, err := s.Transform(t.Context(), "function transform() "+needsMuch+" return {resource = obj} end", few[0])
			return err
		},
		"the chunk": func(s *Session) error {
			_, err := s.Evaluate(t.Context(), needsMuch+" function evaluate() return {matching = #t > 0} end", few[0])
			return err
		},
		"an aggregate": func(s *Session) error {
			return choose(s, "function evaluate() "+needsMuch+" return {resources = {{resource = resources[1]}}} end", few)
		},
		"many objects": func(s *Session) error {
			return choose(s, "function evaluate() return {resources = {{resource = resources[1]}}} end", many)
		},
	} {
		options := Options{ObjectTimeout: 30 * time.Second, Memory: SmallMemory}
		var outgrown *OutgrownError
		if err := use(open(t, p, options)); !errors.As(err, &outgrown) || outgrown.Memory != SmallMemory {
			t.Errorf("%s: got %v", what, err)
		}
		options.Memory = 0
		if err := use(open(t, p, options)); err != nil {
			t.Errorf("%s, with all that may be had: %v", what, err)
		}
		least := newPool(t, Config{MaxMemory: SmallMemory})
		if err := use(open(t, least, options)); err == nil || errors.As(err, &outgrown) {
			t.Errorf("%s, where nothing more may be had: %v", what, err)
		}
	}
}

// TestASessionThatIsOutgrownGoesOn as far as its memory is enough.
func TestASessionThatIsOutgrownGoesOn(t *testing.T) {
	s := open(t, newPool(t, Config{}), Options{ObjectTimeout: 30 * time.Second, Memory: SmallMemory})
	for range maxExhausted + 1 {
		_, err := s.Evaluate(t.Context(), "function evaluate() "+needsMuch+" end", configMap(t, "a", ""))
		if !is[*OutgrownError](err) {
			t.Fatalf("got %v", err)
		}
	}
	got, err := judgeAll(t, s, behave, objectsOf(t, "yes", "no")...)
	if diff := cmp.Diff([]string{"yes0 yes yes0 is yes", "no1 no"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// TestRest lets a session go on with another child, which has less memory.
func TestRest(t *testing.T) {
	s := open(t, newPool(t, Config{}), Options{ObjectTimeout: 30 * time.Second})
	for range 2 {
		if _, err := s.Evaluate(t.Context(), behave, configMap(t, "a", "")); err != nil {
			t.Error(err)
		}
		s.Rest(true)
		w := <-s.free
		if w.process != nil {
			t.Error("the child is there still")
		}
		s.free <- w
	}
	_, err := s.Evaluate(t.Context(), "function evaluate() "+needsMuch+" end", configMap(t, "a", ""))
	if !is[*OutgrownError](err) {
		t.Errorf("got %v", err)
	}
}
