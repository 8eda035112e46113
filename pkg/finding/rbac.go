// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func roleRows() []*row {
	binding := func(kind string) *row {
		return &row{
			kind: schema.GroupKind{
				Group: rbacv1.GroupName,
				Kind:  kind,
			},
			typ:        v1alpha1.FindingUnused,
			actionable: true,
			body:       true,
			crosses:    true,
			reads:      []schema.GroupKind{roles, clusterRoles, accounts},
			look:       lookBinding,
			means:      "its role does not exist, or all its subjects are ServiceAccounts that do not exist",
		}
	}
	role, clusterRole := namedRow(roles), namedRow(clusterRoles)
	role.means = "no RoleBinding names it"
	clusterRole.means = "no binding names it, and no ClusterRole that is used aggregates its rules"
	return []*row{role, clusterRole, binding("RoleBinding"), binding("ClusterRoleBinding")}
}

// isRole reports whether the row is of roles, which a program may bind later.
func (r *row) isRole() bool { return r.named && (r.kind == roles || r.kind == clusterRoles) }

// binders are the roles that let a program make bindings, by the namespace in which it may: empty for all. There are
// two of each at most: one of them may be the role that is judged.
type binders map[string][]graph.Name

// noteBinder takes note of a role that names bindings and lets somebody make them. One for everything is for people,
// and so are those that Kubernetes makes.
func (f *Finder) noteBinder(o *object.Parts) {
	if o.At("metadata", "labels", "kubernetes.io/bootstrapping").Text() != "" {
		return
	}
	for rule := range o.At("rules").Elements() {
		for resource := range rule.Field("resources").Elements() {
			if text := resource.Text(); text != "rolebindings" && text != "clusterrolebindings" ||
				!allows(rule, rbacv1.GroupName, []string{text}, []string{"create"}) {
				continue
			}
			noteUser(f, f.binders, strings.Clone(o.Namespace), clonedName(o))
			return
		}
	}
}

// binderOf says who may bind a role that nothing binds yet. Empty when nobody is known to. Where roles may not be read,
// it is unknown anyway whether the candidate is used.
func (f *Finder) binderOf(c *candidate) string {
	if !c.row.isRole() {
		return ""
	}
	binders := f.binders[""]
	if c.namespace != "" {
		binders = slices.Concat(binders, f.binders[c.namespace])
	}
	if binder := firstBut(c.object(), binders); binder != "" {
		return binder + " lets somebody make bindings, who may bind it later"
	}
	return ""
}

const accountPrefix = "system:serviceaccount:"

// subject is who a binding is for. ok is false of those that the cluster does not know: users and groups.
func subject(o *object.Parts, value object.JSON) (account graph.Name, ok bool) {
	name, namespace := value.Field("name").Text(), value.Field("namespace").Text()
	switch value.Field("kind").Text() {
	case "ServiceAccount":
		if namespace == "" {
			namespace = o.Namespace
		}
	case "User":
		rest, found := strings.CutPrefix(name, accountPrefix)
		if namespace, name, ok = strings.Cut(rest, ":"); !found || !ok {
			return graph.Name{}, false
		}
	default:
		return graph.Name{}, false
	}
	return graph.Name{GroupKind: accounts, Namespace: namespace, Name: name}, true
}

// boundBy is the role that a binding gives.
func boundBy(o *object.Parts) graph.Name {
	reference := o.At("roleRef")
	role := graph.Name{
		GroupKind: schema.GroupKind{Group: rbacv1.GroupName, Kind: reference.Field("kind").Text()},
		Name:      reference.Field("name").Text(),
	}
	if role.GroupKind == roles {
		role.Namespace = strings.Clone(o.Namespace)
	}
	return role
}

func lookBinding(f *Finder, o *object.Parts) *candidate {
	role := boundBy(o)
	var subjects []graph.Name
	known := true
	for value := range o.At("subjects").Elements() {
		account, ok := subject(o, value)
		known, subjects = known && ok, append(subjects, account)
	}
	if !known {
		subjects = nil
	}
	f.bytes += int64(96 * len(subjects))
	return &candidate{decide: func(f *Finder, found Finding) *Finding {
		byRole := f.unusedWithout(found, "it binds "+role.String(), role)
		if byRole != nil && len(byRole.Unknown) == 0 || !known {
			return byRole
		}
		if bySubjects := f.bindsNobody(
			found,
			subjects,
		); bySubjects != nil &&
			(byRole == nil || len(bySubjects.Unknown) == 0) {
			return bySubjects
		}
		return byRole
	}}
}

// bindsNobody finds a binding all of whose subjects are proved absent. Its own namespace exists, and so has the account
// that each namespace has; of another namespace that is not sure.
func (f *Finder) bindsNobody(found Finding, subjects []graph.Name) *Finding {
	if slices.ContainsFunc(subjects, func(account graph.Name) bool {
		return f.graph.IsPresent(account) || account.Namespace == found.Namespace && isInEachCluster(account)
	}) {
		return nil
	}
	for _, account := range subjects {
		if found.Unknown = f.whyUnsure(account); len(found.Unknown) > 0 {
			found.Reason = "it is unknown whether its subjects exist"
			return &found
		}
	}
	if len(subjects) == 0 {
		found.Confidence = v1alpha1.ConfidenceWeak
		found.Reason = "it has no subjects, but somebody may add some later"
		return &found
	}
	found.Confidence = v1alpha1.ConfidenceCertain
	found.Reason = "none of its subjects exists: " + namesOf(subjects)
	return &found
}
