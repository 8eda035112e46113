// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/rights"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
	"github.com/kubecleaner/kubecleaner/test/testenv"
)

var updateRole = flag.Bool("update", false, "write the ClusterRole anew")

// scanRoleFile is the ClusterRole that lets people scan.
const scanRoleFile = "../../../config/rbac/scan_role.yaml"

const scanRoleHead = `# For people who may scan the whole cluster: kubectl cleaner scan, and why. It lists exactly the built-in kinds in which findings are looked for, or
# which can name what is looked for, and changes nothing. go test ./pkg/cli/scan -run TestScanRole -update writes it.
#
# It must list Secrets. The scan reads the metadata of Secrets, and certificates, but Kubernetes has no right for less than all of them: whoever may
# list Secrets may read their values. Take them out, and scan does not look for findings among Secrets, and says so.
#
# Custom resources are not in it: what they are differs from cluster to cluster. scan prints the Role for those that it could not list.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: scan
rules:
`

// TestScanRole compares the ClusterRole with the lists that a scan reads of a cluster without custom resources.
func TestScanRole(t *testing.T) {
	want := scanRoleHead + scanRules(t)
	if *updateRole {
		okay(t, os.WriteFile(scanRoleFile, []byte(want), 0o644))
	}
	text, err := os.ReadFile(scanRoleFile)
	okay(t, err)
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("%s differs (-want +got); go test -run TestScanRole -update writes it anew:\n%s", scanRoleFile, diff)
	}
	var role rbacv1.ClusterRole
	okay(t, yaml.UnmarshalStrict(text, &role))
	for _, rule := range role.Rules {
		if slices.Contains(append(rule.Resources, rule.APIGroups...), "*") || len(rule.ResourceNames) > 0 || !slices.Equal(rule.Verbs, []string{"get", "list"}) {
			t.Errorf("it gives more than it must: %v", rule)
		}
	}
}

// scanRules are the rules for the lists of a scan, and for what why reads.
func scanRules(t *testing.T) string {
	t.Helper()
	env, err := testenv.Start(t.Context(), testenv.Options{})
	okay(t, err)
	t.Cleanup(func() { _ = env.Stop() })
	api, err := cluster.New(&terminal.Session{}, env.Config)
	okay(t, err)
	reader := selector.NewReader(api.Raw, cluster.Instant(time.Now()))
	catalog, err := reader.Catalog(t.Context())
	okay(t, err)
	catalog.Kinds = slices.DeleteFunc(catalog.Kinds, func(kind object.Kind) bool {
		return !clientgoscheme.Scheme.IsGroupRegistered(kind.Group) && !strings.HasSuffix(kind.Group, "registration.k8s.io") && kind.Group != "apiextensions.k8s.io"
	})
	finder, err := survey.New(t.Context(), reader, survey.Options{Now: time.Now(), Catalog: &catalog})
	okay(t, err)
	var all []search.Unread
	for _, list := range finder.Lists() {
		all = append(all, search.Unread{Group: list.Kind.Group, Resource: list.Kind.Resource})
	}
	for _, resource := range []string{"cleanerapprovals", "cleanerruns", "cleaners", "reports"} {
		all = append(all, search.Unread{Group: v1alpha1.GroupVersion.Group, Resource: resource})
	}
	var text strings.Builder
	for _, rule := range rights.Rules(rightsOf(all)) {
		fmt.Fprintf(&text, "- apiGroups: [%q]\n  resources:\n  - %s\n  verbs: [\"get\", \"list\"]\n", rule.APIGroups[0], strings.Join(rule.Resources, "\n  - "))
	}
	return text.String()
}

func okay(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
