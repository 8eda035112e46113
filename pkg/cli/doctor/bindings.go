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

// shippedRoles are the ends of the names of the roles that an installation binds to the operator's account. With the
// chart's rbac.mode namespaces, there is a Role of the name in each namespace.
var shippedRoles = []string{"-manager-role", "-cleaner-targets", "-impersonator"}

// unbound is a role of the installation that the operator's account does not have: one cause for all rights that it
// would give. Namespace is empty for a ClusterRole.
type unbound struct {
	namespace, role string
	// bindings name the role, and not the account.
	bindings []string
	rules    []rbacv1.PolicyRule
}

// kind is that of the role.
func (u unbound) kind() string {
	if u.namespace == "" {
		return "ClusterRole"
	}
	return "Role"
}

// isOf reports whether the binding is of the role.
func (u unbound) isOf(b rbacv1.RoleBinding) bool {
	return b.Namespace == u.namespace && b.RoleRef.Kind == u.kind() && b.RoleRef.Name == u.role
}

// unboundRoles are those that exist and are not bound to the account. What may not be read names no cause.
func (p *patient) unboundRoles(ctx context.Context, account v1alpha1.ServiceAccountRef) (all []unbound) {
	found := p.shipped(ctx)
	if len(found) == 0 {
		return nil
	}
	bindings, err := p.bindings(ctx)
	if err != nil {
		return nil
	}
	for _, u := range found {
		bound := false
		for _, b := range bindings {
			if !u.isOf(b) {
				continue
			}
			u.bindings = append(u.bindings, b.Name)
			bound = bound || slices.ContainsFunc(b.Subjects, func(s rbacv1.Subject) bool {
				return s.Kind == rbacv1.ServiceAccountKind && s.Namespace == account.Namespace && s.Name == account.Name
			})
		}
		if !bound {
			all = append(all, u)
		}
	}
	return all
}

const rbacPath = "/apis/rbac.authorization.k8s.io/v1/"

// shipped are the roles of installations.
func (p *patient) shipped(ctx context.Context) (all []unbound) {
	add := func(namespace, name string, rules []rbacv1.PolicyRule) {
		if slices.ContainsFunc(shippedRoles, func(end string) bool { return strings.HasSuffix(name, end) }) {
			all = append(all, unbound{namespace: namespace, role: name, rules: rules})
		}
	}
	_ = cluster.List[rbacv1.ClusterRoleList](ctx, p.api, rbacPath+"clusterroles", func(r *rbacv1.ClusterRole) {
		add("", r.Name, r.Rules)
	})
	_ = cluster.List[rbacv1.RoleList](ctx, p.api, rbacPath+"roles", func(r *rbacv1.Role) {
		add(r.Namespace, r.Name, r.Rules)
	})
	return all
}

// bindings are those of all roles: a ClusterRoleBinding as the binding of no namespace.
func (p *patient) bindings(ctx context.Context) (all []rbacv1.RoleBinding, err error) {
	err = cluster.List[rbacv1.ClusterRoleBindingList](ctx, p.api, rbacPath+"clusterrolebindings",
		func(b *rbacv1.ClusterRoleBinding) {
			all = append(all, rbacv1.RoleBinding{ObjectMeta: b.ObjectMeta, RoleRef: b.RoleRef, Subjects: b.Subjects})
		})
	if err != nil {
		return nil, err
	}
	err = cluster.List[rbacv1.RoleBindingList](ctx, p.api, rbacPath+"rolebindings",
		func(b *rbacv1.RoleBinding) { all = append(all, *b) })
	return all, err
}

// gives reports whether the role would give a right. Names of single objects do not matter: no role that ships has any.
func (u unbound) gives(right rights.Right) bool {
	if u.namespace != "" && u.namespace != right.Namespace {
		return false
	}
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
	binding := u.kind() + "Binding"
	line := Line{Status: Warn, Object: ref(terminal.Compact([]string{u.kind(), u.namespace, u.role})...)}
	if slices.ContainsFunc(given, func(r rights.Right) bool { return !r.Optional }) {
		line.Status = Fail
	}
	cause := fmt.Sprintf("no %s binds it to ServiceAccount %s", binding, account)
	in := ""
	if u.namespace != "" {
		in = "-n " + u.namespace + " "
	}
	line.WayOut = fmt.Sprintf("kubectl %screate %s %s --%s=%s --serviceaccount=%s:%s",
		in, strings.ToLower(binding), u.role, strings.ToLower(u.kind()), u.role, account.Namespace, account.Name)
	if len(u.bindings) > 0 {
		cause = fmt.Sprintf("%s %s does not bind it to ServiceAccount %s",
			binding, terminal.Shortened(u.bindings, maxNamed), account)
		line.WayOut = again + "; and config/policy, if you use it"
	}
	line.Message = fmt.Sprintf("%s, which therefore may not %s. %s needed by %s",
		cause, words(given), isOrAre(len(distinct(given))), needers(who))
	return line
}

// needers are who needs a right: the first Cleaners, and how many there are.
func needers(who []string) string {
	if len(who) == 1 {
		return who[0]
	}
	return terminal.Counted(len(who), "Cleaner") + ": " + terminal.Shortened(who, maxObjects)
}

func isOrAre(n int) string {
	if n == 1 {
		return "This right is"
	}
	return fmt.Sprintf("These %d rights are", n)
}
