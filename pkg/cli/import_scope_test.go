// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// TestImportOfClusterScopedKinds: of the kinds without a namespace, kube-janitor looks only at Namespaces.
func TestImportOfClusterScopedKinds(t *testing.T) {
	t.Parallel()
	const (
		plurals = "nodes,persistentvolumes,clusterroles,customresourcedefinitions,storageclasses,flowschemas,priorityclasses"
		marked  = "---\napiVersion: v1\nkind: PersistentVolume\nmetadata:\n  name: marked\n  annotations: {janitor/ttl: 7d}\n"
		leftOut = " are left out: kube-janitor looks only at Namespaces and at kinds whose objects belong to a namespace   [N-IMP-001]\n"
	)
	rules := "---\nrules:\n- {id: a, resources: [" + plurals + ",namespaces,pods], jmespath: metadata.labels.a, ttl: 1d}\n"
	workload := fmt.Sprintf(janitorWorkload, "'--include-resources="+plurals+",namespaces,pods'", "")
	got := call(t.Context(), t, workload+rules+marked, nil, "import", "kube-janitor", "-", "--keep-action")
	rule, marks := kindsOf(got.out, "kube-janitor-a"), kindsOf(got.out, "kube-janitor-marks")
	if got.code != codes.ExitDone || rule != "Namespace Pod" || marks != "Namespace Pod" {
		t.Errorf("exit %d, the rule's kinds are %q, and %q have marks:\n%s", got.code, rule, marks, got.errOut)
	}
	for plural := range strings.SplitSeq(plurals, ",") {
		for _, want := range []string{"rule a: " + plural + leftOut, "kube-janitor: " + plural + leftOut} {
			if !strings.Contains(got.errOut, want) {
				t.Errorf("%q is not in:\n%s", want, got.errOut)
			}
		}
	}
	if want := "marked: metadata.annotations: are not read: kube-janitor looks only at Namespaces and at kinds"; !strings.Contains(got.errOut, want) {
		t.Errorf("%q is not in:\n%s", want, got.errOut)
	}
}
