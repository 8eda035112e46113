// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/rights"
)

// TestReadyOfANewCleaner: nobody knows yet whether it can run.
func TestReadyOfANewCleaner(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	seen, young := v1alpha1.Cleaner{}, v1alpha1.Cleaner{}
	for _, c := range []*v1alpha1.Cleaner{&seen, &young} {
		c.CreationTimestamp, c.Spec.Action = metav1.NewTime(now.Add(-time.Second)), ptr.To(v1alpha1.ActionScan)
	}
	seen.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
	for want, cleaners := range map[string][]v1alpha1.Cleaner{
		"1 Cleaner without a problem": {seen},
		"1 Cleaner without a problem; the operator has not looked at 1 new one yet": {seen, young},
	} {
		p := &patient{cleaners: cleaners, there: now}
		if lines, well := p.ready(t.Context()); len(lines) > 0 || well != want {
			t.Errorf("%v, %q, want %q", lines, well, want)
		}
	}
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	of := func(statuses ...Status) (lines []Line) {
		for _, status := range statuses {
			lines = append(lines, Line{Status: status, Message: strconv.Itoa(len(lines))})
		}
		return lines
	}
	for name, test := range map[string]struct {
		lines   []Line
		code    int
		summary string
	}{
		"well":      {of(OK, OK), codes.ExitDone, "nothing is wrong"},
		"a warning": {of(OK, Warn), codes.ExitPartial, "1 warning"},
		"unknown":   {of(OK, Unknown), codes.ExitPartial, "1 unknown"},
		"all":       {of(Fail, Unknown, Warn, Fail), codes.ExitError, "2 failures, 1 warning, 1 unknown"},
	} {
		if code, text := exitCode(test.lines), summary(test.lines); code != test.code || text != test.summary {
			t.Errorf("%s: %d, %q", name, code, text)
		}
	}
}

// The same cause is one row, however many Cleaners it stops.
func TestTheSameCauseIsOneRow(t *testing.T) {
	t.Parallel()
	line := func(object, message string) Line {
		return Line{Status: Fail, Check: "cleaners", Object: object, Message: message, WayOut: "fix it"}
	}
	got := together([]Line{line("a", "x"), line("b", "x"), line("c", "y"), line("d", "x"), line("e", "x"), line("f", "x")})
	want := []Line{line("a, b, d and 2 more", "x"), line("c", "y")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := summary([]Line{line("a", "x"), line("b", "x"), line("c", "y")}); got != "2 failures" {
		t.Errorf("two rows are counted as %q", got)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"is it installed?": "Cleaner/a: is it installed? To do: repair it",
		"it is old":        "Cleaner/a: it is old. To do: repair it",
		"it is old.":       "Cleaner/a: it is old. To do: repair it",
	} {
		if got := (Line{Object: "Cleaner/a", Message: message, WayOut: "repair it"}).words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	p := &patient{args: []string{"/manager", "--dry-run", "-max_copies_bytes=1Gi", "--s3-secret", "bucket", "--leader-elect=false", "--leader-elect"}}
	for name, want := range map[string]string{"dry-run": "", "max-copies-bytes": "1Gi", "s3-secret": "bucket", "leader-elect": ""} {
		if value, given := p.flag(name); !given || value != want {
			t.Errorf("%s: %q, %v", name, value, given)
		}
	}
	for value, want := range map[string]bool{"True": true, "1": true, "false": false, "False": false, "0": false, "f": false} {
		if p := (&patient{args: []string{"--dry-run=" + value}}); p.isSet("dry-run") != want {
			t.Errorf("--dry-run=%s is not %t", value, want)
		}
	}
	if _, given := p.flag("copies-path"); given || !p.isSet("dry-run") || p.isSet("copies-path") {
		t.Error("a flag that was not given is set, or one that was is not")
	}
}

func TestWhatAWebhookIsAskedAbout(t *testing.T) {
	t.Parallel()
	rule := func(group, resource string, operation admissionv1.OperationType) *hook {
		return &hook{rules: []admissionv1.RuleWithOperations{{
			Operations: []admissionv1.OperationType{operation}, Rule: admissionv1.Rule{APIGroups: []string{group}, Resources: []string{resource}},
		}}}
	}
	deletion := request{"apps", "deployments", admissionv1.Delete, "", nil}
	status := request{"apps", "deployments/status", admissionv1.Update, "", nil}
	for name, test := range map[string]struct {
		hook    *hook
		request request
		want    bool
	}{
		"the resource":            {rule("apps", "deployments", admissionv1.Delete), deletion, true},
		"all resources":           {rule("*", "*", admissionv1.OperationAll), deletion, true},
		"all and subresources":    {rule("*", "*/*", admissionv1.OperationAll), status, true},
		"another group":           {rule("", "deployments", admissionv1.Delete), deletion, false},
		"another resource":        {rule("apps", "daemonsets", admissionv1.Delete), deletion, false},
		"another operation":       {rule("apps", "deployments", admissionv1.Create), deletion, false},
		"its status only":         {rule("apps", "deployments/status", admissionv1.OperationAll), deletion, false},
		"a subresource":           {rule("apps", "deployments/status", admissionv1.Update), status, true},
		"any subresource of it":   {rule("apps", "deployments/*", admissionv1.Update), status, true},
		"no subresource":          {rule("apps", "deployments", admissionv1.Update), status, false},
		"all, no subresource":     {rule("*", "*", admissionv1.Update), status, false},
		"another subresource":     {rule("apps", "deployments/scale", admissionv1.Update), status, false},
		"that subresource of all": {rule("apps", "*/status", admissionv1.Update), status, true},
	} {
		if got := test.hook.matches(test.request); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A webhook may be in the way of several Cleaners: each is named, once.
func TestWhomAWebhookRefuses(t *testing.T) {
	t.Parallel()
	h := &hook{object: "hook", name: "h", rules: []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.Delete}, Rule: admissionv1.Rule{APIGroups: []string{""}, Resources: []string{"*"}},
	}}}
	refused := h.refused([]request{
		{"", "pods", admissionv1.Delete, "what a does", nil},
		{"", "pods", admissionv1.Delete, "what b does", nil},
		{"", "pods", admissionv1.Delete, "what a does", nil},
		{"", "pods", admissionv1.Update, "what c does", nil},
	})
	if want := []string{"what a does", "what b does"}; !slices.Equal(refused, want) {
		t.Errorf("it refuses %q, want %q", refused, want)
	}
	if line := h.elsewhere(refused); line.Status != Warn || !strings.HasSuffix(line.Message, "this is refused: what a does, what b does") {
		t.Errorf("it says %+v", line)
	}
}

// A right that several things need is missing once.
func TestMissingRightsAreNamedOnce(t *testing.T) {
	t.Parallel()
	list := rights.Right{Verb: "list", Group: "apps", Resource: "daemonsets"}
	optional := list
	optional.Optional = true
	if got, want := words([]rights.Right{list, optional, list}), list.String(); got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

func TestNoEndpoints(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		`{}`: "has no Pod that is ready",
		`{"items":[{"endpoints":[{"addresses":["10.0.0.1"],"conditions":{"ready":false}}]}]}`:                 "has no Pod that is ready",
		`{"items":[{"endpoints":[]},{"endpoints":[{"addresses":["10.0.0.1"],"conditions":{}}]}]}`:             "",
		`{"items":[{"endpoints":[{"addresses":["10.0.0.1"],"conditions":{"ready":true}}]},{"endpoints":[]}]}`: "",
	} {
		if why, err := noEndpoints([]byte(list)); err != nil || why != want {
			t.Errorf("%s: %q, %v", list, why, err)
		}
	}
}
