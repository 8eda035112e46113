// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// namedRow is of a kind that is unused when nothing names it.
func namedRow(kind schema.GroupKind) *row {
	return &row{
		kind:       kind,
		typ:        v1alpha1.FindingUnused,
		actionable: true,
		named:      true,
		cascades:   true,
		likely:     true,
		means:      "nothing names it",
		look:       lookUnlessLive,
		judge:      judgeNamed,
	}
}

func namedRows() []*row {
	account := namedRow(accounts)
	account.means = "no Pod, template or binding names it, and it has neither a token of its own nor an identity of a cloud"
	account.look = lookAccount
	secret := namedRow(secrets)
	secret.means = "nothing names it, and it is not a Helm release, a bootstrap token or the token of an account"
	secret.fields = "type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token,type!=bootstrap.kubernetes.io/token"
	token := &row{
		kind:       secrets,
		typ:        v1alpha1.FindingUnused,
		actionable: true,
		fields:     "type=kubernetes.io/service-account-token",
		means:      "it is the token of a ServiceAccount that does not exist",
		reads:      []schema.GroupKind{accounts},
		look:       lookToken,
	}
	priority := namedRow(priorityClasses)
	priority.body, priority.look = true, func(f *Finder, o *object.Parts) *candidate {
		if o.At("globalDefault").String() == "true" {
			return nil
		}
		return lookUnlessLive(f, o)
	}
	configMap := namedRow(configMaps)
	configMap.look, secret.look = lookReadable, lookReadable
	return append(classRows(), configMap, secret, token, account, priority, namedRow(runtimeClasses))
}

// cloudIdentities are the ends of annotations that give an account an identity outside the cluster, such as
// eks.amazonaws.com/role-arn: something out there trusts it. Most clouds have one of them.
var cloudIdentities = []string{"/role-arn", "/gcp-service-account", "/client-id", "/role-name"}

// hasIdentity reports whether an account has an identity outside the cluster.
func hasIdentity(account *object.Parts) bool {
	for name, value := range account.At("metadata", "annotations").Fields() {
		isEnd := func(end string) bool { return strings.HasSuffix(name.String(), end) }
		if value.Text() != "" && slices.ContainsFunc(cloudIdentities, isEnd) {
			return true
		}
	}
	return false
}

func lookAccount(f *Finder, o *object.Parts) *candidate {
	if hasIdentity(o) {
		return nil
	}
	c := lookUnlessLive(f, o)
	if c != nil && o.Name == cephCSIAccount {
		c.mayUse = cephCSI + " asks for its tokens by a name that it knows"
	}
	return c
}

// lookToken looks at a token. It is of use as long as its account is there.
func lookToken(_ *Finder, o *object.Parts) *candidate {
	account := graph.Name{
		GroupKind: accounts,
		Namespace: o.Namespace,
		Name:      annotation(o, "kubernetes.io/service-account.name"),
	}
	if account.Name == "" {
		return nil
	}
	return &candidate{decide: func(f *Finder, found Finding) *Finding {
		return f.unusedWithout(found, "it is the token of "+account.String(), account)
	}}
}

// unusedWithout finds an object that is of no use when the one that it is for is proved absent.
func (f *Finder) unusedWithout(found Finding, what string, name graph.Name) *Finding {
	found.Unknown = f.whyUnsure(name)
	switch {
	case len(found.Unknown) > 0 && !f.graph.IsPresent(name):
		found.Reason = what + ", and it is unknown whether that exists"
	case f.isAbsent(name):
		found.Confidence = v1alpha1.ConfidenceCertain
		found.Reason = what + ", which does not exist"
	default:
		return nil
	}
	return &found
}

// lookUnlessLive keeps what nothing that runs has named so far.
func lookUnlessLive(f *Finder, o *object.Parts) *candidate {
	if f.graph.IsLive(graph.NameOf(o.Object)) {
		return nil
	}
	return &candidate{}
}

// nameOf is the name of what was found.
func nameOf(found *Finding) graph.Name {
	return graph.Name{GroupKind: found.Kind.GroupKind(), Namespace: found.Namespace, Name: found.Name}
}

// judgeNamed finds what nothing names, or only what is idle or unused itself.
func judgeNamed(f *Finder, c *candidate) *Finding {
	return f.judgeUse(c, f.graph.Use(c.object()))
}

// judgeUse finds what is not used, after all sources of uses were read. The finding is valid until the next call.
func (f *Finder) judgeUse(c *candidate, use graph.Use) *Finding {
	if use.IsUsed() {
		return nil
	}
	search := f.searchFor(c.row)
	f.judged = c.finding()
	found := &f.judged
	found.Searched, found.Unknown = search.kinds, search.unread
	switch {
	case len(found.Unknown) > 0:
		f.judgeUnread(c.row, found, use)
	case use.IsNamed():
		found.Type, found.Confidence, found.Users = v1alpha1.FindingCascading, v1alpha1.ConfidenceLikely, use.Users
		found.Reason = "only unused or idle objects use it: " + usersOf(use.Users)
		f.doubtAtZero(found, use.Users)
	case use.Read:
		readers := usersOf(with(use.Users, graph.Reads))
		found.Reason = "nothing names it, but somebody may read it: " + readers
		found.Unknown = []Unread{{Err: errors.New("somebody may read it: " + readers)}}
	case use.Hinted && !c.reported:
		found.Confidence = v1alpha1.ConfidenceWeak
		found.Reason = search.inVain + ", but this may use it without its name: " + usersOf(with(use.Users, graph.Hints))
	default:
		found.Confidence = v1alpha1.ConfidenceLikely
		found.Reason = search.inVain
		if why := f.whyWeak(c); why != "" {
			found.Confidence = v1alpha1.ConfidenceWeak
			found.Reason += ", but " + why
		}
		if c.row.pods {
			f.doubtMakers(found)
		}
	}
	return found
}

// judgeUnread says what may be found of an object when some sources of uses could not be read.
func (f *Finder) judgeUnread(r *row, found *Finding, use graph.Use) {
	found.Searched = f.searched(f.sourcesOf(r), found.Unknown)
	if use.IsNamed() {
		found.Type, found.Users = v1alpha1.FindingCascading, use.Users
		found.Reason = "all that is known to use it is unused or idle: " + usersOf(use.Users)
		return
	}
	found.Reason = inVainOf("no user found", found.Searched, found.Unknown, "can name it")
}

// with are the users whose references have a strength.
func with(users []graph.User, strength graph.Strength) []graph.User {
	return slices.DeleteFunc(slices.Clone(users), func(user graph.User) bool { return user.Strength != strength })
}

// usersOf names users for people: the first, and how many more.
func usersOf(users []graph.User) string {
	switch len(users) {
	case 0:
		return "one of very many"
	case 1:
		return users[0].String()
	}
	return fmt.Sprintf("%s and %d more", users[0], len(users)-1)
}
