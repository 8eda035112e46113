// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/rights"
)

// own are the rights for the operator's own work; config/rbac gives them. It works without those that are Optional, but
// nobody can read its metrics.
func (p *patient) own() (all []rights.Right) {
	group := v1alpha1.GroupVersion.Group
	for _, of := range []struct{ group, resource, namespace, verbs string }{
		{group, "cleaners", "", "get list watch patch"},
		{group, "cleaners/status", "", "patch"},
		{group, "cleanerruns", "", "create delete get list"},
		{group, "cleanerruns/status", "", "patch update"},
		{group, "cleanerapprovals", "", "create get list"},
		{group, "reports", "", "create delete get patch"},
		{"apiextensions.k8s.io", "customresourcedefinitions", "", "get"},
		{"admissionregistration.k8s.io", "validatingadmissionpolicies", "", "list"},
		{"admissionregistration.k8s.io", "validatingadmissionpolicybindings", "", "list"},
		{"events.k8s.io", "events", "", "create patch"},
		{"", "events", "", "create patch"}, // leader election writes those
		{"", "namespaces", "", "get list watch"},
		{"", "secrets", p.namespace, "create delete get list update"},
		{"", "configmaps", p.namespace, "create delete get list update"},
		{"coordination.k8s.io", "leases", p.namespace, "create get update"},
	} {
		for verb := range strings.FieldsSeq(of.verbs) {
			all = append(all, rights.Right{Verb: verb, Group: of.group, Resource: of.resource, Namespace: of.namespace})
		}
	}
	if address, _ := p.flag("diagnostics-address"); address == "0" || p.isSet("insecure-diagnostics") {
		return all
	}
	return append(all, // to find out who may read the metrics
		rights.Right{Verb: "create", Group: "authentication.k8s.io", Resource: "tokenreviews", Optional: true},
		rights.Right{Verb: "create", Group: "authorization.k8s.io", Resource: "subjectaccessreviews", Optional: true},
	)
}

// operatorRights looks whether the operator can do its own work.
func (p *patient) operatorRights(ctx context.Context) (lines []Line, well string) {
	account := p.itself()
	if account == nil {
		return p.noAccount(), ""
	}
	object := ref("ServiceAccount", account.Namespace, account.Name)
	lines = p.itselfGone(ctx, *account)
	missing, err := p.reviews.Missing(ctx, *account, p.own())
	if err != nil {
		return append(lines, unread(object, "which rights the operator has could not be asked", err)), ""
	}
	causes, rest := p.blame(ctx, *account, []lack{{"the operator itself", missing}})
	lines = append(lines, causes...)
	for _, l := range rest {
		lines = append(lines, lackingItself(object, l.missing)...)
	}
	return lines, "the operator has its own rights"
}

// lackingItself are the lines about the rights that the operator does not have for its own work.
func lackingItself(object string, missing []rights.Right) (lines []Line) {
	var must, metrics []rights.Right
	for _, right := range missing {
		if right.Optional {
			metrics = append(metrics, right)
		} else {
			must = append(must, right)
		}
	}
	if len(must) > 0 {
		message := "the operator may not " + words(must)
		lines = append(lines, Line{Status: Fail, Object: object, Message: message, WayOut: again})
	}
	if len(metrics) > 0 {
		message := "nobody can read the operator's metrics: it may not " + words(metrics)
		lines = append(lines, Line{Status: Warn, Object: object, Message: message, WayOut: again})
	}
	return lines
}
