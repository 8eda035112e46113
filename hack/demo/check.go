// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// expectation is what one Cleaner must have found and done.
type expectation struct {
	action v1alpha1.Action
	// reason is how the run ended.
	reason   string
	counts   v1alpha1.RunCounts
	outcomes map[string]v1alpha1.OutcomeResult
	// reported are the objects in the Report. Nil when there must be no Report.
	reported []string
}

func expectations() map[string]expectation {
	return map[string]expectation{
		scanner: {
			action: v1alpha1.ActionScan,
			reason: v1alpha1.ReasonCompleted,
			// What it considers is the whole cluster: not counted here.
			counts: v1alpha1.RunCounts{Matched: 6},
			outcomes: map[string]v1alpha1.OutcomeResult{
				"old-banner":    v1alpha1.OutcomeMatched,
				"theme-2023":    v1alpha1.OutcomeMatched,
				"promo-spring":  v1alpha1.OutcomeMatched,
				"promo-summer":  v1alpha1.OutcomeMatched,
				"promo-today":   v1alpha1.OutcomeMatched,
				"promo-archive": v1alpha1.OutcomeMatched,
			},
			reported: []string{"old-banner", "promo-archive", "promo-spring", "promo-summer", "promo-today", "theme-2023"},
		},
		deleter: {
			action: v1alpha1.ActionDelete,
			reason: v1alpha1.ReasonCompleted,
			// Eight are of the demo, one is kube-root-ca.crt.
			counts: v1alpha1.RunCounts{Considered: 9, Matched: 2, Acted: 2},
			outcomes: map[string]v1alpha1.OutcomeResult{
				"promo-spring": v1alpha1.OutcomeDeleted,
				"promo-summer": v1alpha1.OutcomeDeleted,
			},
			reported: []string{"promo-spring", "promo-summer"},
		},
		transformer: {
			action:   v1alpha1.ActionTransform,
			reason:   v1alpha1.ReasonCompleted,
			counts:   v1alpha1.RunCounts{Considered: 2, Matched: 1, Acted: 1},
			outcomes: map[string]v1alpha1.OutcomeResult{"preview": v1alpha1.OutcomeTransformed},
		},
		planner: {
			action: v1alpha1.ActionDelete,
			reason: v1alpha1.ReasonAwaitingApproval,
			counts: v1alpha1.RunCounts{Considered: 8, Matched: 4, Skipped: 1},
			outcomes: map[string]v1alpha1.OutcomeResult{
				"old-banner":   v1alpha1.OutcomePlanned,
				"theme-2023":   v1alpha1.OutcomePlanned,
				"promo-today":  v1alpha1.OutcomePlanned,
				"promo-spring": v1alpha1.OutcomeProtected,
			},
		},
	}
}

// broughtBack is the state of an object that was restored.
const broughtBack = "brought back"

// snapshot is the state of the demo's objects, each in one line, by kind and name.
type snapshot map[string]string

// look takes a snapshot. Of a ConfigMap it holds everything, as its resourceVersion; of a Deployment, which its
// controller writes to, what a user wrote; of a PersistentVolumeClaim only which it is.
func (s *stage) look(ctx context.Context) (snapshot, error) {
	var configMaps corev1.ConfigMapList
	var deployments appsv1.DeploymentList
	var claims corev1.PersistentVolumeClaimList
	err := errors.Join(
		s.client.List(ctx, &configMaps, client.InNamespace("shop")),
		s.client.List(ctx, &deployments, client.InNamespace("shop")),
		s.client.List(ctx, &claims, client.InNamespace("shop")),
	)
	seen := snapshot{}
	for _, c := range configMaps.Items {
		if c.Annotations[v1alpha1.RestoredFromAnnotation] != "" {
			seen["ConfigMap "+c.Name] = broughtBack
			continue
		}
		seen["ConfigMap "+c.Name] = fmt.Sprintf("uid %s, resourceVersion %s", c.UID, c.ResourceVersion)
	}
	for _, d := range deployments.Items {
		seen["Deployment "+d.Name] = fmt.Sprintf("uid %s, replicas %d, generation %d, previous-replicas %q",
			d.UID, *d.Spec.Replicas, d.Generation, d.Annotations["previous-replicas"])
	}
	for _, c := range claims.Items {
		seen["PersistentVolumeClaim "+c.Name] = fmt.Sprintf("uid %s", c.UID)
	}
	return seen, err
}

