// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// judgePods selects the Pods that have succeeded, as a run of a Cleaner does.
func judgePods(judge func(*sandbox.Session) (selector.Judge, error)) func(context.Context, *site) error {
	return func(ctx context.Context, s *site) error {
		session := s.pool.Open(sandbox.Options{Now: time.Now(), Memory: sandbox.SmallMemory}) // as a run begins
		defer session.Close()
		chosen, err := judge(session)
		if err != nil {
			return err
		}
		var found selector.Matches
		if err := s.selectInto(ctx, &found, podSelector(), chosen, s.load.Pods); err != nil {
			return err
		}
		if found.Verdicts.Len() != s.load.succeeded() {
			return fmt.Errorf("%d Pods matched, want %d", found.Verdicts.Len(), s.load.succeeded())
		}
		for _, c := range found.Verdicts.All() {
			if !hasSucceeded(indexOf(c.Name)) {
				return fmt.Errorf("%s matched, which has not succeeded", c.Object)
			}
		}
		return nil
	}
}

// script judges by one of the scripts measured.
func script(name string) func(*sandbox.Session) (selector.Judge, error) {
	return func(session *sandbox.Session) (selector.Judge, error) {
		source, err := readScript(name)
		return selector.Judge{Script: source, Session: session}, err
	}
}

// succeededCEL is scripts/succeeded.lua in CEL.
const succeededCEL = `has(object.status) && has(object.status.phase) && object.status.phase == "Succeeded"`

// conditions judges by CEL.
func conditions(*sandbox.Session) (selector.Judge, error) {
	program, err := cel.Compile([]v1alpha1.MatchCondition{{
		Name: "succeeded", Expression: succeededCEL,
	}})
	if err != nil {
		return selector.Judge{}, err
	}
	return selector.Judge{Conditions: program.NewRun(time.Now())}, nil
}

// nameOnly judges by CEL, and needs no more than metadata.
func nameOnly(*sandbox.Session) (selector.Judge, error) {
	program, err := cel.Compile(
		[]v1alpha1.MatchCondition{{Name: "succeeded", Expression: `object.metadata.name.endsWith("0")`}},
	)
	if err != nil {
		return selector.Judge{}, err
	}
	run := program.NewRun(time.Now())
	return selector.Judge{Conditions: run, MetadataOnly: run.ReadsMetadataOnly()}, nil
}

// findUnused selects the ConfigMaps that no Pod uses, by an aggregated script.
func findUnused(ctx context.Context, s *site) error {
	source, err := readScript("unused")
	if err != nil {
		return err
	}
	session := s.pool.Open(sandbox.Options{Now: time.Now()})
	defer session.Close()
	found := selector.Matches{Aggregate: session.Aggregate(source)}
	if err := s.selectInto(ctx, &found, podSelector(), selector.Judge{}, s.load.Pods); err != nil {
		return err
	}
	if err := s.selectInto(ctx, &found, configMapSelector(), selector.Judge{}, s.load.ConfigMaps); err != nil {
		return err
	}
	selected, err := found.Aggregate.Finish(ctx)
	if err != nil {
		return err
	}
	unused := 0
	for _, one := range selected {
		switch {
		case !isOurs(one.Object.Namespace): // the API server has ConfigMaps of its own
		case one.Object.Kind.Kind != "ConfigMap" || indexOf(one.Object.Name) < s.load.used():
			return fmt.Errorf("%s was selected, which is in use", one.Object)
		default:
			unused++
		}
	}
	if want := s.load.ConfigMaps - s.load.used(); unused != want {
		return fmt.Errorf("%d unused ConfigMaps were selected, want %d", unused, want)
	}
	return nil
}

func isOurs(namespace string) bool { return strings.HasPrefix(namespace, namespacePrefix) }

// selectInto selects objects of one kind in all namespaces, of which there must be so many.
func (s *site) selectInto(
	ctx context.Context,
	found *selector.Matches,
	spec v1alpha1.ResourceSelector,
	judge selector.Judge,
	want int,
) error {
	chosen, err := selector.New(0, spec, judge, time.Now())
	if err != nil {
		return err
	}
	result := chosen.Select(ctx, selector.NewReader(s.client, clock.RealClock{}), found)
	if result.Err != nil {
		return result.Err
	}
	if result.Considered < int64(want) {
		return fmt.Errorf("%d objects of kind %s were judged, want %d", result.Considered, spec.Kind, want)
	}
	return nil
}
