// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

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
}

// compile compiles what the Cleaner uses. All problems are told at once, each with its field; what this version cannot do
// for the scripts is one.
func compile(cleaner *v1alpha1.Cleaner) (*scripts, error) {
	s := &scripts{sessions: map[*lua.Program]*lua.Session{}}
	var errs []error
	for _, field := range cleaner.Unsupported() {
		errs = append(errs, fmt.Errorf("%s is not supported by this version, and the Cleaner would do wrong without it: remove it if it would not", field))
	}
	program := func(field, source string) *lua.Program {
		if source == "" {
			return nil
		}
		compiled, err := lua.Compile(source)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", field, err))
		}
		return compiled
	}
	for i, sel := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		s.evaluate = append(s.evaluate, program(fmt.Sprintf("resourceSelectors[%d].evaluate", i), sel.Evaluate))
	}
	s.aggregate = program("aggregatedSelection", cleaner.Spec.ResourcePolicySet.AggregatedSelection)
	s.transform = program("transform", cleaner.Spec.Transform)
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
			return false, "", fmt.Errorf("evaluate: %w", err)
		}
		return match.Matching, match.Message, nil
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
		return nil, fmt.Errorf("aggregatedSelection: %w", err)
	}
	picked := make([]object.Candidate, 0, len(selected))
	for _, match := range selected {
		candidate := candidates[match.Index]
		if match.Message != "" {
			candidate.Message = match.Message
		}
		picked = append(picked, candidate)
	}
	return picked, nil
}

// change is the transform script.
func (s *scripts) change(ctx context.Context, o object.Object) (map[string]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	patch, _, err := s.session(s.transform).Transform(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("transform: %w", err)
	}
	return patch, nil
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
