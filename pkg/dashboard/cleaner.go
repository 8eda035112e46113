// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/schedule"
)

const (
	nextTimes  = 5
	maxHistory = 100
)

func (s *Server) cleaner(r *http.Request, p *person) (int, any, error) {
	ctx := r.Context()
	c, err := readCleaner(ctx, p, r.PathValue("name"))
	if err != nil {
		return 0, nil, err
	}
	detail := CleanerDetail{
		CleanerRow: rowOf(c, s.Now()), NextTimes: []time.Time{}, Guardrails: guardrails(c, s.Now()), Selectors: selectors(c),
		Scripts:    scripts(c),
		ForSeconds: c.LongestFinding(),
		Conditions: conditionsOf(c.Status.Conditions), Matches: []v1alpha1.ObjectOutcome{}, History: []RunRow{},
		Channels: channelsOf(c), Missing: []Right{}, Actions: CleanerActions{
			Trigger: p.may(ctx, ours("patch", "cleaners", c.Name)), Edit: p.may(ctx, ours("update", "cleaners", c.Name)),
			Preview: p.may(ctx, ours("get", "cleaners", c.Name)),
		},
	}
	detail.Actions.Suspend = detail.Actions.Trigger // the same call
	zone := ""
	if c.Spec.TimeZone != nil {
		zone = *c.Spec.TimeZone
	}
	detail.TimeZone = zone
	if plan, err := schedule.Parse(c.Spec.Schedule, zone); err == nil { // the condition Ready reports a wrong one
		detail.Words = plan.String()
		for t := plan.Next(s.Now()); !t.IsZero() && len(detail.NextTimes) < nextTimes; t = plan.Next(t) {
			detail.NextTimes = append(detail.NextTimes, t)
		}
	}
	if last := c.Status.LastRun; last != nil && last.Matches != nil {
		detail.Matches = last.Matches
	}
	p.mayTest(ctx, detail.Channels)
	if detail.YAML, err = manifestOf(ctx, p, c.Name); err != nil {
		return 0, nil, err
	}
	return http.StatusOK, detail, s.addHistory(ctx, p, &detail)
}

// readCleaner reads a Cleaner. The error about one that does not exist names the nearest ones.
func readCleaner(ctx context.Context, p *person, name string) (*v1alpha1.Cleaner, error) {
	var c v1alpha1.Cleaner
	err := p.api.Read(ctx, cluster.CleanerPath(name), &c)
	if apierrors.IsNotFound(err) {
		err = usageOf(p.api.NoCleaner(ctx, name))
	}
	return &c, err
}

// addHistory adds the runs, or names the right that is missing.
func (s *Server) addHistory(ctx context.Context, p *person, detail *CleanerDetail) error {
	runs, err := runRows(ctx, p, func(row RunRow) bool { return row.Cleaner == detail.Name })
	if apierrors.IsForbidden(err) {
		detail.Missing = append(detail.Missing, missingRight(RightRunsRead, "see runs", err))
		return nil
	}
	detail.History = runs[:min(len(runs), maxHistory)]
	return err
}

func missingRight(id, text string, err error) Right {
	return Right{id, text, Allowed{Missing: failureOf(err).Body.Missing}}
}

