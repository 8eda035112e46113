// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// maxLooks is how many objects are read to see whether a copy of them would be kept.
const maxLooks = 50

// printUncopied says what a run deletes without a copy, before anybody is asked whether to go on.
func (o *options) printUncopied(ctx context.Context, api *cluster.Client, cleaner *v1alpha1.Cleaner) {
	lacking := journal.MayLackCopies(cleaner)
	if lacking != "" && cleaner.EffectiveAction() == v1alpha1.ActionDelete && !onlyReports(cleaner) {
		o.Note("no copy is kept of %s%s", lacking, lastUncopied(ctx, api, cleaner))
	}
}

// lastUncopied names those objects that the last run matched, that are still there, and of which no copy is kept: a run
// now may touch them.
func lastUncopied(ctx context.Context, api *cluster.Client, cleaner *v1alpha1.Cleaner) string {
	last := cleaner.Status.LastRun
	if last == nil {
		return ""
	}
	var lacks, unsure cluster.Tally
	looks := 0
	for i := range last.Matches {
		o := &last.Matches[i]
		kind := dump.KindOf(schema.FromAPIVersionAndKind(o.APIVersion, o.Kind))
		if !journal.KindLacksCopies(cleaner, kind.GroupKind()) {
			continue
		}
		if looks++; looks > maxLooks {
			unsure.Add(o.Kind, o.Namespace, o.Name)
			continue
		}
		switch lacksCopy, err := isUncopied(ctx, api, cleaner, kind, o); {
		case err != nil:
			unsure.Add(o.Kind, o.Namespace, o.Name)
		case lacksCopy:
			lacks.Add(o.Kind, o.Namespace, o.Name)
		}
	}
	text := ""
	if words := lacks.Words(); words != "" {
		which := ""
		if last.Matched > int64(len(last.Matches)) { // it lists the first only
			which = ", for example"
		}
		text += "; its last run matched some of these" + which + ": " + words
	}
	if words := unsure.Words(); words != "" {
		text += "; perhaps its last run also matched some of these: " + words
	}
	return text
}

// isUncopied reports whether no copy would be kept of an object. It is false of one that is gone.
func isUncopied(
	ctx context.Context,
	api *cluster.Client,
	cleaner *v1alpha1.Cleaner,
	kind object.Kind,
	o *v1alpha1.ObjectOutcome,
) (bool, error) {
	body, err := cluster.Send(ctx, api.Raw.Get().AbsPath(kind.Path(o.Namespace, o.Name)))
	if apiserver.IsAbsent(err, o.Name) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	found, err := object.New(kind, body)
	return err == nil && journal.WhyNoCopy(cleaner, found) != "", err
}
