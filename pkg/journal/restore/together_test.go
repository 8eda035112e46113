// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
)

// TestDeletedTogether: what Kubernetes deleted because of what a run deleted comes back with it.
func TestDeletedTogether(t *testing.T) {
	t.Parallel()
	intent := func(text string) journal.Intent { // group/version, kind, resource, namespace, name; the UID is the name
		f := strings.Fields(text)
		group, version, _ := strings.Cut(strings.Replace("/"+f[0], "/v1", "|v1", 1), "|")
		return journal.Intent{
			Group: strings.Trim(group, "/"), Version: version, Kind: f[1], Resource: f[2], Namespace: strings.Trim(f[3], "-"), Name: f[4], UID: types.UID(f[4]),
		}
	}
	owned := func(uid string, owners ...string) journal.Copy {
		var references []string
		for _, owner := range owners {
			references = append(references, fmt.Sprintf(`{"apiVersion":"v1","kind":"K","name":%[1]q,"uid":%[1]q}`, owner))
		}
		return journal.Copy{
			APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespace: "ns", Name: uid, UID: types.UID(uid),
			Object: json.RawMessage(fmt.Sprintf(`{"metadata":{"namespace":"ns","name":%[1]q,"uid":%[1]q,"resourceVersion":"1","ownerReferences":[%s]}}`, uid, strings.Join(references, ","))),
		}
	}
	const (
		deleted  = v1alpha1.OutcomeDeleted
		gone     = v1alpha1.OutcomeGone
		kindGone = v1alpha1.OutcomeKindGone
	)
	for name, test := range map[string]struct {
		intents  []string
		outcomes []v1alpha1.OutcomeResult
		copies   []journal.Copy
		want     string
	}{
		"an owner":                  {[]string{"v1 ConfigMap configmaps ns a", "v1 ConfigMap configmaps ns b"}, []v1alpha1.OutcomeResult{deleted, gone}, []journal.Copy{owned("a"), owned("b", "a")}, "b"},
		"an owner's owner":          {[]string{"v1 ConfigMap configmaps ns c", "v1 ConfigMap configmaps ns b", "v1 ConfigMap configmaps ns a"}, []v1alpha1.OutcomeResult{gone, gone, deleted}, []journal.Copy{owned("c", "b"), owned("b", "a"), owned("a")}, "c b"},
		"another owner stays":       {[]string{"v1 ConfigMap configmaps ns a", "v1 ConfigMap configmaps ns b"}, []v1alpha1.OutcomeResult{deleted, gone}, []journal.Copy{owned("b", "a", "x")}, ""},
		"no owner":                  {[]string{"v1 ConfigMap configmaps ns a", "v1 ConfigMap configmaps ns b"}, []v1alpha1.OutcomeResult{deleted, gone}, []journal.Copy{owned("b")}, ""},
		"an owner that stays":       {[]string{"v1 ConfigMap configmaps ns a", "v1 ConfigMap configmaps ns b"}, []v1alpha1.OutcomeResult{v1alpha1.OutcomeFailed, gone}, []journal.Copy{owned("b", "a")}, ""},
		"two that own each other":   {[]string{"v1 ConfigMap configmaps ns a", "v1 ConfigMap configmaps ns b"}, []v1alpha1.OutcomeResult{gone, gone}, []journal.Copy{owned("a", "b"), owned("b", "a")}, ""},
		"a Namespace":               {[]string{"v1 Namespace namespaces - ns", "v1 ConfigMap configmaps ns b", "v1 ConfigMap configmaps other c"}, []v1alpha1.OutcomeResult{deleted, gone, gone}, nil, "b"},
		"a definition":              {[]string{"apiextensions.k8s.io/v1 CustomResourceDefinition customresourcedefinitions - cms.example.com", "example.com/v1 CM cms ns b"}, []v1alpha1.OutcomeResult{deleted, kindGone}, nil, "b"},
		"owned by what it defined":  {[]string{"apiextensions.k8s.io/v1 CustomResourceDefinition customresourcedefinitions - cms.example.com", "example.com/v1 CM cms ns b", "v1 ConfigMap configmaps ns c"}, []v1alpha1.OutcomeResult{deleted, kindGone, gone}, []journal.Copy{owned("c", "b")}, "b c"},
		"another definition":        {[]string{"apiextensions.k8s.io/v1 CustomResourceDefinition customresourcedefinitions - cms.example.com", "example.org/v1 CM cms ns b"}, []v1alpha1.OutcomeResult{deleted, kindGone}, nil, ""},
		"a definition, not deleted": {[]string{"apiextensions.k8s.io/v1 CustomResourceDefinition customresourcedefinitions - cms.example.com", "example.com/v1 CM cms ns b"}, []v1alpha1.OutcomeResult{v1alpha1.OutcomeFailed, kindGone}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var intents []journal.Intent
			outcomes := map[int]journal.SavedOutcome{}
			for i, text := range test.intents {
				intents = append(intents, intent(text))
				outcomes[i] = journal.SavedOutcome{Outcome: test.outcomes[i]}
			}
			with := newTogether(intents, outcomes)
			for i := range test.copies {
				with.look(&test.copies[i])
			}
			with.settle()
			var found []string
			for i := range intents {
				if with.has(&Item{Object: intents[i].Object()}) {
					found = append(found, intents[i].Name)
				}
			}
			if got := strings.Join(found, " "); got != test.want {
				t.Errorf("together were deleted: %q, want %q", got, test.want)
			}
		})
	}
}