// manifestOf is the Cleaner as people write it. It has the fields that only a newer version of this program knows, too:
// who edits it must not lose them.
func manifestOf(ctx context.Context, p *person, name string) (string, error) {
	var c unstructured.Unstructured
	if err := p.api.Read(ctx, cluster.CleanerPath(name), &c); err != nil {
		return "", err
	}
	c.SetManagedFields(nil)
	delete(c.Object, "status")
	unstructured.RemoveNestedField(c.Object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	if len(c.GetAnnotations()) == 0 {
		c.SetAnnotations(nil)
	}
	text, err := yaml.Marshal(c.Object)
	return string(text), err
}

func conditionsOf(conditions []metav1.Condition) []Condition {
	all := make([]Condition, 0, len(conditions))
	for _, c := range conditions {
		all = append(all, Condition{c.Type, string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time})
	}
	return all
}

// waits adds what keeps the Cleaner from acting now: it only reports, or a person must approve first.
func waits(c *v1alpha1.Cleaner, now time.Time, add func(field, format string, args ...any)) {
	observing := c.Observing(now)
	if why := c.Status.DryRunReason; why != "" && why != observing {
		add("status.dryRunReason", "only reports: %s", why)
	}
	if observing != "" {
		add("spec.scanUntil", "only reports until %s", c.Spec.ScanUntil.UTC().Format(time.RFC3339))
	}
	if c.NeedsApproval() {
		add("spec.approval", "a person must approve the plan of each run, within %s", daysOrHours(c.Spec.Approval.Lasts()))
	}
}

// guardrails are what holds the Cleaner back.
func guardrails(c *v1alpha1.Cleaner, now time.Time) []Guardrail {
	rails := []Guardrail{}
	add := func(field, format string, args ...any) {
		rails = append(rails, Guardrail{field, fmt.Sprintf(format, args...)})
	}
	waits(c, now, add)
	limit := ptr.Deref(c.Spec.BlastRadiusLimit, v1alpha1.BlastRadiusLimit{})
	if limit.MaxCount != nil {
		add("spec.blastRadiusLimit.maxCount", "touches at most %d objects, or none", *limit.MaxCount)
	}
	if limit.MaxPercentage != nil {
		add("spec.blastRadiusLimit.maxPercentage", "touches at most %d %% of the objects, or none", *limit.MaxPercentage)
	}
	if n := c.Spec.OccurrenceThreshold; n != nil && *n > 1 {
		add("spec.occurrenceThreshold", "an object must match in %d runs in a row", *n)
	}
	if c.Spec.OnPartialView != v1alpha1.PartialViewSkip {
		add("spec.onPartialView", "touches nothing if an object cannot be judged")
	}
	if account := c.Spec.ServiceAccountRef; account != nil {
		add("spec.serviceAccountRef", "acts with the rights of ServiceAccount %s only", account)
	}
	if storage := c.CopyStorage(); storage != v1alpha1.StorageNone && c.EffectiveAction() != v1alpha1.ActionScan {
		add("spec.rollback", "keeps copies (%s) for %s", storage, daysOrHours(c.CopyRetention()))
	}
	return rails
}

// daysOrHours is "7 days" or "36 hours", or else as Go writes it.
func daysOrHours(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d > 0 && d%day == 0:
		return terminal.Grouped(int64(d/day), "day")
	case d > 0 && d%time.Hour == 0:
		return terminal.Grouped(int64(d/time.Hour), "hour")
	}
	return d.String()
}

// selectors are what the Cleaner selects, in a few words each: "ConfigMap objects in namespace shop, with the finding
// Unused".
func selectors(c *v1alpha1.Cleaner) []string {
	all := []string{}
	for _, s := range c.Spec.ResourcePolicySet.ResourceSelectors {
		what, with := strings.TrimSuffix(s.Kind+"."+s.Group, ".")+" objects", []string{}
		switch {
		case s.Namespace != "":
			what += " in namespace " + s.Namespace
		case s.NamespaceSelector != "":
			what += " in namespaces with " + s.NamespaceSelector
		}
		if s.Finding != nil {
			with = append(with, "with the finding "+string(s.Finding.Type))
		}
		if n := len(s.LabelFilters); n > 0 {
			with = append(with, "with "+terminal.Grouped(int64(n), "label filter"))
		}
		all = append(all, strings.Join(append([]string{what}, with...), ", "))
	}
	return all
}

// scripts are the Cleaner's expressions.
func scripts(c *v1alpha1.Cleaner) []Script {
	all := []Script{}
	for i, s := range c.Spec.ResourcePolicySet.ResourceSelectors {
		field := fmt.Sprintf("spec.resourcePolicySet.resourceSelectors[%d]", i)
		for j, condition := range s.MatchConditions {
			all = append(all, Script{fmt.Sprintf("%s.matchConditions[%d]", field, j), "CEL", condition.Expression})
		}
		all = append(all, Script{field + ".evaluate", "Lua", s.Evaluate})
	}
	all = append(all, Script{
		"spec.resourcePolicySet.aggregatedSelection", "Lua",
		c.Spec.ResourcePolicySet.AggregatedSelection,
	},
		Script{"spec.transform", "Lua", c.Spec.Transform})
	return slices.DeleteFunc(all, func(s Script) bool { return s.Text == "" })
}
