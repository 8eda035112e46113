// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// binding is to whom a binding gives a role: accounts, whose names and namespaces may be "*", users and groups. The
// namespace is empty for all.
type binding struct {
	role      graph.Name
	namespace string
	subjects  []graph.Name
}

// place is an object with a name in a namespace. The namespace is empty for all, and the name "*".
type place struct {
	right           right
	namespace, name string
}

// rights are what is kept of roles, of bindings, and of the accounts of workloads.
type rights struct {
	grants   map[graph.Name][]grant
	bindings []binding
	// running are the workloads, and scheduled the CronJobs, by their accounts: two of each.
	running, scheduled map[graph.Name][]graph.Name
	// runningIn are the workloads by their namespaces.
	runningIn map[string][]graph.Name
	// users are those of them who have a right at a place, and granted the subjects to which a Role gives it.
	users, granted map[place][]graph.Name
}

func newRights() rights {
	return rights{
		grants: map[graph.Name][]grant{}, running: map[graph.Name][]graph.Name{},
		scheduled: map[graph.Name][]graph.Name{}, runningIn: map[string][]graph.Name{},
		users: map[place][]graph.Name{}, granted: map[place][]graph.Name{},
	}
}

// rbacKinds are roles and bindings. Those of a namespace stand first.
var rbacKinds = []schema.GroupKind{roles, roleBindings, clusterRoles, clusterRoleBindings}

// needsRights reports whether it matters to the row who has rights.
func (r *row) needsRights() bool { return slices.Contains(r.reads, clusterRoleBindings) }

// showsRights reports whether objects of the kind show who has rights that matter.
func (f *Finder) showsRights(kind schema.GroupKind) bool {
	if kind == cronJobs || slices.Contains(rbacKinds, kind) {
		return slices.ContainsFunc(f.rows, (*row).needsRights)
	}
	return f.mayWait(kind)
}

// mayWait reports whether Pods of the kind may wait for a Job whose end matters.
func (f *Finder) mayWait(kind schema.GroupKind) bool {
	return slices.ContainsFunc(f.rows, func(r *row) bool { return slices.Contains(f.waitersFor(r), kind) })
}

// waitersFor are the kinds whose Pods may wait for the objects of a row.
func (f *Finder) waitersFor(r *row) []schema.GroupKind {
	if r.kind == jobs && r.typ == v1alpha1.FindingFinished {
		return f.Table.PodKinds()
	}
	return nil
}

// noteRight takes note of a role, a binding, or the accounts of a workload.
func (f *Finder) noteRight(o *object.Parts) {
	switch o.Kind.GroupKind() {
	case roles, clusterRoles:
		if grants := grantsOf(o); len(grants) > 0 {
			f.grants[clonedName(o)] = grants
			for _, g := range grants {
				f.bytes += 256
				for _, name := range g.names { // a place each, which settleRight may keep
					f.bytes += int64(256 + len(name))
				}
			}
		}
	case roleBindings, clusterRoleBindings:
		if subjects := subjectsOf(o); len(subjects) > 0 {
			f.bindings = append(f.bindings, binding{boundBy(o), strings.Clone(o.Namespace), subjects})
			f.bytes += 256
			for _, subject := range subjects {
				f.bytes += int64(128 + len(subject.Name) + len(subject.Namespace))
			}
		}
	default:
		f.noteAccounts(o)
	}
}

// noteAccounts takes note of the accounts of a workload.
func (f *Finder) noteAccounts(o *object.Parts) {
	if o.Namespace == "" || isCopy(o) || hasEnded(o) || isEnded(o) {
		return
	}
	f.Table.EachTemplate(o, func(_, spec object.JSON) {
		account := graph.Name{GroupKind: accounts, Namespace: strings.Clone(o.Namespace)}
		account.Name = cmp.Or(spec.Field("serviceAccountName").Text(), spec.Field("serviceAccount").Text(), "default")
		user := clonedName(o)
		noteUser(f, f.running, account, user)
		noteUser(f, f.runningIn, account.Namespace, user)
		if o.Kind.GroupKind() == cronJobs {
			noteUser(f, f.scheduled, account, user)
		}
	})
}

