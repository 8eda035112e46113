// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestWhoMayNameAnAccount is threat T2: who creates a Cleaner that names a ServiceAccount must be allowed to impersonate it.
func TestWhoMayNameAnAccount(t *testing.T) {
	t.Parallel()
	deployed(t)
	b := newBench(t)
	home, away := b.namespace, b.newNamespace(nil)
	accounts := []v1alpha1.ServiceAccountRef{
		{Namespace: home, Name: "cleaner"},
		{Namespace: home, Name: "other"},
		{Namespace: away, Name: "cleaner"},
		{Namespace: "kube-system", Name: "generic-garbage-collector"},
	}
	all := []int{0, 1, 2, 3}
	for name, test := range map[string]struct {
		user  string
		grant func(user string)
		may   []int // which of the accounts
	}{
		"nobody in particular": {may: nil},
		"who reads, makes and edits accounts": {grant: func(user string) {
			b.allow(user, "", may("serviceaccounts", "get", "list", "create", "update", "patch", "delete"), may("serviceaccounts/token", "create"))
		}},
		"who impersonates users and groups": {grant: func(user string) { b.allow(user, "", may("users", "impersonate"), may("groups", "impersonate")) }},
		"who impersonates one account": {may: []int{0}, grant: func(user string) {
			b.allow(user, home, named(may("serviceaccounts", "impersonate"), "cleaner"))
		}},
		"who impersonates one name everywhere": {may: []int{0, 2}, grant: func(user string) {
			b.allow(user, "", named(may("serviceaccounts", "impersonate"), "cleaner"))
		}},
		"who impersonates a namespace's accounts": {may: []int{0, 1}, grant: func(user string) { b.allow(user, home, may("serviceaccounts", "impersonate")) }},
		"who edits a namespace":                   {may: []int{0, 1}, grant: func(user string) { b.bind(user, home, "system:aggregate-to-edit") }},
		"who views a namespace":                   {grant: func(user string) { b.bind(user, home, "system:aggregate-to-view") }},
		"who impersonates all accounts":           {may: all, grant: func(user string) { b.allow(user, "", may("serviceaccounts", "impersonate")) }},
		"cluster-admin":                           {may: all, grant: func(user string) { b.bind(user, "", "cluster-admin") }},
		"the account itself":                      {user: "system:serviceaccount:" + home + ":cleaner"},
		"an account that impersonates another": {user: "system:serviceaccount:" + home + ":other", may: []int{0}, grant: func(user string) {
			b.allow(user, home, named(may("serviceaccounts", "impersonate"), "cleaner"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			user := test.user
			if user == "" {
				user = home + "-" + strings.ReplaceAll(name, " ", "-")
			}
			person := b.as(user, mayWriteCleaners)
			if test.grant != nil {
				test.grant(user)
			}
			must(t, person.Create(t.Context(), unsaved(), client.DryRunAll)) // without an account, anybody who may write Cleaners
			for i, account := range accounts {
				t.Run(account.String(), func(t *testing.T) {
					want := []string{
						"spec.serviceAccountRef: " + user + " may not impersonate ServiceAccount " + account.String() + ", as which the Cleaner would act",
						`it needs the verb impersonate on serviceaccounts "` + account.Name + `" in namespace "` + account.Namespace + `"`,
					}
					if slices.Contains(test.may, i) {
						want = nil
					}
					wantRefused(t, person.Create(t.Context(), unsaved(naming(account.Namespace, account.Name)), client.DryRunAll), want...)
				})
			}
		})
	}
}

// way is how somebody changes a Cleaner.
type way func(ctx context.Context, as client.Client, was *v1alpha1.Cleaner, change func(*v1alpha1.Cleaner)) error

func updating(ctx context.Context, as client.Client, was *v1alpha1.Cleaner, change func(*v1alpha1.Cleaner)) error {
	now := was.DeepCopy()
	change(now)
	return as.Update(ctx, now, client.DryRunAll)
}

func patching(ctx context.Context, as client.Client, was *v1alpha1.Cleaner, change func(*v1alpha1.Cleaner)) error {
	now := was.DeepCopy()
	change(now)
	return as.Patch(ctx, now, client.MergeFrom(was), client.DryRunAll)
}

func applying(ctx context.Context, as client.Client, was *v1alpha1.Cleaner, change func(*v1alpha1.Cleaner)) error {
	now := &v1alpha1.Cleaner{TypeMeta: unsaved().TypeMeta, Spec: *was.Spec.DeepCopy()}
	now.Name = was.Name
	change(now)
	body, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return as.Patch(ctx, now, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner("somebody"), client.ForceOwnership, client.DryRunAll)
}

func deleting(ctx context.Context, as client.Client, was *v1alpha1.Cleaner, _ func(*v1alpha1.Cleaner)) error {
	return as.Delete(ctx, was, client.DryRunAll)
}

func creatingAnew(ctx context.Context, as client.Client, was *v1alpha1.Cleaner, change func(*v1alpha1.Cleaner)) error {
	now := unsaved()
	now.Spec = *was.Spec.DeepCopy()
	change(now)
	return as.Create(ctx, now, client.DryRunAll)
}

// TestWhoMayEditACleanerThatNamesAnAccount: whoever writes its spec decides what is done in the account's name.
func TestWhoMayEditACleanerThatNamesAnAccount(t *testing.T) {
	t.Parallel()
	deployed(t)
	b := newBench(t)
	home, away := b.namespace, b.newNamespace(nil)
	people := map[string]client.Client{}
	for name, where := range map[string]string{"nobody": "-", "of home": home, "of away": away, "of all": ""} {
		user := home + "-" + strings.ReplaceAll(name, " ", "-")
		people[name] = b.as(user, mayWriteCleaners)
		if where != "-" {
			b.allow(user, where, may("serviceaccounts", "impersonate"))
		}
	}
	with, without := b.cleaner(v1alpha1.ActionScan, naming(home, "cleaner")), b.cleaner(v1alpha1.ActionScan)
	script := evaluate(matchStale)
	remove := func(c *v1alpha1.Cleaner) { c.Spec.ServiceAccountRef = nil }
	annotate := func(c *v1alpha1.Cleaner) {
		c.Annotations = map[string]string{v1alpha1.RunRequestedAtAnnotation: "now"}
	}
	label := func(c *v1alpha1.Cleaner) { c.Labels = map[string]string{"team": "a"} }
	suspend := func(c *v1alpha1.Cleaner) { c.Spec.Suspend = new(bool); *c.Spec.Suspend = true }
	same := func(*v1alpha1.Cleaner) {}
	const impersonate, takeAway = "may not impersonate ServiceAccount ", "may not take away ServiceAccount "
	tests := []struct {
		who, what string
		way       way
		change    func(*v1alpha1.Cleaner)
		on        *v1alpha1.Cleaner
		want      []string // what the refusal says; none when it is allowed
	}{
		{"nobody", "edits the script", updating, script, with, []string{impersonate + home + "/cleaner"}},
		{"nobody", "edits the script", patching, script, with, []string{impersonate + home + "/cleaner"}},
		{"nobody", "edits the script", applying, script, with, []string{impersonate + home + "/cleaner"}},
		{"nobody", "suspends it", patching, suspend, with, []string{impersonate + home + "/cleaner"}},
		{"nobody", "removes the account", updating, remove, with, []string{takeAway + home + "/cleaner"}},
		{"nobody", "removes the account", patching, remove, with, []string{takeAway + home + "/cleaner"}},
		{"nobody", "names another account", patching, naming(home, "other"), with, []string{impersonate + home + "/other"}},
		{"nobody", "names an account", updating, naming(home, "cleaner"), without, []string{impersonate + home + "/cleaner"}},
		{"nobody", "names an account", applying, naming(home, "cleaner"), without, []string{impersonate + home + "/cleaner"}},
		{"nobody", "creates it again", creatingAnew, same, with, []string{impersonate + home + "/cleaner"}},
		{"nobody", "asks for a run", patching, annotate, with, nil},
		{"nobody", "labels it", updating, label, with, nil},
		{"nobody", "writes it as it is", updating, same, with, nil},
		{"nobody", "applies it as it is", applying, same, with, nil},
		{"nobody", "deletes it", deleting, same, with, nil},
		{"nobody", "edits one without account", patching, script, without, nil},
		{"of home", "edits the script", updating, script, with, nil},
		{"of home", "edits the script", applying, script, with, nil},
		{"of home", "removes the account", patching, remove, with, nil},
		{"of home", "names another account", patching, naming(home, "other"), with, nil},
		{"of home", "names one elsewhere", patching, naming(away, "cleaner"), with, []string{impersonate + away + "/cleaner"}},
		{"of home", "names an account", patching, naming(home, "cleaner"), without, nil},
		{"of away", "names one elsewhere", patching, naming(away, "cleaner"), with, []string{takeAway + home + "/cleaner"}},
		{"of away", "edits the script", patching, script, with, []string{impersonate + home + "/cleaner"}},
		{"of all", "names one elsewhere", updating, naming(away, "cleaner"), with, nil},
		{"of all", "removes the account", updating, remove, with, nil},
	}
	for _, test := range tests {
		t.Run(test.who+" "+test.what, func(t *testing.T) {
			wantRefused(t, test.way(t.Context(), people[test.who], b.get(test.on.Name), test.change), test.want...)
		})
	}
}
