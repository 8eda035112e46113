// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

// expectation is what is to be found of an object.
type expectation struct {
	scenario *scenario
	// types are types of findings, each with a "?" when unknown, and confidence is that of a type, where it matters.
	types      []string
	confidence map[string]string
	// isManaged says of which types it is known that something manages the object.
	isManaged map[string]bool
	// reason is a part of the reason of each finding.
	reason string
}

// expect adds what is expected of the scenario's objects, by their names as findings have them. It returns what is wrong with it.
func (s *scenario) expect(names map[string]string, expected map[string]expectation) (problems []string) {
	for _, key := range slices.Concat(slices.Collect(maps.Keys(s.Expect)), slices.Collect(maps.Keys(s.Reasons))) {
		if names[key] == "" {
			objects := slices.Sorted(maps.Keys(names))
			problems = append(problems, fmt.Sprintf("%s: %q expects something of %s, which is not among its objects: %v", s.file, s.Scenario, key, objects))
		}
	}
	for key, name := range names {
		e := expectation{scenario: s, confidence: map[string]string{}, isManaged: map[string]bool{}, reason: s.Reasons[key]}
		if want := cmp.Or(s.Expect[key], "used"); want != "used" {
			for typ := range strings.SplitSeq(want, ",") {
				typ, isManaged := strings.CutSuffix(strings.TrimSpace(typ), " managed")
				typ, confidence, _ := strings.Cut(typ, "(")
				e.isManaged[typ] = isManaged
				e.types = append(e.types, typ)
				e.confidence[typ] = strings.TrimSuffix(confidence, ")")
			}
		}
		if _, twice := expected[name]; twice {
			problems = append(problems, fmt.Sprintf("%s: %q has %s, as another scenario has", s.file, s.Scenario, name))
		}
		expected[name] = e
	}
	return problems
}

// score counts what was right and what was not, for one kind and type.
type score struct{ right, wrong, missed int }

// compare tells every difference, and counts.
func compare(found []*finding.Finding, expected map[string]expectation) (different []string, scores map[string]*score) {
	scores = map[string]*score{}
	of := func(kind, typ string) *score {
		row := kind + " " + typ
		scores[row] = cmp.Or(scores[row], &score{})
		return scores[row]
	}
	isFound := map[[2]string]bool{}
	for i := range found {
		f := found[i]
		name, typ, e := f.String(), typeOf(f), expected[f.String()]
		isFound[[2]string{name, typ}] = true
		if f.Reason == "" || !strings.Contains(f.Reason, e.reason) {
			different = append(different, fmt.Sprintf("reason: %s is %s: %q, and not: %q (%s)", name, typ, f.Reason, e.reason, e))
		}
		switch {
		case !slices.Contains(e.types, typ):
			of(f.Kind.Kind, typ).wrong++
			different = append(different, fmt.Sprintf("wrong: %s is %s: %s (%s)", name, typ, f.Reason, e))
		case e.confidence[typ] != "" && e.confidence[typ] != string(f.Confidence):
			different = append(different, fmt.Sprintf("confidence: %s is %s(%s): %s (%s)", name, typ, f.Confidence, f.Reason, e))
			of(f.Kind.Kind, typ).right++
		case e.isManaged[typ] != (f.Managed != ""):
			different = append(different, fmt.Sprintf("managed: %s is said to be managed by %q (%s)", name, f.Managed, e))
			of(f.Kind.Kind, typ).right++
		default:
			of(f.Kind.Kind, typ).right++
		}
	}
	for name, e := range expected {
		kind, _, _ := strings.Cut(name, " ")
		for _, typ := range e.types {
			if !isFound[[2]string{name, typ}] {
				of(kind, typ).missed++
				different = append(different, fmt.Sprintf("missed: %s is not %s (%s)", name, typ, e))
			}
		}
	}
	slices.Sort(different)
	return different, scores
}

// String says which scenario expects what.
func (e expectation) String() string {
	if e.scenario == nil {
		return "of no scenario"
	}
	return fmt.Sprintf("%s, %s: %q expects %v", e.scenario.file, e.scenario.namespace, e.scenario.Scenario, e.types)
}
