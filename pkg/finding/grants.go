// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// right is what an account may do: read Jobs, or else start objects of a kind, which have no replicas or are suspended.
type right struct {
	kind  schema.GroupKind
	reads bool
}

var readsJobs = right{jobs, true}

// ruleOf are rules that give a right.
var ruleOf = []struct {
	right            right
	resources, verbs []string
}{
	{readsJobs, []string{"jobs"}, []string{"get", "list", "watch"}},
	{right{deployments, false}, []string{"deployments", "deployments/scale", "*/scale"}, []string{"patch", "update"}},
	{right{statefulSets, false}, []string{"statefulsets", "statefulsets/scale", "*/scale"}, []string{"patch", "update"}},
	{right{replicaSets, false}, []string{"replicasets", "replicasets/scale", "*/scale"}, []string{"patch", "update"}},
	{right{cronJobs, false}, []string{"cronjobs"}, []string{"patch", "update"}},
	{right{cronJobs, false}, []string{"jobs"}, []string{"create"}},
	{right{jobs, false}, []string{"jobs"}, []string{"patch", "update"}},
}

// grant is a right that a role gives, to the objects with the names. "*" is each. forAll is true when the role gives
// it to each kind.
type grant struct {
	right  right
	names  []string
	forAll bool
}

func grantsOf(o *object.Parts) (grants []grant) {
	for rule := range o.At("rules").Elements() {
		var names []string
		for name := range rule.Field("resourceNames").Elements() {
			names = append(names, name.Text())
		}
		if names == nil {
			names = []string{"*"}
		}
		for _, r := range ruleOf {
			if allows(rule, r.right.kind.Group, r.resources, r.verbs) {
				grants = withGrant(grants, grant{r.right, names, allows(rule, r.right.kind.Group, nil, r.verbs)})
			}
		}
	}
	return grants
}

// withGrant adds a grant, to the one of other rules with the same right if there is one.
func withGrant(grants []grant, g grant) []grant {
	for i := range grants {
		if grants[i].right == g.right && grants[i].forAll == g.forAll {
			grants[i].names = slices.Concat(grants[i].names, g.names)
			return grants
		}
	}
	return append(grants, g)
}

// allows reports whether a rule lets somebody do something with a resource. "*" is each.
func allows(rule object.JSON, group string, resources, verbs []string) bool {
	has := func(field string, wanted ...string) bool {
		for text := range rule.Field(field).Elements() {
			if is := text.Text(); is == "*" || slices.Contains(wanted, is) {
				return true
			}
		}
		return false
	}
	return has("apiGroups", group) && has("resources", resources...) && has("verbs", verbs...)
}

// subjectsOf are those for whom a binding is: accounts, users and groups.
func subjectsOf(o *object.Parts) (found []graph.Name) {
	for value := range o.At("subjects").Elements() {
		kind, name := value.Field("kind").Text(), value.Field("name").Text()
		account, isAccount := subject(o, value)
		namespace, isOfAccounts := strings.CutPrefix(name, "system:serviceaccounts")
		switch {
		case isAccount:
			found = append(found, account)
		case kind == "Group" && isOfAccounts:
			namespace = cmp.Or(strings.TrimPrefix(namespace, ":"), "*")
			found = append(found, graph.Name{GroupKind: accounts, Namespace: namespace, Name: "*"})
		case kind == "Group" && name == "system:authenticated":
			found = append(found, graph.Name{GroupKind: accounts, Namespace: "*", Name: "*"})
		default:
			found = append(found, graph.Name{GroupKind: schema.GroupKind{Kind: kind}, Name: name})
		}
	}
	return found
}
