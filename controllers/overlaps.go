// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// acting are the Cleaners that delete or change objects, and are not suspended. They are listed once, and kept up to
// date by the reconciliation of each, so that no reconciliation has to list all Cleaners.
type acting struct {
	mu sync.Mutex
	// cleaners are by name, with nothing but what says which objects they select. Nil until they were listed.
	cleaners map[string]*v1alpha1.Cleaner
	// version changes with them.
	version int64
}

// overlap is what was found of a Cleaner, and of which version.
type overlap struct {
	version int64
	words   string
}

// overlapWords says with which other Cleaner this one acts on the same objects. Empty when with none. It asks
// again only when a Cleaner that acts has changed.
func (r *CleanerReconciler) overlapWords(
	ctx context.Context,
	cleaner *v1alpha1.Cleaner,
	known *overlap,
) (string, error) {
	a := &r.acting
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cleaners == nil {
		all, err := r.Cleaners(ctx)
		if err != nil {
			return "", fmt.Errorf("looking for Cleaners that act on the same objects: %w", err)
		}
		a.cleaners, a.version = map[string]*v1alpha1.Cleaner{}, 1
		for i := range all {
			a.put(&all[i])
		}
		a.put(cleaner)
	}
	if known.version != a.version {
		*known = overlap{a.version, a.words(cleaner)}
	}
	return known.words, nil
}

// words names the first of those Cleaners in the order of their names, so that the words stay the same.
func (a *acting) words(cleaner *v1alpha1.Cleaner) string {
	if cleaner.EffectiveAction() == v1alpha1.ActionScan {
		return ""
	}
	first, others := "", 0
	for name, other := range a.cleaners {
		if name == cleaner.Name {
			continue
		}
		if kind, _ := v1alpha1.Overlap(cleaner, other); kind == "" {
			continue
		}
		if others++; first == "" || name < first {
			first = name
		}
	}
	switch others {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" Mind: it can act on the same objects as Cleaner %s; see kubectl cleaner doctor.", first)
	}
	return fmt.Sprintf(" Mind: it can act on the same objects as Cleaner %s and %d more; see kubectl cleaner doctor.", first, others-1)
}

// keep takes note of a Cleaner as it is now, and returns those that overlap, or did.
func (a *acting) keep(cleaner *v1alpha1.Cleaner) (others []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cleaners == nil {
		return nil
	}
	before := a.cleaners[cleaner.Name]
	if !a.put(cleaner) {
		return nil
	}
	return append(a.overlapping(before), a.overlapping(a.cleaners[cleaner.Name])...)
}

// put reports whether that changed anything. Its caller has the lock.
func (a *acting) put(cleaner *v1alpha1.Cleaner) (changed bool) {
	known, is := a.cleaners[cleaner.Name]
	switch {
	case cleaner.EffectiveAction() == v1alpha1.ActionScan || cleaner.IsSuspended():
		delete(a.cleaners, cleaner.Name)
		changed = is
	case !is || known.UID != cleaner.UID || known.Generation != cleaner.Generation:
		kept := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{
			Name: cleaner.Name, UID: cleaner.UID, Generation: cleaner.Generation,
		}}
		if action := cleaner.Spec.Action; action != nil {
			kept.Spec.Action = ptr.To(*action)
		}
		kept.Spec.ResourcePolicySet = *cleaner.Spec.ResourcePolicySet.DeepCopy()
		a.cleaners[cleaner.Name] = kept
		changed = true
	}
	if changed {
		a.version++
	}
	return changed
}

// forget takes note that a Cleaner is gone, and returns those that overlapped with it.
func (a *acting) forget(name string) (others []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	gone, is := a.cleaners[name]
	if !is {
		return nil
	}
	delete(a.cleaners, name)
	a.version++
	return a.overlapping(gone)
}

// overlapping are the other Cleaners that act on the same objects. None when there is no one.
func (a *acting) overlapping(one *v1alpha1.Cleaner) (names []string) {
	if one == nil {
		return nil
	}
	for name, other := range a.cleaners {
		if kind, _ := v1alpha1.Overlap(one, other); kind != "" && name != one.Name {
			names = append(names, name)
		}
	}
	return names
}
