// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/summary"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// view is everything that a run decides by, and what could not be read of it. Read makes it, and nobody changes it.
type view struct {
	// selectors are the Cleaner's, and selections how the list of each went.
	selectors  []*selector.Selector
	selections []selector.Selection
	// considered is how many objects were judged, and notEvaluated those that could not be, each once, with their UIDs.
	considered   int64
	notEvaluated []stage.Outcome
	unjudgedUIDs map[types.UID]bool
	// matched are the objects that match, each once, in the order in which they were found; those that are protected by
	// what they are themselves say so. It is empty when an aggregated script has the objects: then marks are on these.
	matched *stage.Verdicts
	marks   []selector.Mark
	// mask hides the values of the Secrets that an aggregated script was given. Nil when it was given none.
	mask func(string) string
	// bytes is how much memory all of that takes of the run's share.
	bytes int64
	// namespaces are the metadata of the namespaces of all these objects, by name. One that is gone is not among them.
	namespaces map[string]*metav1.ObjectMeta
	// counts are in how many runs in a row each object has matched before this one, and counted is the run that counted
	// last. countsFault is why they could not be read.
	counts      guard.Counts
	counted     string
	countsFault error
	// findings are what the selectors' findings were looked for and found. Nil when they ask for none.
	findings *survey.Findings
	// totals are how many objects of each kind there are where the selectors look, and hidden is why objects of a kind
	// cannot be seen whole.
	totals map[schema.GroupKind]total
	hidden map[schema.GroupVersionKind]error
	// denied says why it is too early to ask for an object again that admission denied. Empty if it is not.
	denied func(object.Object) string
	// emptyScopes says which selectors look in a namespace that does not exist, or may not.
	emptyScopes []string
	// clock says why ages could not be judged.
	clock error
	// unread says why not everything was read, and unjudged why objects could not be judged. See whyIncomplete.
	unread, unjudged error
}

// total is how many objects there are, or why that is not known.
type total struct {
	n   int64
	err error
}

// addNotEvaluated adds what a selector could not judge. What another one could not judge either has its outcome.
func (v *view) addNotEvaluated(outcomes []stage.Outcome) {
	if v.unjudgedUIDs == nil && len(outcomes) > 0 {
		v.unjudgedUIDs = map[types.UID]bool{}
	}
	for _, outcome := range outcomes {
		if outcome.UID == "" || !v.unjudgedUIDs[outcome.UID] {
			v.unjudgedUIDs[outcome.UID] = true
			v.notEvaluated = append(v.notEvaluated, outcome)
		}
	}
}

// whyIncomplete says why the view is not complete: then nothing is touched. Objects that could not be judged do not
// matter where the Cleaner says so, if they are few and no right is missing: an aggregated script must not miss one.
func (v *view) whyIncomplete(cleaner *v1alpha1.Cleaner) error {
	skips := cleaner.Spec.OnPartialView == v1alpha1.PartialViewSkip &&
		cleaner.Spec.ResourcePolicySet.AggregatedSelection == ""
	isForbidden := func(o stage.Outcome) bool { return summary.Forbidden(o.Err) }
	switch {
	case v.unjudged == nil:
		return v.unread
	case !skips, slices.ContainsFunc(v.notEvaluated, isForbidden):
		return errors.Join(v.unread, v.unjudged)
	}
	if tooMany := v.tooManyUnjudged(); tooMany != nil {
		return errors.Join(v.unread, tooMany, v.unjudged)
	}
	return v.unread
}

// unjudgedByInputs says why objects could not be judged that are judged by events, metrics or logs: these are of
// several objects.
func (v *view) unjudgedByInputs(cleaner *v1alpha1.Cleaner) error {
	if !cleaner.Spec.ResourcePolicySet.WantsInputs() {
		return nil
	}
	return v.unjudged
}

// tooManyUnjudged says that too many objects could not be judged, of one selector or of all: they may share objects.
func (v *view) tooManyUnjudged() error {
	most := int64(0)
	for _, of := range v.selections {
		if err := guard.Unjudged(int64(len(of.NotEvaluated)), of.Considered); err != nil {
			return err
		}
		most = max(most, of.Considered)
	}
	return guard.Unjudged(int64(len(v.notEvaluated)), most)
}

func labelsOf(metadata *metav1.ObjectMeta) labels.Set {
	if metadata == nil {
		return nil
	}
	return metadata.Labels
}
