// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// warnings say what no restore brings back of what a plan touches, as far as the person may read that.
func (p *person) warnings(ctx context.Context, run *v1alpha1.CleanerRun) []string {
	cleaner, err := p.api.Cleaner(ctx, run.Spec.Cleaner)
	if err != nil {
		return []string{"It is not known which objects get a copy: the Cleaner cannot be read: " + terminal.OneLine(err.Error())}
	}
	return lossOf(cleaner, run)
}

// loss says what no restore brings back of objects of a kind that a Cleaner with the usual options deletes.
func loss(r *http.Request, _ *person) (int, any, error) {
	kind := schema.GroupVersionKind{Group: r.URL.Query().Get("group"), Kind: r.URL.Query().Get("kind")}
	answer := Loss{Warnings: []string{}}
	if why := journal.WhyKindLacksCopies(kind.GroupKind()); why != "" {
		answer.Warnings = append(answer.Warnings, noCopyOf(why))
	}
	if with := guard.DeletedWith([]object.Kind{{GroupVersionKind: kind}}, nil); with != "" {
		answer.Warnings = append(answer.Warnings, with)
	}
	return http.StatusOK, answer, nil
}

func noCopyOf(what string) string {
	return "No copy is kept of " + what + ": no restore brings those back."
}

// lossOf says which planned objects get no copy, and what is deleted together with them.
func lossOf(cleaner *v1alpha1.Cleaner, run *v1alpha1.CleanerRun) []string {
	var kinds []object.Kind
	lacks := false
	add := func(apiVersion, kind string, outcome v1alpha1.OutcomeResult) {
		if outcome == v1alpha1.OutcomePlanned {
			gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
			kinds = append(kinds, object.Kind{GroupVersionKind: gvk})
			lacks = lacks || journal.KindLacksCopies(cleaner, gvk.GroupKind())
		}
	}
	for _, t := range run.Status.Tallies { // of all, also of those that the record has no room for
		add(t.APIVersion, t.Kind, t.Outcome)
	}
	for i := range run.Status.Objects {
		o := &run.Status.Objects[i]
		add(o.APIVersion, o.Kind, o.Outcome)
	}
	all := []string{}
	if lacks {
		words := named(run, func(kind schema.GroupVersionKind) bool {
			return journal.KindLacksCopies(cleaner, kind.GroupKind())
		})
		all = append(all, noCopyOf(journal.MayLackCopies(cleaner))+words)
	}
	if run.Spec.Action != v1alpha1.ActionDelete {
		return all
	}
	if with := guard.DeletedWith(kinds, cleaner.Spec.DeleteOptions); with != "" {
		all = append(all, with+named(run, func(kind schema.GroupVersionKind) bool {
			return guard.TakesContent(object.Kind{GroupVersionKind: kind})
		}))
	}
	return all
}

// named names the first planned objects of the kinds. Empty when the record lists none.
func named(run *v1alpha1.CleanerRun, wanted func(schema.GroupVersionKind) bool) string {
	var tally cluster.Tally
	for i := range run.Status.Objects {
		o := &run.Status.Objects[i]
		if o.Outcome == v1alpha1.OutcomePlanned && wanted(schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)) {
			tally.Add(o.Kind, o.Namespace, o.Name)
		}
	}
	if tally.Words() == "" {
		return ""
	}
	return " The plan has, of such kinds, " + tally.Words() + "."
}
