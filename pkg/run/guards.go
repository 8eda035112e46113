// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// guards are what may speak against an object from outside of it, as far as it may change while the object does not.
// They are asked when a run judges, again after its intent, and when a run is taken over.
type guards struct {
	// action is the Cleaner's: a Scan notes what is protected, and reports it.
	action    v1alpha1.Action
	selectors []*selector.Selector
	// namespaces are the metadata of the objects' namespaces, by name. One that is gone is not among them. Nil when they
	// could not be read.
	namespaces map[string]*metav1.ObjectMeta
	// cascade are the objects that must stay, and would be deleted together with others.
	cascade *guard.Cascade
}

// against says why the object is to be left alone. Nil when nothing speaks against it.
func (g guards) against(verdict stage.Verdict) *ruling {
	if g.namespaces == nil {
		return nil // the view is not complete
	}
	namespace := g.namespaces[verdict.Namespace]
	if reason := cmp.Or(guard.InNamespace(verdict.Namespace, namespace), g.cascade.Reason(verdict.Object)); reason != "" {
		return protected(g.action, verdict, reason)
	}
	if !g.selectors[verdict.Selector].SelectsNamespace(verdict.Namespace, labelsOf(namespace)) {
		return changed("its namespace changed since it was judged, and is not selected any more")
	}
	return nil
}

// changed is the ruling on an object that is not chosen any more.
func changed(detail string) *ruling { return &ruling{result: v1alpha1.OutcomeChanged, detail: detail} }

// protected is the ruling on an object that is protected. A Scan only notes that.
func protected(action v1alpha1.Action, verdict stage.Verdict, reason string) *ruling {
	guard.Protect(action, &verdict, reason)
	return &ruling{result: verdict.Skip, detail: verdict.Reason}
}

// namespacesOf reads the metadata of namespaces anew: an annotation that was set meanwhile counts.
func namespacesOf(ctx context.Context, reader *selector.Reader, names []string) (map[string]*metav1.ObjectMeta, error) {
	found, err := reader.Namespaces(ctx, names)
	if err != nil {
		return nil, fmt.Errorf("finding out which namespaces are protected: %w", err)
	}
	return found, nil
}
