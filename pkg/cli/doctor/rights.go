// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/rights"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
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

func noAccount() []Line {
	return []Line{
		{
			Status:  Unknown,
			Message: "the operator's account is not known: its Deployment was not found",
			WayOut:  "see the check operator",
		},
	}
}

// own are the rights without which the operator itself does not work; config/rbac gives them.
func own(namespace string) (all []rights.Right) {
	group := v1alpha1.GroupVersion.Group
	for _, of := range []struct{ group, resource, namespace, verbs string }{
		{group, "cleaners", "", "get list watch patch"},
		{group, "cleaners/status", "", "patch"},
		{group, "cleanerruns", "", "create delete get list"},
		{group, "cleanerruns/status", "", "patch update"},
		{group, "reports", "", "create delete get patch"},
		{"", "namespaces", "", "get list watch"},
		{"", "secrets", namespace, "create delete get list"},
		{"", "configmaps", namespace, "create delete get list update"},
		{"coordination.k8s.io", "leases", namespace, "create get update"},
	} {
		for verb := range strings.FieldsSeq(of.verbs) {
			all = append(all, rights.Right{Verb: verb, Group: of.group, Resource: of.resource, Namespace: of.namespace})
		}
	}
	return all
}

// operatorRights looks whether the operator can do its own work.
func (p *patient) operatorRights(ctx context.Context) (lines []Line, well string) {
	account := p.itself()
	if account == nil {
		return noAccount(), ""
	}
	object := ref("ServiceAccount", account.Namespace, account.Name)
	lines = p.itselfGone(ctx, *account)
	missing, err := p.reviews.Missing(ctx, *account, own(p.namespace))
	if err != nil {
		return append(lines, unread(object, "which rights the operator has could not be asked", err)), ""
	}
	if len(missing) > 0 {
		lines = append(
			lines,
			Line{
				Status:  Fail,
				Object:  object,
				Message: "the operator may not " + words(missing),
				WayOut:  "apply config/rbac, or the chart, anew",
			},
		)
	}
	return lines, "the operator has its own rights"
}

// words are what is missing, in short.
func words(missing []rights.Right) string {
	var all []string
	for _, right := range missing {
		if text := right.String(); !slices.Contains(all, text) { // several reasons may ask for the same
			all = append(all, text)
		}
	}
	return terminal.Shortened(all, maxNamed)
}

// cleanerRights looks whether the account of each Cleaner may do what the Cleaner asks for.
func (p *patient) cleanerRights(ctx context.Context) (lines []Line, well string) {
	if lines := p.cleanersUnread(); lines != nil {
		return lines, ""
	}
	operator := p.itself()
	if operator == nil {
		return noAccount(), ""
	}
	if p.declaredErr != nil {
		lines = append(lines, unread("", "which kinds findings look at is not known", p.declaredErr))
	}
	for i := range p.cleaners {
		c := &p.cleaners[i]
		object := ref("Cleaner", c.Name)
		needed, err := p.needed.Of(ctx, c)
		if ctx.Err() != nil {
			return nil, ""
		}
		if err != nil { // the check cleaners tells of a kind that is not served
			lines = append(lines, Line{
				Status:  Unknown,
				Object:  object,
				Message: "which rights it needs could not be found out: " + terminal.OneLine(err.Error()),
				WayOut:  "correct the Cleaner, and run doctor again",
			})
			continue
		}
		found, err := p.lacks(ctx, c, *operator, needed)
		if err != nil {
			return append(lines, unread("", "which rights accounts have could not be asked", err)), ""
		}
		lines = append(lines, found...)
	}
	return lines, "each Cleaner has the rights that it needs"
}

// lacks are the lines about the rights that a Cleaner does not have.
func (p *patient) lacks(
	ctx context.Context,
	c *v1alpha1.Cleaner,
	operator v1alpha1.ServiceAccountRef,
	needed []rights.Right,
) (lines []Line, err error) {
	object, account := ref("Cleaner", c.Name), operator
	lines = append(lines, p.accountGone(ctx, c)...)
	wayOut := "grant it to the operator (config/rbac/cleaner_targets_role.yaml, or rbac.mode of the chart), or let the Cleaner name an account"
	if named := c.Spec.ServiceAccountRef; named != nil {
		account, wayOut = *named, fmt.Sprintf("%s rbac %s | kubectl apply -f -", terminal.Program, c.Name)
		act := rights.Right{Verb: "impersonate", Resource: "serviceaccounts", Namespace: named.Namespace, Name: named.Name}
		missing, err := p.reviews.Missing(ctx, operator, []rights.Right{act})
		if err != nil {
			return nil, err
		}
		if len(missing) > 0 {
			lines = append(
				lines,
				Line{
					Status:  Fail,
					Object:  object,
					Message: "the operator may not act as ServiceAccount " + named.String(),
					WayOut:  "apply config/policy; with Helm: policies.enabled=true",
				},
			)
		}
	}
	missing, err := p.reviews.Missing(ctx, account, needed)
	if err != nil || len(missing) == 0 {
		return lines, err
	}
	line := Line{
		Status:  Warn,
		Object:  object,
		Message: fmt.Sprintf("in some cases it lacks a right: ServiceAccount %s may not %s", account, words(missing)),
		WayOut:  wayOut,
	}
	var must []rights.Right
	for _, right := range missing {
		if !right.Optional {
			must = append(must, right)
		}
	}
	if len(must) > 0 {
		line.Status, line.Message = Fail, fmt.Sprintf("ServiceAccount %s may not %s", account, words(must))
	}
	return append(lines, line), nil
}
