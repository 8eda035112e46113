// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

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
