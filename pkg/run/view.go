// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// view is everything that a run decides by, and what could not be read of it. Read makes it, and nobody changes it.
type view struct {
	// selectors are the Cleaner's, and selections how the list of each went.
	selectors  []*selector.Selector
	selections []selector.Selection
	// considered is how many objects were judged, and notEvaluated those that could not be.
	considered   int64
	notEvaluated []object.Outcome
	// matched are the objects that match, each once, in the order in which they were found; those that are protected by what they are
	// themselves say so. It is empty when an aggregated script has the objects: then marks are on these.
	matched *object.Verdicts
	marks   []selector.Mark
	// bytes is how much memory all of that takes of the run's share.
	bytes int64
	// namespaces are the metadata of the namespaces of all these objects, by name. One that is gone is not among them.
	namespaces map[string]*metav1.ObjectMeta
	// counts are in how many runs in a row each object has matched before this one, and counted is the run that counted last.
	// countsFault is why they could not be read.
	counts      guard.Counts
	counted     string
	countsFault error
	// totals are how many objects of each kind there are where the selectors look, and hidden is why objects of a kind cannot be seen
	// whole.
	totals map[schema.GroupKind]total
	hidden map[schema.GroupVersionKind]error
	// denied says why it is too early to ask for an object again that admission denied. Empty if it is not.
	denied func(object.Object) string
	// nowhere says which selectors look in a namespace that does not exist, or may not.
	nowhere []string
	// clock says why ages could not be judged.
	clock error
	// incomplete says why the view is not complete.
	incomplete error
}

// total is how many objects there are, or why that is not known.
type total struct {
	n   int64
	err error
}

func labelsOf(metadata *metav1.ObjectMeta) labels.Set {
	if metadata == nil {
		return nil
	}
	return metadata.Labels
}
