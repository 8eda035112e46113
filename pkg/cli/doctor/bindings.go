// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/rights"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// shippedRoles are the ends of the names of the ClusterRoles that an installation binds to the operator's account.
var shippedRoles = []string{"-manager-role", "-cleaner-targets", "-impersonator"}

// unbound is a ClusterRole of the installation that the operator's account does not have: one cause for all rights that
// it would give.
type unbound struct {
	role string
	// bindings name the role, and not the account.
	bindings []string
	rules    []rbacv1.PolicyRule
}

// unboundRoles are those that exist and are not bound to the account. What may not be read names no cause.
func (p *patient) unboundRoles(ctx context.Context, account v1alpha1.ServiceAccountRef) (all []unbound) {
	const path = "/apis/rbac.authorization.k8s.io/v1/"
	err := cluster.List[rbacv1.ClusterRoleList](ctx, p.api, path+"clusterroles", func(r *rbacv1.ClusterRole) {
		if slices.ContainsFunc(shippedRoles, func(end string) bool { return strings.HasSuffix(r.Name, end) }) {
			all = append(all, unbound{role: r.Name, rules: r.Rules})
		}
	})
	if err != nil || len(all) == 0 {
		return nil
	}
	bound := map[string]bool{}
	of := map[string][]string{}
	err = cluster.List[rbacv1.ClusterRoleBindingList](ctx, p.api, path+"clusterrolebindings",
		func(b *rbacv1.ClusterRoleBinding) {
			of[b.RoleRef.Name] = append(of[b.RoleRef.Name], b.Name)
			if slices.ContainsFunc(b.Subjects, func(s rbacv1.Subject) bool {
				return s.Kind == rbacv1.ServiceAccountKind && s.Namespace == account.Namespace && s.Name == account.Name
			}) {
				bound[b.RoleRef.Name] = true
			}
		})
	if err != nil {
		return nil
	}
	all = slices.DeleteFunc(all, func(u unbound) bool { return bound[u.role] })
	for i := range all {
		all[i].bindings = of[all[i].role]
	}
	return all
}

// gives reports whether the role would give a right. Names of single objects do not matter: no role that ships has any.
func (u unbound) gives(right rights.Right) bool {
	return slices.ContainsFunc(u.rules, func(rule rbacv1.PolicyRule) bool {
		has := func(all []string, one string) bool { return slices.Contains(all, one) || slices.Contains(all, "*") }
		return has(rule.Verbs, right.Verb) && has(rule.APIGroups, right.Group) && has(rule.Resources, right.Resource) &&
			len(rule.ResourceNames) == 0
	})
}

// lack is what somebody may not do, and who needs that.
type lack struct {
	who     string
	missing []rights.Right
}

// blame makes one line for each role that is not bound, in place of one for each Cleaner that lacks its rights. The
// rest are the rights that no such role would give.
func (p *patient) blame(
	ctx context.Context, account v1alpha1.ServiceAccountRef, lacks []lack,
) (lines []Line, rest []lack) {
	rest = slices.DeleteFunc(slices.Clone(lacks), func(l lack) bool { return len(l.missing) == 0 })
	if len(rest) == 0 {
		return nil, nil
	}
	for _, u := range p.unboundRoles(ctx, account) {
		var given []rights.Right
		var who []string
		for i, l := range rest {
			n := len(given)
			rest[i].missing = nil
			for _, right := range l.missing {
				if u.gives(right) {
					given = append(given, right)
				} else {
					rest[i].missing = append(rest[i].missing, right)
				}
			}
			if len(given) > n {
				who = append(who, l.who)
			}
		}
		if len(given) > 0 {
			lines = append(lines, u.line(account, given, who))
		}
		rest = slices.DeleteFunc(rest, func(l lack) bool { return len(l.missing) == 0 })
	}
	return lines, rest
}

func (u unbound) line(account v1alpha1.ServiceAccountRef, given []rights.Right, who []string) Line {
	line := Line{Status: Warn, Object: ref("ClusterRole", u.role)}
	if slices.ContainsFunc(given, func(r rights.Right) bool { return !r.Optional }) {
		line.Status = Fail
	}
	cause := "no ClusterRoleBinding binds it to ServiceAccount " + account.String()
	line.WayOut = fmt.Sprintf("kubectl create clusterrolebinding %s --clusterrole=%s --serviceaccount=%s:%s",
		u.role, u.role, account.Namespace, account.Name)
	if len(u.bindings) > 0 {
		cause = fmt.Sprintf("ClusterRoleBinding %s does not bind it to ServiceAccount %s",
			terminal.Shortened(u.bindings, maxNamed), account)
		line.WayOut = "apply config/rbac (or config/policy), or the chart, anew"
	}
	line.Message = fmt.Sprintf("%s, which therefore may not %s. %s needed by %s",
		cause, words(given), isOrAre(len(distinct(given))), terminal.Shortened(who, maxNamed))
	return line
}

func isOrAre(n int) string {
	if n == 1 {
		return "This right is"
	}
	return fmt.Sprintf("These %d rights are", n)
}
