// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func TestHint(t *testing.T) {
	account := &v1alpha1.ServiceAccountRef{Namespace: "team-a", Name: "cleaner"}
	const operator, grant, policy = "Give the operator the right in the ClusterRole", "Grant ServiceAccount team-a/cleaner the right", "The operator may not act as ServiceAccount team-a/cleaner: apply config/policy"
	for name, test := range map[string]struct {
		refusal string
		account *v1alpha1.ServiceAccountRef
		want    string
	}{
		"the operator":          {`pods is forbidden: User "system:serviceaccount:a:b" cannot list resource "pods"`, nil, operator},
		"the account":           {`pods is forbidden: User "system:serviceaccount:team-a:cleaner" cannot list resource "pods"`, account, grant},
		"a longer name":         {`pods is forbidden: User "system:serviceaccount:team-a:cleaner2" cannot list resource "pods"`, account, operator},
		"the operator, records": {`secrets is forbidden: User "system:serviceaccount:a:b" cannot create resource "secrets"`, account, operator},
		"impersonation": {
			`serviceaccounts "cleaner" is forbidden: User "system:serviceaccount:a:b" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "team-a"`,
			account, policy,
		},
		"impersonation since 1.36": {`forbidden: User "system:serviceaccount:a:b" cannot impersonate-on:serviceaccount:get path "/api/v1"`, account, policy},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Hint(test.refusal, test.account); !strings.HasPrefix(got, test.want) {
				t.Errorf("the way out is %q, want %q", got, test.want)
			}
		})
	}
}
