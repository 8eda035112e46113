// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// verbs is in which order a rule has them.
var verbs = []string{"list", "get", "create", "patch", "delete"}

// Rule is a rule of a Role, and who needs it: a line for each verb and reason.
type Rule struct {
	rbacv1.PolicyRule
	Whys []string
}

// Role is a Role, or a ClusterRole when the namespace is empty.
type Role struct {
	Namespace string
	Rules     []Rule
}

// Roles are the Roles that give the rights: the ClusterRole, if there is one, comes first.
func Roles(all []Right) (roles []Role) {
	var namespaces []string
	for _, right := range all {
		namespaces = append(namespaces, right.Namespace)
	}
	slices.Sort(namespaces)
	for _, namespace := range slices.Compact(namespaces) {
		of := slices.DeleteFunc(slices.Clone(all), func(r Right) bool { return r.Namespace != namespace })
		roles = append(roles, Role{namespace, Rules(of)})
	}
	return roles
}

// Rules are the rules that give rights in one namespace. Resources of one group with the same verbs for the same
// reasons are in one rule.
func Rules(all []Right) (rules []Rule) {
	for _, right := range all {
		same := func(r Rule) bool {
			return r.APIGroups[0] == right.Group && r.Resources[0] == right.Resource &&
				strings.Join(r.ResourceNames, "") == right.Name
		}
		i := slices.IndexFunc(rules, same)
		if i < 0 {
			i, rules = len(
				rules,
			), append(
				rules,
				Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{right.Group}, Resources: []string{right.Resource}}},
			)
			if right.Name != "" {
				rules[i].ResourceNames = []string{right.Name}
			}
		}
		rules[i].add(right)
	}
	for i := range rules {
		rules[i].sort()
	}
	return merged(rules)
}

func (r *Rule) add(right Right) {
	if !slices.Contains(r.Verbs, right.Verb) {
		r.Verbs = append(r.Verbs, right.Verb)
	}
	if why := right.Verb + ": " + terminal.OneLine(right.Why); right.Why != "" && !slices.Contains(r.Whys, why) {
		r.Whys = append(r.Whys, why)
	}
}

// sort puts the verbs, and the reasons by their verbs, in a fixed order.
func (r *Rule) sort() {
	rank := func(verb string) int { return slices.Index(verbs, verb) }
	slices.SortFunc(r.Verbs, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	verbOf := func(why string) int {
		verb, _, _ := strings.Cut(why, ":")
		return rank(verb)
	}
	slices.SortStableFunc(r.Whys, func(a, b string) int { return cmp.Compare(verbOf(a), verbOf(b)) })
}

// merged makes one rule of those that differ only in their resources.
func merged(rules []Rule) (all []Rule) {
	for _, rule := range rules {
		i := slices.IndexFunc(all, func(r Rule) bool {
			return r.APIGroups[0] == rule.APIGroups[0] && slices.Equal(r.ResourceNames, rule.ResourceNames) &&
				slices.Equal(r.Verbs, rule.Verbs) &&
				slices.Equal(r.Whys, rule.Whys)
		})
		if i < 0 {
			all = append(all, rule)
		} else {
			all[i].Resources = append(all[i].Resources, rule.Resources...)
		}
	}
	for i := range all {
		slices.Sort(all[i].Resources)
	}
	slices.SortStableFunc(all, func(a, b Rule) int { return strings.Compare(a.APIGroups[0], b.APIGroups[0]) })
	return all
}

// YAML is the Role as YAML, with a comment above each rule that says who needs it.
func (r Role) YAML(name string) (string, error) {
	head, err := terminal.AsYAML(
		map[string]any{
			"apiVersion": rbacv1.SchemeGroupVersion.String(),
			"kind":       r.Kind(),
			"metadata":   metadata(name, r.Namespace),
		},
	)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString(head + "rules:\n")
	for _, rule := range r.Rules {
		for _, why := range rule.Whys {
			fmt.Fprintf(&text, "# %s\n", why)
		}
		written, err := terminal.AsYAML([]rbacv1.PolicyRule{rule.PolicyRule})
		if err != nil {
			return "", err
		}
		text.WriteString(written)
	}
	return text.String(), nil
}

// Kind is Role or ClusterRole.
func (r Role) Kind() string {
	if r.Namespace == "" {
		return "ClusterRole"
	}
	return "Role"
}

func metadata(name, namespace string) map[string]any {
	found := map[string]any{"name": name}
	if namespace != "" {
		found["namespace"] = namespace
	}
	return found
}

// NameFor is the name of the Roles and bindings of an account. No two accounts have the same.
func NameFor(account v1alpha1.ServiceAccountRef) string {
	return "kubecleaner:" + account.Namespace + ":" + account.Name
}

// ForAccount are the manifests that give an account the rights: the ServiceAccount, the Roles, and after
// each one its binding.
func ForAccount(account v1alpha1.ServiceAccountRef, all []Right) ([]string, error) {
	name := NameFor(account)
	text, err := terminal.AsYAML(map[string]any{
		"apiVersion": "v1",
		"kind":       "ServiceAccount",
		// Only its name: it may be there already, with settings of its own that Pods rely on.
		"metadata": metadata(account.Name, account.Namespace),
	})
	if err != nil {
		return nil, err
	}
	documents := []string{text}
	for _, role := range Roles(all) {
		written, err := role.YAML(name)
		if err != nil {
			return nil, err
		}
		bound, err := terminal.AsYAML(map[string]any{
			"apiVersion": rbacv1.SchemeGroupVersion.String(),
			"kind":       role.Kind() + "Binding",
			"metadata":   metadata(name, role.Namespace),
			"roleRef":    map[string]any{"apiGroup": rbacv1.GroupName, "kind": role.Kind(), "name": name},
			"subjects":   []any{map[string]any{"kind": "ServiceAccount", "namespace": account.Namespace, "name": account.Name}},
		})
		if err != nil {
			return nil, err
		}
		documents = append(documents, written, bound)
	}
	return documents, nil
}
