// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/rights"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// maxNamed is how many missing rights a line names.
const maxNamed = 4

// itself is the account of the operator. Nil when its Deployment is not known.
func (p *patient) itself() *v1alpha1.ServiceAccountRef {
	if p.deployment == nil {
		return nil
	}
	d := p.deployment
	return &v1alpha1.ServiceAccountRef{
		Namespace: d.Namespace,
		Name:      cmp.Or(d.Spec.Template.Spec.ServiceAccountName, "default"),
	}
}

func (p *patient) noAccount() []Line { return p.noDeployment("the operator's account") }

// noDeployment says that something is not known, because the operator has no Deployment, or it could not be read.
func (p *patient) noDeployment(what string) []Line {
	why := "its Deployment was not found"
	if p.deploymentsErr != nil {
		why = "its Deployment could not be read"
	}
	return []Line{{Status: Unknown, Message: what + " is not known: " + why, WayOut: "see the check operator"}}
}

// again is the way out where a part of the installation was changed. A directory of config alone does not do: the names
// in it have no prefix.
const again = "apply again what the operator was installed with: config/default, an overlay of it, install.yaml, or the chart"

// words are what is missing, in short.
func words(missing []rights.Right) string { return terminal.Shortened(distinct(missing), maxNamed) }

// distinct are the rights in words, each once: several reasons may ask for the same.
func distinct(missing []rights.Right) (all []string) {
	for _, right := range missing {
		if text := right.String(); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// undeclared is the line about references that users declared and that cannot be read, have mistakes, or name nothing.
func (p *patient) undeclared() []Line {
	if p.declaredErr == nil && len(p.unserved) == 0 {
		return nil
	}
	if _, unreadable := errors.AsType[*survey.DeclaredError](p.declaredErr); unreadable {
		return []Line{unread("", "which kinds findings look at is not known", p.declaredErr)}
	}
	me := ref("ConfigMap", p.namespace, survey.DeclaredIn)
	if p.declaredErr == nil {
		return []Line{{
			Status: Warn, Object: me, Message: terminal.OneLine(survey.UnservedWords(p.unserved)),
			WayOut: "correct the kinds if they are mistyped, or install their CustomResourceDefinitions",
		}}
	}
	return []Line{{
		Status:  Fail,
		Object:  me,
		Message: "Cleaners with a finding touch nothing, because of a mistake: " + terminal.OneLine(p.declaredErr.Error()),
		WayOut:  "correct the ConfigMap",
	}}
}

// cleanerRights looks whether the account of each Cleaner may do what the Cleaner asks for.
func (p *patient) cleanerRights(ctx context.Context) (lines []Line, well string) {
	if lines := p.cleanersUnread(); lines != nil {
		return lines, ""
	}
	operator := p.itself()
	if operator == nil {
		return p.noAccount(), ""
	}
	lines = p.undeclared()
	var acting, touching []lack // what the operator's own account may not do
	for i := range p.cleaners {
		c := &p.cleaners[i]
		needed, err := p.needed.Of(ctx, c)
		if ctx.Err() != nil {
			return nil, ""
		}
		if err != nil { // the check cleaners reports a kind that is not served
			lines = append(lines, Line{
				Status:  Unknown,
				Object:  ref("Cleaner", c.Name),
				Message: "which rights it needs could not be found out: " + terminal.OneLine(err.Error()),
				WayOut:  "correct the Cleaner, and run doctor again",
			})
			continue
		}
		if p.isSet("dry-run") {
			needed = slices.DeleteFunc(needed, isToChange)
		}
		lines = append(lines, p.accountGone(ctx, c)...)
		account := *operator
		if named := c.Spec.ServiceAccountRef; named != nil {
			account = *named
			act := rights.Right{Verb: "impersonate", Resource: "serviceaccounts", Namespace: named.Namespace, Name: named.Name}
			missing, err := p.reviews.Missing(ctx, *operator, []rights.Right{act})
			if err != nil {
				return append(lines, unread("", "which rights accounts have could not be asked", err)), ""
			}
			acting = append(acting, lack{c.Name, missing})
		}
		missing, err := p.reviews.Missing(ctx, account, needed)
		if err != nil {
			return append(lines, unread("", "which rights accounts have could not be asked", err)), ""
		}
		if account == *operator {
			touching = append(touching, lack{c.Name, missing})
		} else {
			wayOut := terminal.Program + " rbac " + c.Name + " | kubectl apply -f -"
			lines = append(lines, lacking(lack{c.Name, missing}, account, wayOut)...)
		}
	}
	lines = append(lines, p.operatorLacks(ctx, *operator, acting, touching)...)
	return p.idle(lines), "each Cleaner has the rights that it needs"
}

// isToChange reports whether a right is one to change objects, which nobody needs while every Cleaner only reports.
func isToChange(right rights.Right) bool {
	return !slices.Contains([]string{"get", "list", "watch", "impersonate"}, right.Verb)
}

// operatorLacks are the lines about what the operator's account may not do for Cleaners.
func (p *patient) operatorLacks(
	ctx context.Context, operator v1alpha1.ServiceAccountRef, acting, touching []lack,
) (lines []Line) {
	causes, rest := p.blame(ctx, operator, acting)
	lines = append(lines, causes...)
	for _, l := range rest {
		account := v1alpha1.ServiceAccountRef{Namespace: l.missing[0].Namespace, Name: l.missing[0].Name}
		lines = append(lines, Line{
			Status:  Fail,
			Object:  ref("Cleaner", l.who),
			Message: "the operator may not act as ServiceAccount " + account.String(),
			WayOut:  "apply config/policy; with Helm: policies.enabled=true",
		})
	}
	causes, rest = p.blame(ctx, operator, touching)
	lines = append(lines, causes...)
	for _, l := range rest {
		lines = append(lines, lacking(l, operator, "grant it to the operator (ClusterRole or Role kubecleaner-cleaner-targets, "+
			"or rbac.mode of the chart), or let the Cleaner name an account")...)
	}
	return lines
}

// lacking is the line about the rights that a Cleaner does not have.
func lacking(l lack, account v1alpha1.ServiceAccountRef, wayOut string) []Line {
	if len(l.missing) == 0 {
		return nil
	}
	line := Line{
		Status:  Warn,
		Object:  ref("Cleaner", l.who),
		Message: fmt.Sprintf("in some cases it lacks a right: ServiceAccount %s may not %s", account, words(l.missing)),
		WayOut:  wayOut,
	}
	var must []rights.Right
	for _, right := range l.missing {
		if !right.Optional {
			must = append(must, right)
		}
	}
	if len(must) > 0 {
		line.Status, line.Message = Fail, fmt.Sprintf("ServiceAccount %s may not %s", account, words(must))
	}
	return []Line{line}
}
