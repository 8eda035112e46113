// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/explain"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

type selecting struct {
	Name      string          `json:"name"`
	Action    v1alpha1.Action `json:"action"`
	Selectors []int           `json:"selectors"`
	// NotReady is why the Cleaner does not run: the reason of its condition Ready. Empty when it does.
	NotReady string `json:"notReady,omitempty"`
}

// findCleaners looks for Cleaners that select objects of the kind, in the namespace, with such labels.
func (j *job) findCleaners(ctx context.Context, r *Result) {
	var cleaners []v1alpha1.Cleaner
	err := cluster.List[v1alpha1.CleanerList](
		ctx,
		j.API,
		cluster.CleanerPath(""),
		func(cleaner *v1alpha1.Cleaner) { cleaners = append(cleaners, *cleaner) },
	)
	switch {
	case apierrors.IsNotFound(err) || ctx.Err() != nil:
		return // Cleaners are not installed
	case err != nil:
		r.CleanersUnread = terminal.OneLine(err.Error())
		j.Note("which Cleaners may select it is not known: %s", r.CleanersUnread)
		return
	}
	t := &explain.Judge{Namespaces: map[string]labels.Set{}}
	t.ReadNamespace(ctx, j.Reader, j.name.Namespace)
	o := &explain.Subject{Object: *j.found}
	for i := range cleaners {
		cleaner := &cleaners[i]
		found := selecting{Name: cleaner.Name, Action: cleaner.EffectiveAction(), NotReady: notReady(cleaner)}
		for n, spec := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
			if spec.Group == j.of.Group && spec.Kind == j.of.Kind && j.has(r, spec.Finding) &&
				selectsLabels(ctx, n, spec, o, t.Scope(spec, o)) {
				found.Selectors = append(found.Selectors, n)
			}
		}
		if len(found.Selectors) > 0 {
			r.Cleaners = append(r.Cleaners, found)
			j.addSince(ctx, r, cleaner)
		}
	}
}

// notReady is why a Cleaner does not run. Empty when it does, as far as its status says.
func notReady(cleaner *v1alpha1.Cleaner) string {
	ready := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionFalse {
		return ""
	}
	return ready.Reason
}

// has reports whether what a selector wants to be found was found. Without that it wants nothing of the kind.
func (j *job) has(r *Result, wanted *v1alpha1.FindingSelector) bool {
	if wanted != nil && len(wanted.Dialects) > 0 && j.marked != nil {
		return j.marked.Expired(j.Now(), wanted.Dialects...) != nil
	}
	return wanted == nil || slices.ContainsFunc(r.Findings, func(f search.Finding) bool { return f.Type == wanted.Type })
}

func selectsLabels(
	ctx context.Context,
	n int,
	spec v1alpha1.ResourceSelector,
	o *explain.Subject,
	scope selector.Scope,
) bool {
	part := v1alpha1.ResourceSelector{
		Group:        spec.Group,
		Version:      spec.Version,
		Kind:         spec.Kind,
		LabelFilters: spec.LabelFilters,
	}
	s, err := selector.New(n, part, selector.Judge{}, o.Created)
	if err != nil {
		return false
	}
	matches, _, err := s.Again(ctx, o.Object, scope)
	return err == nil && matches
}
