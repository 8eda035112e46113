// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// group are the Cleaners that run as one account.
type group struct {
	account  v1alpha1.ServiceAccountRef
	cleaners []*v1alpha1.Cleaner
	// unnamed are those that do not name it themselves.
	unnamed []string
}

// byAccount groups Cleaners by their accounts. The given one is for those that name none.
func byAccount(
	cmd *cobra.Command,
	cleaners []*v1alpha1.Cleaner,
	given *v1alpha1.ServiceAccountRef,
) (groups []*group, err error) {
	var without []string
	for _, cleaner := range cleaners {
		account := cmp.Or(cleaner.Spec.ServiceAccountRef, given)
		if account == nil {
			without = append(without, cleaner.Name)
			continue
		}
		i := slices.IndexFunc(groups, func(g *group) bool { return g.account == *account })
		if i < 0 {
			i, groups = len(groups), append(groups, &group{account: *account})
		}
		groups[i].cleaners = append(groups[i].cleaners, cleaner)
		if cleaner.Spec.ServiceAccountRef == nil {
			groups[i].unnamed = append(groups[i].unnamed, cleaner.Name)
		}
	}
	if len(without) > 0 {
		return nil, terminal.UsageError(cmd, "no spec.serviceAccountRef in Cleaner "+strings.Join(without, ", ")+
			"; set it, or say which account you will set: --service-account NAMESPACE/NAME")
	}
	return groups, nil
}

// addSharers adds to each group the other Cleaners of the cluster that name its account. The Roles bear the account's
// name: without the rules of these Cleaners, applying the output would take their rights away.
func (o *options) addSharers(ctx context.Context, api *cluster.Client, groups []*group) error {
	all, err := others(ctx, api)
	if apierrors.IsForbidden(err) {
		o.Note("you are not allowed to list Cleaners, so it is not known whether other Cleaners use the same ServiceAccount. " +
			"If you apply the output, those Cleaners lose rights that only they need")
		return nil
	}
	if err != nil && !apierrors.IsNotFound(err) { // without the kind, there are none
		return cluster.RequestError("listing the Cleaners", err)
	}
	for _, g := range groups {
		var added []string
		for _, cleaner := range all {
			if account := cleaner.Spec.ServiceAccountRef; account != nil && *account == g.account && !g.has(cleaner.Name) {
				g.cleaners, added = append(g.cleaners, cleaner), append(added, terminal.OneLine(cleaner.Name))
			}
		}
		if len(added) > 0 {
			o.Note("the Roles also have the rights of %s, which %s the same ServiceAccount %s", strings.Join(added, ", "),
				terminal.Plural(int64(len(added)), "uses", "use"), g.account)
		}
	}
	return nil
}

// others are all Cleaners of the cluster.
func others(ctx context.Context, api *cluster.Client) (all []*v1alpha1.Cleaner, err error) {
	err = cluster.List[v1alpha1.CleanerList](ctx, api, cluster.CleanerPath(""), func(cleaner *v1alpha1.Cleaner) {
		all = append(all, cleaner)
	})
	return all, err
}

func (g *group) has(name string) bool {
	return slices.ContainsFunc(g.cleaners, func(c *v1alpha1.Cleaner) bool { return c.Name == name })
}

func (g *group) hasFindings() bool {
	return slices.ContainsFunc(g.cleaners, (*v1alpha1.Cleaner).HasFindings)
}

// heading is the comment above the manifests of an account.
func (g *group) heading() string {
	var names []string
	for _, cleaner := range g.cleaners {
		names = append(names, terminal.OneLine(cleaner.Name))
	}
	text := fmt.Sprintf(
		"# What %s %s needs as ServiceAccount %s.\n",
		terminal.Plural(int64(len(names)), "Cleaner", "each of the Cleaners"),
		strings.Join(names, ", "),
		g.account,
	)
	if len(g.unnamed) > 0 {
		text += fmt.Sprintf(
			"# Set spec.serviceAccountRef: {namespace: %s, name: %s} in: %s\n",
			g.account.Namespace,
			g.account.Name,
			terminal.OneLine(strings.Join(g.unnamed, ", ")),
		)
	}
	return text + "# The operator must be allowed to impersonate the account (config/policy, or the Helm value policies.enabled). Copies and records are written with the operator's own rights.\n"
}
