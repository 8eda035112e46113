// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
)

// TestScanFrees adds up only what a Cleaner may delete, and says what else was found.
func TestScanFrees(t *testing.T) {
	const claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {%}\nspec: {resources: {requests: {storage: 1Gi}}}\nstatus: {phase: Bound, capacity: {storage: 1Gi}}\n---\n"
	claims := func(metadata ...string) (text string) {
		for _, m := range metadata {
			text += strings.Replace(claim, "%", m, 1)
		}
		return text
	}
	const (
		free       = "name: free, namespace: shop"
		byHelm     = "name: chart, namespace: shop, annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: shop}"
		byHelmToo  = "name: label, namespace: shop, labels: {app.kubernetes.io/managed-by: Helm}"
		byArgo     = "name: app, namespace: shop, annotations: {argocd.argoproj.io/tracking-id: 'web:/PersistentVolumeClaim:shop/app'}"
		restored   = "name: restored, namespace: shop, annotations: {apps.projectsveltos.io/restored-from: '4711'}"
		ofCluster  = "name: left, namespace: kube-system"
		ofOperator = "name: left, namespace: projectsveltos"
		kept       = "name: left, namespace: bank"
		bank       = "apiVersion: v1\nkind: Namespace\nmetadata: {name: bank, annotations: {cleaner/protect: 'true'}}\n---\n"
	)
	for name, test := range map[string]struct{ manifests, args, says, json string }{
		"free":      {claims(free), "", " would free 1Gi of volumes, 1 object.\n", `"frees": {"objects": 1, "volumeBytes": 1073741824}}`},
		"managed":   {claims(free, byHelm, byHelmToo, byArgo), "", " would free 1Gi of volumes, 1 object (not counted: 2 managed by Helm, 1 managed by Argo CD).\n", `"notCounted": {"managed by Argo CD": 1, "managed by Helm": 2}`},
		"protected": {claims(free, restored, ofCluster, ofOperator, kept) + bank, "", " would free 1Gi of volumes, 1 object (not counted: 4 protected).\n", `"notCounted": {"protected": 4}`},
		"nothing":   {claims(kept, byHelm) + bank, "", " would free nothing (not counted: 1 protected, 1 managed by Helm).\n", `"frees": {}`},
		"in one":    {claims(kept) + bank, " -n bank", " would free nothing (not counted: 1 protected).\n", `"notCounted": {"protected": 1}`},
		"elsewhere": {claims(ofOperator), " --operator-namespace ops", " would free 1Gi of volumes, 1 object.\n", `"objects": 1`},
	} {
		t.Run(name, func(t *testing.T) {
			args := strings.Fields("scan --from - --complete --kind pvc -o json" + test.args)
			got := call(t.Context(), t, test.manifests, nil, args...)
			if !strings.Contains(got.errOut, test.says) {
				t.Errorf("it says %q, want %q in it", got.errOut, test.says)
			}
			squeezed := func(text string) string { return strings.Join(strings.Fields(text), "") }
			if !strings.Contains(squeezed(got.out), squeezed(test.json)) {
				t.Errorf("it prints %s, want %s in it", got.out, test.json)
			}
		})
	}
}
