// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/test/transcript"
)

// shows runs what a page of docs/how-to shows, and compares the output.
func (s *site) shows(page string, edit func(*terminal.Options), replace ...string) {
	s.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "how-to", page))
	must(s.T, err)
	ran := 0
	for _, step := range transcript.Parse(strings.NewReplacer(replace...).Replace(string(text))) {
		if step.Language != "console" {
			continue
		}
		for _, command := range step.Commands() {
			var out bytes.Buffer
			options := terminal.Options{Version: "v1.2.3", Getenv: func(string) string { return "" }}
			edit(&options)
			streams := genericiooptions.IOStreams{In: strings.NewReader(command.Answers), Out: &out, ErrOut: &out}
			code := Execute(s.Context(), streams, options, strings.Fields(strings.TrimPrefix(command.Text, "kubectl cleaner ")))
			if _, missing := transcript.Match(command.Output, out.String()); missing != "" || code != codes.ExitDone {
				s.Errorf("%s:%d: $ %s\n%sexit code %d; the page shows: %s", page, step.Line, command.Text, out.String(), code, missing)
			}
			ran++
		}
	}
	if ran == 0 {
		s.Errorf("%s shows no command", page)
	}
}

// inShop is a site whose namespace has the name that pages use.
func inShop(t *testing.T) (*site, *v1alpha1.Cleaner) {
	t.Helper()
	s := newSite(t)
	t.Setenv("KUBECONFIG", s.kubeconfig)
	s.namespace = "shop"
	_ = s.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}) // another test may have made it
	t.Cleanup(func() {
		_ = s.DeleteAllOf(context.Background(), &corev1.ConfigMap{}, client.InNamespace(s.namespace))
	})
	return s, s.cleaner(func(c *v1alpha1.Cleaner) { c.Name = "unused-configmaps" })
}

// TestRestoreAsThePageShows runs the commands of docs/how-to/restore.md.
func TestRestoreAsThePageShows(t *testing.T) {
	s, c := inShop(t)
	s.configMap("banner", nil)
	s.configMap("settings", nil)
	s.configMap("other", nil)
	run := s.past(c, "banner", "settings")
	s.shows("restore.md", aDayLater, "unused-configmaps-1795230000", run.Name)
}

// TestApproveAsThePageShows runs the command of docs/how-to/approve.md.
func TestApproveAsThePageShows(t *testing.T) {
	s, c := inShop(t)
	until := metav1.NewTime(nominal.Add(time.Hour))
	record := v1alpha1.CleanerRunStatus{
		Phase: v1alpha1.RunAwaitingApproval, Reason: v1alpha1.ReasonAwaitingApproval, Message: "It waits.",
		RunCounts: v1alpha1.RunCounts{Considered: 2, Matched: 2}, Plan: &v1alpha1.RunPlan{Hash: "1234", Objects: 2, ExpirationTime: until},
	}
	for _, name := range []string{"banner", "settings"} {
		o := outcomeOf(v1alpha1.OutcomePlanned, s.namespace, name, "")
		o.Message, o.PlanHash = "none of 25 kinds names it", "hash-of-"+name
		record.Objects = append(record.Objects, o)
	}
	run := s.recordOf(c, 0, record)
	t.Cleanup(func() {
		_ = s.Delete(context.Background(), &v1alpha1.CleanerApproval{ObjectMeta: metav1.ObjectMeta{Name: run.Name}})
	})
	c.Status.Plan = &v1alpha1.WaitingPlan{PlanRef: v1alpha1.PlanRef{Run: run.Name, Hash: "1234"}, Objects: 2, ExpirationTime: until}
	must(t, s.Status().Update(t.Context(), c))
	next := v1alpha1.RunName(c.Name, nominal.Add(time.Hour))
	accepts := meanwhile(func(waited int) {
		if waited == 2 {
			s.end(run, v1alpha1.ReasonApproved, "admin approved the plan; CleanerRun "+next+" carries it out.", next)
		}
	})
	s.shows("approve.md", accepts, "unused-configmaps-1795230000", run.Name, "unused-configmaps-1795240000", next, "jane", "admin")
}
