// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/cel/environment"
)

// A new version of Kubernetes may bring new functions. This test then says which are missing here.
func TestAllFunctionsOfKubernetesAreThere(t *testing.T) {
	kubernetes := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv()
	ours, err := newEnv()
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string][]string{}
	for name, function := range kubernetes.Functions() {
		have := map[string]bool{}
		if own, ok := ours.Functions()[name]; ok {
			for _, overload := range own.OverloadDecls() {
				have[overload.ID()] = true
			}
		}
		for _, overload := range function.OverloadDecls() {
			if !have[overload.ID()] {
				missing[name] = append(missing[name], overload.ID())
			}
		}
		slices.Sort(missing[name])
		if len(missing[name]) == 0 {
			delete(missing, name)
		}
	}
	// What needs an authorizer, which there is none of.
	want := map[string][]string{
		"allowed": {"decision_allowed"}, "check": {"pathcheck_check", "resourcecheck_check"}, "error": {"decision_error"},
		"errored": {"decision_errored"}, "fieldSelector": {"authorizer_fieldselector"}, "group": {"authorizer_group"},
		"labelSelector": {"authorizer_labelselector"}, "name": {"resourcecheck_name"}, "namespace": {"resourcecheck_namespace"},
		"path": {"authorizer_path"}, "reason": {"decision_reason"}, "resource": {"groupcheck_resource"},
		"serviceAccount": {"authorizer_serviceaccount"}, "subresource": {"resourcecheck_subresource"},
	}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Error(diff)
	}
	var macros, ownMacros []string
	for _, macro := range kubernetes.Macros() {
		macros = append(macros, macro.MacroKey())
	}
	for _, macro := range ours.Macros() {
		ownMacros = append(ownMacros, macro.MacroKey())
	}
	slices.Sort(macros)
	slices.Sort(ownMacros)
	if diff := cmp.Diff(slices.Compact(macros), slices.Compact(ownMacros)); diff != "" {
		t.Error(diff)
	}
}

// A function that is not found when a program is made could not be paid for, and is refused.
func TestAllFunctionsCanBeCalled(t *testing.T) {
	env, err := newEnv()
	if err != nil {
		t.Fatal(err)
	}
	guard, err := newGuard(env)
	if err != nil {
		t.Fatal(err)
	}
	// These are operators for which cel-go has no functions.
	operator := map[string]bool{"_==_": true, "_!=_": true, "_&&_": true, "_||_": true, "_?_:_": true, "_[_]": true, "_?._": true, "_[?_]": true}
	for name, function := range env.Functions() {
		for _, overload := range function.OverloadDecls() {
			if guard.overloads[overload.ID()] == nil && guard.overloads[name] == nil && !operator[name] && !isConstant(name) {
				t.Errorf("%s (%s)", name, overload.ID())
			}
		}
	}
}