// differences are between what happened and what should have.
type differences []string

func (d *differences) expect(what string, got, want any) {
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		*d = append(*d, fmt.Sprintf("%s: got %s, want %s", what, g, w))
	}
}

// check compares every outcome with what it must be, and lists all differences.
func (s *stage) check(ctx context.Context) error {
	s.t.heading("Checking every outcome")
	var d differences
	for _, part := range []func(context.Context, *differences) error{
		s.checkObjects, s.checkCleaners, s.checkRecords,
		s.checkEvents, s.checkLog,
		s.checkPeople, // last: it lets the plan be carried out
	} {
		if err := part(ctx, &d); err != nil {
			return err
		}
	}
	if len(d) > 0 {
		return fmt.Errorf("%d outcomes are not as expected:\n  %s", len(d), strings.Join(d, "\n  "))
	}
	s.t.say(
		"All as expected: the objects, the Cleaners' status, the records, Reports, Events and people; no error in the manager's log.",
	)
	return nil
}

// checkObjects compares the objects with those before any Cleaner ran: only what had to change may have.
func (s *stage) checkObjects(ctx context.Context, d *differences) error {
	got, err := s.look(ctx)
	want := maps.Clone(s.before)
	want["ConfigMap promo-spring"] = broughtBack
	delete(want, "ConfigMap promo-summer")
	paused := strings.NewReplacer(
		"replicas 2, generation 1",
		"replicas 0, generation 2",
		`previous-replicas ""`,
		`previous-replicas "2"`,
	)
	want["Deployment preview"] = paused.Replace(want["Deployment preview"])
	for _, key := range slices.Sorted(maps.Keys(union(got, want))) {
		d.expect(key, presence(got, key), presence(want, key))
	}
	return err
}

func union(a, b snapshot) snapshot {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

func presence(s snapshot, key string) string {
	if line, ok := s[key]; ok {
		return line
	}
	return "nothing"
}

// checkCleaners compares the Cleaners' status.
func (s *stage) checkCleaners(ctx context.Context, d *differences) error {
	for name, want := range expectations() {
		var cleaner v1alpha1.Cleaner
		if err := s.client.Get(ctx, client.ObjectKey{Name: name}, &cleaner); err != nil {
			return err
		}
		status := cleaner.Status
		d.expect(name+": is Ready", meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionReady), true)
		d.expect(name+": RunSucceeded", reasonOf(status.Conditions, v1alpha1.ConditionRunSucceeded), want.reason)
		d.expect(name+": a plan waits", status.Plan != nil, want.reason == v1alpha1.ReasonAwaitingApproval)
		d.expect(name+": action", status.Action, want.action)
		d.expect(name+": observedGeneration", status.ObservedGeneration, cleaner.Generation)
		d.expect(name+": lastHandledRunRequest", status.LastHandledRunRequest, cleaner.Annotations[requestAnnotation])
		d.expect(
			name+": the next run lies ahead",
			status.NextScheduleTime != nil && status.NextScheduleTime.After(time.Now()),
			true,
		)
		d.expect(name+": failureMessage", status.FailureMessage == nil, true)
		d.expect(name+": a run is going on", status.ActiveRun != nil, false)
		if status.LastRun == nil {
			d.expect(name+": lastRun", "none", "one")
			continue
		}
		d.expect(name+": what started the last run", status.LastRun.Trigger, v1alpha1.TriggerManual)
		d.expectOutcomes(name+": status.lastRun", want, status.LastRun.RunCounts, status.LastRun.Matches)
	}
	return nil
}

func reasonOf(conditions []metav1.Condition, condition string) string {
	if found := meta.FindStatusCondition(conditions, condition); found != nil {
		return found.Reason
	}
	return "nothing"
}
