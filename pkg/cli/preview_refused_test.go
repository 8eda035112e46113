// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// TestPreviewOfWhatTheServerRefusesInAll: of what it was not asked about, the same is to be expected.
func TestPreviewOfWhatTheServerRefusesInAll(t *testing.T) {
	s := newSite(t)
	s.deployments(25)
	c := s.transforms("apps", "Deployment", `{"spec":{"replicas":-1}}`)
	got := s.call(t.Context(), nil, "preview", c.Name)
	for _, want := range []string{
		"about 20 of 25 Deployments, and would refuse 20 of these; it was not asked about the other 5, and will most likely refuse them as well: --dry-run-all asks about all\n",
		"25 of 25 objects match; 5 were not asked about, 20 could not be changed\n",
	} {
		if !strings.Contains(got.errOut, want) {
			t.Errorf("there is no %q in\n%s", want, got.errOut)
		}
	}
	row := "NS   Deployment   5 objects   not be known   not asked: the API server refused all 20 that were\n"
	if text := s.plain(got.out); !strings.Contains(text, row) || strings.Contains(text, "be changed") || strings.Count(text, "+++ ") != 1 {
		t.Errorf("there is no %q, or more than one patch, in\n%s", row, text)
	}
	got = s.call(t.Context(), nil, "preview", c.Name, "-o", "name")
	if got.out != "" {
		t.Errorf("would be changed:\n%s", got.out)
	}
}

// TestPreviewAsAnAccountThatMayNot: a run with its rights would fail, so none is proposed.
func TestPreviewAsAnAccountThatMayNot(t *testing.T) {
	s := newSite(t)
	s.configMap("a", map[string]string{"unused": "true"})
	c := s.cleaner()
	user := s.user(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps", "namespaces"}, Verbs: []string{"get", "list"}})
	var got session
	s.eventually(func(ctx context.Context) (bool, error) { // until the API server knows of the right
		got = s.call(ctx, nil, "preview", c.Name, "--as", user)
		return strings.Contains(got.errOut, "1 would be deleted"), nil
	})
	if want := ": " + user + " may not do this, so a run with its rights would fail: "; got.code != codes.ExitPartial || !strings.Contains(got.errOut, want) {
		t.Errorf("exit %d, there is no %q in\n%s", got.code, want, got.errOut)
	}
	if strings.Contains(got.errOut, "cleaner run ") || strings.Count(got.out, " a ") != 1 {
		t.Errorf("%s%s", got.out, got.errOut)
	}
}
