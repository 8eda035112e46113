// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// scripts are a Cleaner's scripts, compiled once for a run. The sessions are opened when they are first used. It is safe
// for concurrent use: one script runs at a time.
type scripts struct {
	evaluate  []*lua.Program // nil where a selector has none
	aggregate *lua.Program
	transform *lua.Program

	mu       sync.Mutex
	options  lua.Options
	sessions map[*lua.Program]*lua.Session
	// messages are what the transform script said, by object.
	messages map[types.UID]string
}

// compile compiles what the Cleaner uses. All problems are told at once, each with its field; what this version cannot do
// for the scripts is one.
func compile(cleaner *v1alpha1.Cleaner) (*scripts, error) {
	s := &scripts{sessions: map[*lua.Program]*lua.Session{}, messages: map[types.UID]string{}}
	var errs []error
	for _, field := range cleaner.Unsupported() {
		errs = append(errs, fmt.Errorf("%s is not supported by this version, and the Cleaner would do wrong without it: remove it if it would not", field))
	}
	program := func(field, function, source string) *lua.Program {
		if source == "" {
			return nil
		}
		if !strings.Contains(source, function) {
			errs = append(errs, fmt.Errorf("%s: the script defines no function %s", field, function))
		}
		compiled, err := lua.Compile(source)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", field, err))
		}
		return compiled
	}
	for i, sel := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		s.evaluate = append(s.evaluate, program(fmt.Sprintf("resourceSelectors[%d].evaluate", i), "evaluate", sel.Evaluate))
	}
	s.aggregate = program("aggregatedSelection", "evaluate", cleaner.Spec.ResourcePolicySet.AggregatedSelection)
	s.transform = program("transform", "transform", cleaner.Spec.Transform)
	if cleaner.EffectiveAction() == v1alpha1.ActionTransform && cleaner.Spec.Transform == "" {
		errs = append(errs, errors.New("transform: action Transform needs a script"))
	}
	return s, errors.Join(errs...)
}

// judge is the i-th selector's script. Nil when it has none.
func (s *scripts) judge(i int) selector.Judge {
	program := s.evaluate[i]
	if program == nil {
		return nil
	}
	return func(ctx context.Context, o object.Object) (bool, string, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		match, err := s.session(program).Evaluate(ctx, o)
		if err != nil {
			return false, "", masked("evaluate", err, o)
		}
		return match.Matching, object.Mask(match.Message, o), nil
	}
}

// pick runs the aggregated script over the candidates. Its messages stand before the selectors'.
func (s *scripts) pick(ctx context.Context, candidates []object.Candidate) ([]object.Candidate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	objects := make([]object.Object, len(candidates))
	for i := range candidates {
		objects[i] = candidates[i].Object
	}
	selected, err := s.session(s.aggregate).Aggregate(ctx, objects)
	if err != nil {
		return nil, masked("aggregatedSelection", err, objects...)
	}
	picked := make([]object.Candidate, 0, len(selected))
	for _, match := range selected {
		candidate := candidates[match.Index]
		if match.Message != "" {
			candidate.Message = object.Mask(match.Message, objects...)
		}
		picked = append(picked, candidate)
	}
	return picked, nil
}

// change is the transform script.
func (s *scripts) change(ctx context.Context, o object.Object) (map[string]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	patch, message, err := s.session(s.transform).Transform(ctx, o)
	if err != nil {
		return nil, masked("transform", err, o)
	}
	if message != "" {
		s.messages[o.UID] = object.Mask(message, o)
	}
	return patch, nil
}

// masked is a script's error, without the values of Secrets.
func masked(script string, err error, objects ...object.Object) error {
	text := script + ": " + err.Error()
	if clean := object.Mask(text, objects...); clean != text {
		return errors.New(clean)
	}
	return fmt.Errorf("%s: %w", script, err)
}

// messageOf is what the transform script said about an object.
func (s *scripts) messageOf(o object.Object) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages[o.UID]
}

func (s *scripts) session(program *lua.Program) *lua.Session {
	session, ok := s.sessions[program]
	if !ok {
		session = program.NewSession(s.options)
		s.sessions[program] = session
	}
	return session
}

// open sets the time that scripts see, and where their print goes.
func (s *scripts) open(now time.Time, printed func(line string)) {
	s.options = lua.Options{Now: now, Seed: now.Unix(), Print: printed}
}

func (s *scripts) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		session.Close()
	}
}
