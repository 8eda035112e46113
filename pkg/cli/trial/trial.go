// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package trial is kubectl cleaner test: it tries Cleaners on the objects of their test directories, and says which it
// should have judged otherwise.
package trial

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
	"github.com/kubecleaner/kubecleaner/pkg/cli/explain"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// trial tries one Cleaner on the objects of its directory.
type trial struct {
	explain.Judge
	files  *directory
	result *result
	// mask hides what stands in the Secrets of the directory.
	mask func(string) string
	// protection is what an operator without flags protects.
	protection guard.Protection
}

// run tries everything. What goes otherwise than the files say is a failure of the result; an error ends all.
func (t *trial) run(ctx context.Context) error {
	t.Namespaces = namespaceLabels(t.files.resources)
	t.adapt()
	aggregated := t.Cleaner.Spec.ResourcePolicySet.AggregatedSelection
	var err error
	if t.Finds, err = t.lookup(); err != nil {
		return err
	}
	if err = t.Open(func(spec v1alpha1.ResourceSelector) (selector.Judge, error) {
		given, err := t.files.inputs.given(&spec)
		return selector.Judge{Given: given, Aggregated: aggregated != ""}, err
	}); err != nil {
		return err
	}
	if aggregated != "" {
		t.tryTogether(ctx)
	} else {
		t.tryEach(ctx)
	}
	if t.files.hasUpdated {
		t.tryTransform(ctx)
	}
	t.noteProtected()
	return nil
}

// noteProtected notes which objects match, and are left alone by a run all the same.
func (t *trial) noteProtected() {
	action := t.Cleaner.EffectiveAction()
	if action == v1alpha1.ActionScan {
		return
	}
	namespaces := map[string]*metav1.ObjectMeta{}
	for _, o := range t.files.resources {
		if guard.IsNamespace(o.Kind.Group, o.Kind.Kind) {
			namespaces[o.Name] = &o.Metadata
		}
	}
	for _, o := range t.files.matching {
		why, err := t.protection.Reason(action, o.Object, namespaces[o.Namespace])
		if err != nil {
			why = err.Error()
		}
		if why != "" {
			t.note(o, "a run would leave it alone: "+why)
		}
	}
}

// lookup finds what the selectors' findings ask for: all objects of the directory are the cluster. One that stands in
// several files is one object.
func (t *trial) lookup() (survey.Lookup, error) {
	var objects []object.Object
	uids := map[string]types.UID{}
	for _, o := range slices.Concat(t.files.matching, t.files.nonMatching, t.files.resources) {
		if _, known := uids[o.identity()]; known {
			continue
		}
		uids[o.identity()] = o.UID
		there := o.Object
		there.Kind = dump.KindOf(o.Kind.GroupVersionKind)
		objects = append(objects, there)
	}
	found, err := survey.Among(t.Cleaner, objects, t.Now)
	if err != nil {
		return nil, err
	}
	return func(i int) func(object.Object) (selector.Finding, bool) {
		ask := found(i)
		if ask == nil {
			return nil
		}
		return func(o object.Object) (selector.Finding, bool) {
			o.UID = uids[(&tested{Subject: explain.Subject{Object: o}}).identity()]
			return ask(o)
		}
	}, nil
}

// namespaceLabels are the labels of the namespaces among the objects; nil for one that is ending.
func namespaceLabels(objects []*tested) map[string]labels.Set {
	all := map[string]labels.Set{}
	for _, o := range objects {
		if o.Kind.Group != "" || o.Kind.Kind != "Namespace" {
			continue
		}
		all[o.Name] = labels.Merge(o.Metadata.Labels, labels.Set{"kubernetes.io/metadata.name": o.Name}) // the API server's
		if o.Deleting || object.JSON(o.Raw).At("status", "phase").Text() == "Terminating" {
			all[o.Name] = nil
		}
	}
	return all
}

// tryEach tries a Cleaner that judges objects one by one.
func (t *trial) tryEach(ctx context.Context) {
	for _, o := range t.files.matching {
		v := t.Verdict(ctx, &o.Subject)
		switch {
		case v.Err != nil:
			t.fail(o, "should match, but could not be judged", t.located(v.Err.Error()))
		case !v.Matches:
			t.fail(o, "should match, but does not", t.Why(&o.Subject, v.Refusals)...)
		default:
			t.result.pass(o)
		}
	}
	for _, o := range t.files.nonMatching {
		v := t.Verdict(ctx, &o.Subject)
		switch {
		case v.Err != nil:
			t.fail(o, "should not match, but could not be judged", t.located(v.Err.Error()))
		case v.Matches:
			t.fail(o, "should not match, but does", v.Because)
		default:
			t.result.pass(o)
		}
	}
}

