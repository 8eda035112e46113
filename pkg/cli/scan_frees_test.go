// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// TestScanFrees adds up only what a Cleaner may delete, and says what else was found.
func TestScanFrees(t *testing.T) {
	const claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {%}\nspec: {resources: {requests: {storage: 1Gi}}}\nstatus: {phase: Bound, capacity: {storage: 1Gi}}\n---\n"
	const volume = "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv}\nspec: {persistentVolumeReclaimPolicy: %, claimRef: {namespace: shop, name: free}}\nstatus: {phase: Bound}\n---\n"
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
		byAddOn    = "name: add, namespace: shop, annotations: {objectset.rio.cattle.io/owner-name: traefik}"
		byAddOnToo = "name: other, namespace: shop, annotations: {objectset.rio.cattle.io/owner-name: metrics}"
		restored   = "name: restored, namespace: shop, annotations: {apps.projectsveltos.io/restored-from: '4711'}"
		ofCluster  = "name: left, namespace: kube-system"
		ofOperator = "name: left, namespace: projectsveltos"
		kept       = "name: left, namespace: bank"
		bank       = "apiVersion: v1\nkind: Namespace\nmetadata: {name: bank, annotations: {cleaner/protect: 'true'}}\n---\n"
	)
	for name, test := range map[string]struct{ manifests, args, says, json string }{
		"free":      {claims(free), "", " would remove 1 object, and free 1Gi of volumes.\n", `"frees": {"objects": 1, "volumeBytes": 1073741824}}`},
		"managed":   {claims(free, byHelm, byHelmToo, byArgo), "", " would remove 1 object, and free 1Gi of volumes (not counted: 2 managed by Helm, 1 managed by Argo CD).\n", `"notCounted": {"managed by Argo CD": 1, "managed by Helm": 2}`},
		"add-ons":   {claims(byAddOn, byAddOnToo), "", " None of this may be deleted (not counted: 2 managed by add-on).\n", `"notCounted": {"managed by add-on": 2}`},
		"protected": {claims(free, restored, ofCluster, ofOperator, kept) + bank, "", " would remove 1 object, and free 1Gi of volumes (not counted: 4 protected).\n", `"notCounted": {"protected": 4}`},
		"nothing":   {claims(kept, byHelm) + bank, "", " None of this may be deleted (not counted: 1 protected, 1 managed by Helm).\n", `"frees": {}`},
		"in one":    {claims(kept) + bank, " -n bank", " None of this may be deleted (not counted: 1 protected).\n", `"notCounted": {"protected": 1}`},
		"retained":  {claims(free) + strings.Replace(volume, "%", "Retain", 1), "", " would remove 1 object.\n", `"frees": {"objects": 1}`},
		"kept in":   {claims(free) + strings.Replace(volume, "%", "Retain", 1), " -n shop", " would remove 1 object.\n", `"frees": {"objects": 1}`},
		"reclaimed": {claims(free) + strings.Replace(volume, "%", "Delete", 1), "", " would remove 1 object, and free 1Gi of volumes.\n", `"volumeBytes"`},
		"elsewhere": {claims(ofOperator), " --operator-namespace ops", " would remove 1 object, and free 1Gi of volumes.\n", `"objects": 1`},
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

// TestProtectedFindings: each row, and why, say which objects no Cleaner would touch, and because of what.
func TestProtectedFindings(t *testing.T) {
	const manifests = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: free, namespace: shop}\n---\n" +
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: restored, namespace: shop, annotations: {apps.projectsveltos.io/restored-from: '4711', meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: shop}}\n---\n" +
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: left, namespace: kube-system}\n---\n" +
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: left, namespace: bank}\n---\n" +
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: bank, annotations: {cleaner/protect: 'true'}}\n"
	for line, wants := range map[string][]string{
		"scan --kind cm":         {"names it (protected)\n", "names it (protected, Helm release shop/web)\n", "names it\n"},
		"scan --kind cm -o wide": {" protected   ", " protected, Helm release shop/web "},
		"scan --kind cm -o json": {
			`"protected": "namespace bank is annotated cleaner/protect: \"true\""`, `"protected": "namespace kube-system is protected (--protected-namespaces)"`,
			`"protected": "it was restored from the run with UID 4711; `,
		},
		"why cm/shop/restored":           {"\nA Cleaner would leave it alone: it was restored from the run with UID 4711; "},
		"why cm/bank/left":               {"\nA Cleaner would leave it alone: namespace bank is annotated cleaner/protect: \"true\".\n"},
		"why cm/kube-system/left -ojson": {`"protected": "namespace kube-system is protected (--protected-namespaces)"`},
	} {
		got := call(t.Context(), t, manifests, nil, strings.Fields(line+" --from - --complete")...)
		for _, want := range wants {
			if !strings.Contains(got.out, want) {
				t.Errorf("%s prints %s%s, want %s in it", line, got.out, got.errOut, want)
			}
		}
	}
	if got := call(t.Context(), t, manifests, nil, strings.Fields("why cm/shop/free --from - --complete")...); strings.Contains(got.out, "leave it alone") {
		t.Error(got.out)
	}
}

// claim creates a claim of a volume that nothing uses.
func (s *site) claim() {
	s.Helper()
	must(s.T, s.Create(s.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "old"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}))
}

// TestScanFreesWithoutNamespaces: which namespaces are protected cannot be read, and the sum says so.
func TestScanFreesWithoutNamespaces(t *testing.T) {
	s := newSite(t)
	s.claim()
	s.kubeconfig = s.proxied(func(w http.ResponseWriter, r *http.Request) bool {
		broken := r.URL.Path == "/api/v1/namespaces" || r.URL.Path == "/api/v1/namespaces/"+s.namespace
		if broken {
			http.Error(w, "broken", http.StatusForbidden)
		}
		return broken
	})
	const note = "note: which namespaces are protected is not known, so the sum may count what no Cleaner would delete: "
	for _, line := range []string{"scan --kind pvc", "scan --kind pvc -n " + s.namespace} {
		if got := s.call(t.Context(), nil, strings.Fields(line)...); strings.Count(got.errOut, note) != 1 || !strings.Contains(got.errOut, " would remove ") {
			t.Errorf("%s: exit %d: %s", line, got.code, s.plain(got.errOut))
		}
	}
	if got := s.call(t.Context(), nil, "scan", "--kind", "networkpolicy", "-n", s.namespace); strings.Contains(got.errOut, note) {
		t.Errorf("without a sum: %s", s.plain(got.errOut))
	}
}

// TestScanThatIsStoppedSumsNothing: what protects objects can no longer be read.
func TestScanThatIsStoppedSumsNothing(t *testing.T) {
	s := newSite(t)
	ctx := s.stopsAtDeployments()
	must(t, s.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "old", Annotations: map[string]string{"cleaner/expires": "2025-01-01"}},
	}))
	got := s.call(ctx, nil, "scan", "-n", s.namespace, "--type", "Expired", "-o", "json")
	result := s.scanned(got)
	if got.code != codes.ExitInterrupted || len(result.Findings) == 0 || result.Frees.Objects > 0 || result.NotCounted != nil ||
		strings.Contains(got.errOut, " would remove ") || strings.Contains(got.errOut, "which namespaces are protected") {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.errOut)
	}
}
