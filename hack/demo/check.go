// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
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
			counts: v1alpha1.RunCounts{Considered: 9, Matched: 3, Acted: 2, Skipped: 1},
			outcomes: map[string]v1alpha1.OutcomeResult{
				"promo-spring":  v1alpha1.OutcomeDeleted,
				"promo-summer":  v1alpha1.OutcomeDeleted,
				"promo-archive": v1alpha1.OutcomeProtected,
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

func (d *differences) expectOutcomes(
	what string,
	want expectation,
	counts v1alpha1.RunCounts,
	objects []v1alpha1.ObjectOutcome,
) {
	if want.counts.Considered == 0 {
		counts.Considered = 0
	}
	d.expect(what+": counts", fmt.Sprintf("%+v", counts), fmt.Sprintf("%+v", want.counts))
	got := map[string]v1alpha1.OutcomeResult{}
	for _, object := range objects {
		got[object.Name] = object.Outcome
		d.expect(what+": namespace of "+object.Name, object.Namespace, "shop")
		d.expect(what+": message on "+object.Name, object.Message != "", true)
	}
	d.expect(what+": outcomes", got, want.outcomes)
}

// checkRecords compares the CleanerRuns and Reports.
func (s *stage) checkRecords(ctx context.Context, d *differences) error {
	var runs v1alpha1.CleanerRunList
	var reports v1alpha1.ReportList
	if err := errors.Join(s.client.List(ctx, &runs), s.client.List(ctx, &reports)); err != nil {
		return err
	}
	d.expect("number of CleanerRuns", len(runs.Items), len(s.runs))
	for i := range runs.Items {
		run := &runs.Items[i]
		want := expectations()[run.Spec.Cleaner]
		d.expect(run.Name+": is the run of status.lastRun", s.runs[run.Spec.Cleaner], run.Name)
		// Both phases that are expected here have the name of their reason.
		d.expect(run.Name+": phase", run.Status.Phase, want.reason)
		d.expect(run.Name+": reason", run.Status.Reason, want.reason)
		d.expect(run.Name+": action", run.Spec.Action, want.action)
		d.expectOutcomes(run.Name, want, run.Status.RunCounts, run.Status.Objects)
		d.expect(run.Name+": has notifications to send", run.HasPendingNotifications(), false)
	}
	got := map[string][]string{}
	for _, report := range reports.Items {
		got[report.Name] = []string{}
		for _, info := range report.Spec.ResourceInfo {
			got[report.Name] = append(got[report.Name], info.Resource.Name)
		}
		slices.Sort(got[report.Name])
	}
	d.expect(
		"Reports",
		got,
		map[string][]string{scanner: expectations()[scanner].reported, deleter: expectations()[deleter].reported},
	)
	return nil
}

// checkEvents wants one Event for each run on its Cleaner, and one on each object that the Delete handled.
func (s *stage) checkEvents(ctx context.Context, d *differences) error {
	events, err := s.runEvents(ctx)
	got := map[string]string{}
	for _, event := range events {
		about := "nothing"
		if event.Related != nil {
			about = event.Related.Name
		}
		got[event.Regarding.Name] += fmt.Sprintf("%s about %s.", event.Reason, about)
	}
	want := map[string]string{}
	for cleaner, run := range s.runs {
		want[cleaner] = fmt.Sprintf("%s about %s.", expectations()[cleaner].reason, run)
	}
	d.expect("Events on Cleaners", got, want)
	var handled corev1.EventList
	err = errors.Join(
		err,
		s.client.List(ctx, &handled, client.InNamespace("shop"), client.MatchingFields{"reason": "K8sCleaner"}),
	)
	names := []string{}
	for i := range handled.Items {
		names = append(names, handled.Items[i].InvolvedObject.Name)
	}
	slices.Sort(names)
	d.expect("Events on objects", names, expectations()[deleter].reported)
	return err
}

var errorLine = regexp.MustCompile(`level=(ERROR|WARN)|panic:|DATA RACE`)

// checkLog wants no error in the manager's log.
func (s *stage) checkLog(_ context.Context, d *differences) error {
	text, err := os.ReadFile(s.manager.logPath)
	for line := range strings.Lines(string(text)) {
		if errorLine.MatchString(line) {
			*d = append(*d, "the manager's log: "+strings.TrimSpace(line))
		}
	}
	return err
}

// checkPeople lets ann approve the plan, and wants ben to see the shop only.
func (s *stage) checkPeople(ctx context.Context, d *differences) error {
	said, err := s.quietly(ctx, "cleaner approve "+planner+" --as=ann --yes")
	d.expect("ann's approval", strings.Contains(said, "ann approved the plan; CleanerRun "+planner), true)
	sees := func(line string) string {
		got, refused := s.quietly(ctx, line+" --as=ben -o name")
		if refused != nil {
			return "refused"
		}
		return strings.TrimSpace(got)
	}
	d.expect("Claims that ben sees", sees("get pvc orders -n shop"), "persistentvolumeclaim/orders")
	d.expect("Cleaners that ben sees", sees("get cleaners"), "refused")
	d.expect("ConfigMaps that ben sees elsewhere", sees("get configmaps -n kube-system"), "refused")
	return err
}
