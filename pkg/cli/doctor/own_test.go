// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"os"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/pkg/cli/rights"
)

// What is asked for is what config/rbac gives: with more, doctor fails a good installation, and with less, it finds a
// broken one good.
func TestTheOperatorsRightsAreThoseOfConfig(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../config/rbac/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var given []string
	for doc := range strings.SplitSeq(string(text), "---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(doc), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						given = append(given, rights.Right{Verb: verb, Group: group, Resource: resource, Namespace: role.Namespace}.String())
					}
				}
			}
		}
	}
	asked := distinct((&patient{namespace: "projectsveltos"}).own())
	slices.Sort(given)
	slices.Sort(asked)
	if !slices.Equal(asked, given) {
		t.Errorf("asked for %q\nconfig/rbac/role.yaml gives %q", asked, given)
	}
}

// The operator asks who may read its metrics only where it protects them.
func TestRightsForMetrics(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]bool{
		"": true, "--diagnostics-address=:9443": true, "--diagnostics-address=0": false, "--insecure-diagnostics": false,
	} {
		got := slices.ContainsFunc((&patient{args: strings.Fields(args)}).own(), func(r rights.Right) bool { return r.Resource == "tokenreviews" })
		if got != want {
			t.Errorf("%q: asked for is %t, want %t", args, got, want)
		}
	}
	both := []rights.Right{{Verb: "get", Resource: "pods"}, {Verb: "create", Resource: "tokenreviews", Optional: true}}
	lines := lackingItself("ServiceAccount/a/b", both)
	if len(lines) != 2 || lines[0].Status != Fail || lines[0].Message != "the operator may not get pods in all namespaces" ||
		lines[1].Status != Warn || lines[1].Message != "nobody can read the operator's metrics: it may not create tokenreviews in all namespaces" {
		t.Errorf("doctor says %+v", lines)
	}
}
