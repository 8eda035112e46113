// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"cmp"
	"context"
	"fmt"

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

// dropCondition puts a hole in the place of a translated condition that is wrong. It is false for any other problem.
func (j *job) dropCondition(d *draft, p manifest.Problem) bool {
	selectors := d.cleaner.Spec.ResourcePolicySet.ResourceSelectors
	for i := range selectors {
		conditions := selectors[i].MatchConditions
		for n := range conditions {
			field := fmt.Sprintf("spec.resourcePolicySet.resourceSelectors[%d].matchConditions[%d].expression", i, n)
			if p.Field != field || conditions[n].Expression == "false" {
				continue
			}
			was := conditions[n]
			conditions[n].Name, conditions[n].Expression = unused("not-carried-over-"+nameOf(was.Name), conditions), "false"
			j.lostAt(
				d.from,
				cmp.Or(j.origins[origin{d.from, was.Expression}], d.line),
				fmt.Sprintf("the condition %q is not carried over for the kind %s: %s: %s",
					was.Name, selectors[i].Kind, was.Expression, p.Message),
				fmt.Sprintf(holeHint, conditions[n].Name),
			)
			return true
		}
	}
	return false
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
