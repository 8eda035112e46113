// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// acting are the Cleaners that delete or change objects, can run, and are not suspended. They are listed once, and kept
// up to date by the reconciliation of each, so that no reconciliation has to list all Cleaners.
type acting struct {
	mu sync.Mutex
	// cleaners are by name. Nil until they were listed.
	cleaners map[string]*actor
	// version changes with them.
	version int64
}

// actor is what is kept of a Cleaner.
type actor struct {
	uid        types.UID
	generation int64
	reach      *v1alpha1.Reach
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
		a.cleaners, a.version = map[string]*actor{}, 1
		for i := range all {
			a.put(&all[i], !isRefused(&all[i])) // until its own reconciliation says more
		}
	}
	if a.put(cleaner, true) { // another may have listed them since keep was called
		r.lookAgain(a.overlapping(cleaner.Name, cleaner.Reach()))
	}
	if known.version != a.version {
		*known = overlap{a.version, a.words(cleaner)}
	}
	return known.words, nil
}

// words names the first of those Cleaners in the order of their names, so that the words stay the same.
func (a *acting) words(cleaner *v1alpha1.Cleaner) string {
	if cleaner.IsSuspended() {
		return ""
	}
	others := a.overlapping(cleaner.Name, cleaner.Reach())
	switch len(others) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" Note: it can act on the same objects as Cleaner %s; see kubectl cleaner doctor.", others[0])
	}
	return fmt.Sprintf(" Note: it can act on the same objects as Cleaner %s and others; see kubectl cleaner doctor.",
		slices.Min(others))
}

// keep takes note of a Cleaner as it is now, and whether it can run. It returns those that overlap, or did. A Cleaner
// that can run is kept before overlapWords is asked about it: of two at the same time, one always sees the other.
func (a *acting) keep(cleaner *v1alpha1.Cleaner, canRun bool) (others []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cleaners == nil {
		return nil
	}
	before := a.cleaners[cleaner.Name].reaches()
	if !a.put(cleaner, canRun) {
		return nil
	}
	after := a.cleaners[cleaner.Name].reaches()
	return append(a.overlapping(cleaner.Name, before), a.overlapping(cleaner.Name, after)...)
}

// put reports whether that changed anything. Its caller has the lock.
func (a *acting) put(cleaner *v1alpha1.Cleaner, canRun bool) (changed bool) {
	known, is := a.cleaners[cleaner.Name]
	switch {
	case !canRun || cleaner.EffectiveAction() == v1alpha1.ActionScan || cleaner.IsSuspended():
		delete(a.cleaners, cleaner.Name)
		changed = is
	case !is || known.uid != cleaner.UID || known.generation != cleaner.Generation:
		a.cleaners[cleaner.Name] = &actor{cleaner.UID, cleaner.Generation, cleaner.Reach()}
		changed = true
	}
	if changed {
		a.version++
	}
	return changed
}

// isRefused reports whether the status says that the Cleaner cannot run. One whose schedule is stopped still can.
func isRefused(cleaner *v1alpha1.Cleaner) bool {
	ready := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionFalse && ready.Reason != v1alpha1.ReasonBudgetExhausted
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
	return a.overlapping(name, gone.reach)
}

// overlapping are the other Cleaners that act on the same objects.
func (a *acting) overlapping(name string, reach *v1alpha1.Reach) (names []string) {
	for other, actor := range a.cleaners {
		if kind, _ := v1alpha1.Overlap(reach, actor.reach); kind != "" && other != name {
			names = append(names, other)
		}
	}
	return names
}

// reaches is on which objects a Cleaner acts that is kept. Nil is one that is not.
func (a *actor) reaches() *v1alpha1.Reach {
	if a == nil {
		return nil
	}
	return a.reach
}
