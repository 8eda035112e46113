// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// bound is what is kept of the roles that bindings give in a namespace.
type bound struct {
	// making are the ClusterRoles that let somebody make Pods, and reading the roles that let somebody read all Secrets,
	// and do no more with them.
	making, reading map[graph.Name]bool
	// wide are the roles that let somebody make anything. The data of a claim is gone with it, so for claims they count.
	wide       map[graph.Name]bool
	boundRoles []boundRole
}

// boundRole is a role that a RoleBinding gives in its namespace. account is the first account among its subjects, and
// stranger the first one of another namespace. Empty when there is none.
type boundRole struct {
	namespace         string
	role              graph.Name
	account, stranger graph.Name
}

func newBound() bound {
	return bound{making: map[graph.Name]bool{}, reading: map[graph.Name]bool{}, wide: map[graph.Name]bool{}}
}

// bindingKinds are ClusterRoles and the RoleBindings that give them in a namespace.
var bindingKinds = []schema.GroupKind{clusterRoles, roleBindings}

// noteGiven takes note of a role that may be given to somebody. Those that Kubernetes makes are for people who deploy.
func (f *Finder) noteGiven(o *object.Parts) {
	if o.At("metadata", "labels", "kubernetes.io/bootstrapping").Text() != "" {
		return
	}
	for rule := range o.At("rules").Elements() {
		if o.Kind.GroupKind() == clusterRoles && makesPods(rule) { // noteRole knows the Roles that do
			f.noteIn(f.making, o)
		}
		if readsOnly(rule) {
			f.noteIn(f.reading, o)
		}
		if allows(rule, "", []string{"*"}, []string{"create"}) {
			f.noteIn(f.wide, o)
		}
	}
}

func (f *Finder) noteIn(set map[graph.Name]bool, o *object.Parts) {
	if name := graph.NameOf(o.Object); !set[name] {
		set[clonedName(o)] = true
		f.bytes += int64(128 + len(name.Name) + len(name.Namespace))
	}
}

// readsOnly reports whether a rule names Secrets, and lets somebody read all of them, but not write them: an operator,
// which writes what it has made, knows the names.
func readsOnly(rule object.JSON) bool {
	named := false
	for resource := range rule.Field("resources").Elements() {
		named = named || resource.Text() == "secrets"
	}
	return named && readsAll(rule, "secrets") &&
		!allows(rule, "", []string{"secrets"}, []string{"create", "update", "patch"})
}

// noteBound takes note of a RoleBinding.
func (f *Finder) noteBound(o *object.Parts) {
	b := boundRole{namespace: strings.Clone(o.Namespace), role: boundBy(o)}
	isStranger := func(s graph.Name) bool { return s.GroupKind == accounts && s.Namespace != o.Namespace }
	isAccount := func(s graph.Name) bool { return s.GroupKind == accounts }
	subjects := subjectsOf(o)
	if i := slices.IndexFunc(subjects, isAccount); i >= 0 {
		b.account = subjects[i]
	}
	if i := slices.IndexFunc(subjects, isStranger); i >= 0 {
		b.stranger = subjects[i]
	}
	if b.role.GroupKind == clusterRoles || b.account != (graph.Name{}) {
		b.role.Name = strings.Clone(b.role.Name)
		b.account.Name, b.account.Namespace = strings.Clone(b.account.Name), strings.Clone(b.account.Namespace)
		b.stranger.Name, b.stranger.Namespace = strings.Clone(b.stranger.Name), strings.Clone(b.stranger.Namespace)
		f.boundRoles = append(f.boundRoles, b)
		texts := len(b.account.Name) + len(b.account.Namespace) + len(b.stranger.Name) + len(b.stranger.Namespace)
		f.bytes += int64(640 + 2*(len(b.role.Name)+texts)) // twice, because settleBound may keep each as a text
	}
}

// settleBound says in which namespaces somebody may make Pods, or comes from elsewhere to read all Secrets, after all
// roles and bindings have passed.
func (f *Finder) settleBound() {
	for _, b := range f.boundRoles {
		if f.making[b.role] && f.makers[b.namespace] == "" {
			f.makers[b.namespace] = b.role.String() + " allows creating Pods in the namespace"
		}
		if f.reading[b.role] && b.stranger.Name != "" {
			f.strangers[b.namespace] = strangerWords(b.stranger)
		}
		if f.isWide(b.role) && b.account.Name != "" && f.deployers[b.namespace] == "" {
			f.deployers[b.namespace] = fmt.Sprintf("%s may create anything in the namespace (%s)",
				accountWords(b.account), b.role)
		}
	}
}

// wideRoles are ClusterRoles of Kubernetes. They name what they are for.
var wideRoles = []string{"cluster-admin", "admin", "edit"}

// isWide reports whether a role lets somebody make anything.
func (f *Finder) isWide(role graph.Name) bool {
	return f.wide[role] || role.GroupKind == clusterRoles && slices.Contains(wideRoles, role.Name)
}

// strangerOf says which account of another namespace may read a Secret that nothing names, because it may read every
// Secret there: a program that asks for Secrets by names that stand in its database. Empty when nobody is known to.
func (f *Finder) strangerOf(c *candidate) string {
	if !c.row.isReadable() || c.kind.GroupKind() != secrets {
		return ""
	}
	if who := f.strangers[c.namespace]; who != "" {
		return who + " may read every Secret of the namespace"
	}
	return ""
}

// strangerWords name an account of another namespace, or all of one or of all namespaces.
func strangerWords(account graph.Name) string {
	if account.Name != "*" {
		return account.String() + " of another namespace"
	}
	return accountWords(account)
}

// accountWords name an account, or all of one or of all namespaces.
func accountWords(account graph.Name) string {
	switch {
	case account.Name != "*":
		return account.String()
	case account.Namespace != "*":
		return "each ServiceAccount of namespace " + account.Namespace
	}
	return "each ServiceAccount of the cluster"
}

// mayBeGiven reports whether RoleBindings, or the ClusterRoles that they give, could not be read.
func (f *Finder) mayBeGiven() bool { return len(f.unreadOf(bindingKinds...)) > 0 }

// isGiven reports whether the kind is of what noteGiven and noteBound take.
func isGiven(kind schema.GroupKind) bool { return kind == roles || slices.Contains(bindingKinds, kind) }
