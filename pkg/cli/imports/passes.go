// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"cmp"
	"context"
	"fmt"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	builtin "github.com/kubecleaner/kubecleaner/pkg/cli/kinds"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
)

// linter is what Cleaners are checked with.
type linter struct {
	*check.Checker
	known *builtin.Known
}

// passes checks a Cleaner as lint does. One that does not pass is not written, and it is said why.
func (j *job) passes(ctx context.Context, by linter, d *draft) (bool, error) {
	for {
		of := manifest.Source{Name: d.from.File, Text: d.text}
		docs, broken := of.Documents()
		if len(broken) > 0 || len(docs) != 1 {
			return false, fmt.Errorf("writing %s: what was written cannot be read", d.what)
		}
		checked, err := by.Lint(ctx, docs[0], by.known)
		if err != nil {
			return false, err
		}
		dropped, failed := j.dropUnfit(d, checked.Problems)
		if !dropped || failed {
			j.reportMissing(d, checked.Problems)
			return !failed, nil
		}
		if d.node != nil {
			d.text, err = encode(d.node)
		} else {
			d.text, err = textOf(d.cleaner)
		}
		if err != nil {
			return false, err
		}
	}
}

// dropUnfit leaves out the fields of a draft that are not known, and the translated conditions that do not fit their
// kind. It failed when there are other errors.
func (j *job) dropUnfit(d *draft, problems []manifest.Problem) (dropped, failed bool) {
	for _, p := range problems {
		switch {
		case p.Code.Severity() != codes.SeverityError:
		case p.Code == codes.FieldUnknown && d.node != nil && removeField(d.node, p.Field):
			j.lost(d.from, p.Field, "was left out: "+p.Message, p.Hint)
			dropped = true
		case d.node == nil && j.dropCondition(d, p):
			dropped = true
		default:
			failed = true
			j.refused(d, p)
		}
	}
	return dropped, failed
}

// conditionAt is the condition whose expression is a field, and its selector. Nil for any other field.
func (d *draft) conditionAt(field string) (*v1alpha1.MatchCondition, *v1alpha1.ResourceSelector) {
	selectors := d.cleaner.Spec.ResourcePolicySet.ResourceSelectors
	for i := range selectors {
		conditions := selectors[i].MatchConditions
		for n := range conditions {
			if field == fmt.Sprintf("spec.resourcePolicySet.resourceSelectors[%d].matchConditions[%d].expression", i, n) {
				return &conditions[n], &selectors[i]
			}
		}
	}
	return nil, nil
}

// lineOf is where a translated condition comes from.
func (j *job) lineOf(d *draft, expression string) int {
	return cmp.Or(j.origins[origin{d.from, expression}], d.line)
}

// dropCondition puts a hole in the place of a translated condition that is wrong. It is false for any other problem.
func (j *job) dropCondition(d *draft, p manifest.Problem) bool {
	c, s := d.conditionAt(p.Field)
	if c == nil || c.Expression == "false" {
		return false
	}
	was := *c
	c.Name, c.Expression = unused("not-carried-over-"+nameOf(was.Name), s.MatchConditions), "false"
	j.lostAt(
		d.from,
		j.lineOf(d, was.Expression),
		fmt.Sprintf("the condition %q is not carried over for the kind %s: %s: %s", was.Name, s.Kind, was.Expression, p.Message),
		fmt.Sprintf(holeHint, c.Name),
	)
	return true
}

// reportMissing warns of carried conditions that fail on some objects: a run that meets one touches nothing.
func (j *job) reportMissing(d *draft, problems []manifest.Problem) {
	for _, p := range problems {
		if p.Code != codes.CELMissing || d.node != nil {
			continue
		}
		if c, _ := d.conditionAt(p.Field); c != nil {
			at := d.from.At("", p.Code, fmt.Sprintf("the condition %q: %s", c.Name, p.Message), p.Hint)
			at.Line = cmp.Or(j.lineOf(d, c.Expression), at.Line)
			j.problems = append(j.problems, at)
		}
	}
}

// refused says why a Cleaner is not written, at the line of the source.
func (j *job) refused(d *draft, p manifest.Problem) {
	const why = "the Cleaner was not written: "
	if d.node == nil { // the source has other fields
		j.lostAt(d.from, d.line, why+p.Field+": "+p.Message, p.Hint)
		return
	}
	j.lost(d.from, p.Field, why+p.Message, p.Hint)
}