// noteUser takes note of a workload by its account, by its namespace, or by what it may do.
func noteUser[K comparable](f *Finder, by map[K][]graph.Name, key K, user graph.Name) {
	before := len(by[key])
	if by[key] = withName(by[key], user); len(by[key]) > before {
		f.bytes += 256
	}
}

// withName adds a name, and keeps the first two: one of them may be the object that is judged.
func withName(names []graph.Name, name graph.Name) []graph.Name {
	if !slices.Contains(names, name) {
		names = append(names, name)
		slices.SortFunc(names, func(a, b graph.Name) int { return cmp.Compare(a.String(), b.String()) })
	}
	return names[:min(len(names), 2)]
}

func clonedName(o *object.Parts) graph.Name {
	name := graph.NameOf(o.Object)
	name.Namespace, name.Name = strings.Clone(name.Namespace), strings.Clone(name.Name)
	return name
}

// isEnded reports whether a Job is over.
func isEnded(o *object.Parts) bool {
	ended := func(condition string) bool { return conditionOf(o, condition).Field("status").Text() == "True" }
	return o.Kind.GroupKind() == jobs && (ended("Complete") || ended("Failed"))
}

// settleRights says who has which right where, after all roles and bindings have passed.
func (f *Finder) settleRights() {
	for _, b := range f.bindings {
		for _, g := range f.grants[b.role] {
			f.settleRight(b, g)
		}
	}
}

// settleRight takes note of two users and two subjects for each name. Which they are is the same for all names, except
// that some subjects count only where an object is named.
func (f *Finder) settleRight(b binding, g grant) {
	all := f.scheduled
	if g.right.reads {
		all = f.running
	}
	users := map[string][]graph.Name{} // by the namespace in which they have the right
	for _, subject := range b.subjects {
		for _, user := range usersAs(all, subject) {
			in := b.namespace
			if g.right.reads && in == "" { // operators may read all Jobs of the cluster: only those beside them are theirs
				in = user.Namespace
			}
			users[in] = withName(users[in], user)
		}
	}
	shown := map[bool][]graph.Name{false: b.shown(g, "*"), true: b.shown(g, "")} // by whether an object is named
	for _, name := range g.names {
		at := place{g.right, b.namespace, name}
		for _, subject := range shown[name != "*"] {
			f.granted[at] = withName(f.granted[at], subject)
		}
		for in, some := range users {
			for _, user := range some {
				noteUser(f, f.users, place{g.right, in, name}, user)
			}
		}
	}
}

// shown are two subjects of whom a right says by itself that they start something.
func (b binding) shown(g grant, name string) (subjects []graph.Name) {
	for _, subject := range b.subjects {
		if b.shows(g, subject, name) {
			subjects = withName(subjects, subject)
		}
	}
	return subjects
}

// shows reports whether a right says by itself that the subject starts something. What people may start in general says
// nothing; what they may start by its name does. Of ClusterRoles, only those count that name the kind, and that a
// binding of the namespace gives to an account of another one.
func (b binding) shows(g grant, subject graph.Name, name string) bool {
	isAccount := subject.GroupKind == accounts
	if b.role.GroupKind == roles {
		return isAccount || name != "*"
	}
	return !g.forAll && isAccount && b.namespace != "" && subject.Namespace != b.namespace
}

// usersAs are who runs as an account.
func usersAs(users map[graph.Name][]graph.Name, account graph.Name) (found []graph.Name) {
	if account.Name != "*" {
		return users[account]
	}
	for other, names := range users {
		if account.Namespace == "*" || account.Namespace == other.Namespace {
			found = append(found, names...)
		}
	}
	return found
}