// tryTogether tries a Cleaner with an aggregatedSelection. It sees resources.yaml or, without that, what the other
// files hold.
func (t *trial) tryTogether(ctx context.Context) {
	input := t.files.resources
	if !t.files.hasResources {
		input = append(append(input, t.files.matching...), t.files.nonMatching...)
	}
	candidates, unchosen, refusals, ok := t.candidates(ctx, input)
	if !ok {
		return
	}
	var objects []object.Object
	for _, o := range candidates {
		objects = append(objects, o.Object)
	}
	selected, err := t.Session.Choose(ctx, t.Cleaner.Spec.ResourcePolicySet.AggregatedSelection, objects, unchosen...)
	if err != nil {
		t.result.fail(
			failure{
				File:    t.files.cleaner.File,
				Line:    t.files.cleaner.Line,
				Message: t.mask(t.located("aggregatedSelection: " + err.Error())),
			},
		)
		return
	}
	chosen := map[string]string{}
	for _, s := range selected {
		chosen[candidates[s.Index].identity()] = s.Message
	}
	expected := map[string]bool{}
	for _, o := range t.files.matching {
		id := o.identity()
		expected[id] = true
		if _, is := chosen[id]; is {
			t.result.pass(o)
			continue
		}
		t.fail(o, "should match, but does not", refusals[id]...)
	}
	t.unexpected(candidates, chosen, expected)
}

// unexpected are the objects that the aggregated script chose and that it should not.
func (t *trial) unexpected(candidates []*tested, chosen map[string]string, expected map[string]bool) {
	nonMatching := map[string]bool{}
	for _, o := range t.files.nonMatching {
		nonMatching[o.identity()] = true
		if _, is := chosen[o.identity()]; !is {
			t.result.pass(o)
		}
	}
	seen := map[string]bool{}
	for _, o := range candidates {
		id := o.identity()
		message, is := chosen[id]
		if !is || expected[id] || seen[id] || (!t.files.hasMatching && !nonMatching[id]) {
			continue
		}
		seen[id] = true
		t.fail(o, "should not match, but does", explain.Said("aggregatedSelection chose it", t.mask(message)))
	}
}

// candidates are the objects that the selectors select for the aggregated script, each once, in the order of a run, and
// the places of those that it may not choose. refusals say why an object would not be chosen. It is not ok when an
// object could not be judged.
func (t *trial) candidates(
	ctx context.Context,
	input []*tested,
) (given []*tested, unchosen []int, refusals map[string][]string, ok bool) {
	refusals = map[string][]string{}
	mayChoose := map[*tested]bool{} // of those that are given
	ok = true
	for i := range t.Selectors {
		for _, o := range input {
			v := explain.Verdict{}
			t.Ask(ctx, i, &o.Subject, &v)
			_, seen := mayChoose[o]
			switch id := o.identity(); {
			case v.Err != nil:
				t.fail(o, "could not be judged", t.located(v.Err.Error()))
				ok = false
			case v.Matches && !seen:
				mayChoose[o] = !t.Selectors[i].Excludes(o.Object)
				given = append(given, o)
			case v.Matches:
				mayChoose[o] = mayChoose[o] || !t.Selectors[i].Excludes(o.Object)
			default:
				refusals[id] = append(refusals[id], v.Refusals...)
			}
		}
	}
	for i, o := range given {
		if !mayChoose[o] {
			unchosen = append(unchosen, i)
		}
	}
	t.refuse(input, mayChoose, refusals)
	return given, unchosen, refusals, ok
}

// refuse says why each object would not be chosen, of which refusals has what the selectors say. Of those that are
// given to the script, mayChoose says whether it may choose them.
func (t *trial) refuse(input []*tested, mayChoose map[*tested]bool, refusals map[string][]string) {
	for _, o := range input {
		id := o.identity()
		switch may, seen := mayChoose[o]; {
		case seen && !may:
			refusals[id] = []string{explain.BeingDeleted}
		case seen:
			refusals[id] = []string{"aggregatedSelection did not choose it"}
		default:
			refusals[id] = t.Why(&o.Subject, refusals[id])
		}
	}
	for _, o := range t.files.matching {
		if _, is := refusals[o.identity()]; !is {
			refusals[o.identity()] = []string{"it is not in " + resourcesFile}
		}
	}
}

// fail notes that an object was not dealt with as it should be.
func (t *trial) fail(o *tested, message string, details ...string) {
	t.result.fail(failure{File: o.file, Line: o.line, Object: o.String(), Message: message, Details: details})
}
