// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// previewScreens are what users see, by the golden file's name: the arguments after "preview".
var previewScreens = map[string]string{
	"scan-until":   "-f ../lint/scan-until.yaml --from dump.yaml --complete",
	"delete":       "-f delete.yaml --from dump.yaml",
	"along":        "-f along.yaml --from dump.yaml",
	"wide":         "-f delete.yaml --from dump.yaml -o wide",
	"json":         "-f delete.yaml --from dump.yaml -o json",
	"yaml":         "-f scan.yaml --from dump.yaml -o yaml",
	"name":         "-f delete.yaml --from dump.yaml -o name",
	"colour":       "-f delete.yaml -f transform.yaml --from dump.yaml --color=always",
	"scan":         "-f scan.yaml --from dump.yaml",
	"scan-marked":  "-f scan-protected.yaml --from dump.yaml",
	"scan-names":   "-f scan-protected.yaml --from dump.yaml -o name",
	"scan-earlier": "-f scan.yaml --from dump.yaml --now 2026-10-02T12:00:00Z",
	"transform":    "-f transform.yaml --from dump.yaml",
	"secrets":      "-f secrets.yaml --from dump.yaml",
	"secrets-wide": "-f secrets.yaml --from dump.yaml -o wide",
	"secrets-json": "-f secrets.yaml --from dump.yaml -o json",
	"secrets-yaml": "-f secrets.yaml --from dump.yaml -o yaml",
	"failing":      "-f failing.yaml --from dump.yaml",
	"skipping":     "-f skipping.yaml --from dump.yaml",
	"max-actions":  "-f along.yaml --from dump.yaml --max-actions-per-run 1",
	"failing-json": "-f failing.yaml --from dump.yaml -o json",
	"limit":        "-f limit.yaml --from dump.yaml",
	"limit-json":   "-f limit.yaml --from dump.yaml -o json",
	"aggregated":   "-f aggregated.yaml --from dump.yaml",
	"mistyped":     "-f mistyped.yaml --from dump.yaml",
	"events":       "-f events.yaml --from dump.yaml",
	"events-only":  "-f events.yaml --from dump.yaml --only ConfigMap/shop/settings",
	"inputs":       "-f inputs.yaml --from dump.yaml",
	"inputs-pod":   "-f inputs.yaml --from dump.yaml --from ../test/ok/inputs/matching.yaml",
	"usage-hosts":  "-f inputs.yaml --allowed-metric-hosts http://x",
	"broken":       "-f broken.yaml --from dump.yaml",
	"custom":       "-f custom.yaml --from dump.yaml",
	"several":      "-f scan.yaml -f failing.yaml -f delete.yaml --from dump.yaml",
	"findings":     "-f delete.yaml --from dump.yaml -o name --fail-on-findings",
	"few-findings": "-f delete.yaml --from dump.yaml -o name --fail-on-findings=2",
	"unprotected":  "-f delete.yaml --from dump.yaml --protected-namespaces= --operator-namespace shop",

	"only":             "-f delete.yaml --from dump.yaml --only ConfigMap/shop/settings",
	"only-label":       "-f delete.yaml --from dump.yaml --only configmap/shop/in-use",
	"only-condition":   "-f scan.yaml --from dump.yaml --only ConfigMap/shop/in-use",
	"only-age":         "-f scan.yaml --from dump.yaml --only ConfigMap/vault/precious",
	"only-aggregated":  "-f aggregated.yaml --from dump.yaml --only ConfigMap/shop/in-use",
	"only-nothing":     "-f delete.yaml --from dump.yaml --only ConfigMap/shop/nothing",
	"only-kind":        "-f delete.yaml --from dump.yaml --only Pod/shop/x",
	"only-namespace":   "-f delete.yaml --from dump.yaml --only ConfigMap/settings",
	"only-not-judged":  "-f failing.yaml --from dump.yaml --only ConfigMap/shop/in-use",
	"usage-nothing":    "",
	"usage-both":       "x -f delete.yaml",
	"finding":          "-f finding.yaml --from dump.yaml --complete",
	"usage-stdin":      "-f - --from -",
	"usage-from":       "x --from dump.yaml",
	"usage-only":       "-f delete.yaml --only ConfigMap",
	"usage-now":        "-f delete.yaml --now tomorrow",
	"usage-output":     "-f delete.yaml -o xml",
	"usage-findings":   "-f delete.yaml --fail-on-findings=0",
	"no-file":          "-f nothing.yaml --from dump.yaml",
	"no-dump":          "-f delete.yaml --from nothing.yaml",
	"no-cleaner":       "-f dump.yaml --from dump.yaml",
	"no-kubeconfig":    "-f delete.yaml --kubeconfig nothing",
	"no-kubeconfig-ns": "unused-configmaps --kubeconfig nothing",
}

func TestPreviewScreens(t *testing.T) {
	t.Chdir("testdata/preview")
	t.Setenv("KUBECONFIG", "/dev/null")
	for file, line := range previewScreens {
		t.Run(file, func(t *testing.T) {
			args := append([]string{"preview"}, strings.Fields(line)...)
			got := call(t.Context(), t, "", nil, args...)
			golden(t, "../../../golden/preview-"+file+".txt", args, got)
			if strings.Contains(got.out+got.errOut, "canary") || strings.Contains(got.out+got.errOut, "Y2FuYXJ5") {
				t.Error("a Secret's value is to be read")
			}
		})
	}
}

// What was found before Ctrl-C or --timeout is shown, and that nothing was changed is said.
func TestPreviewIsStopped(t *testing.T) {
	t.Chdir("testdata/preview")
	args := []string{"preview", "-f", "endless.yaml", "--from", "dump.yaml", "--progress=none"}
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	got := call(ctx, t, "", nil, args...)
	if got.code != codes.ExitInterrupted || !strings.Contains(got.out, "precious") || !strings.HasSuffix(got.errOut, "stopped after judging 1 object, of which 1 matches; nothing was changed\nerror: interrupted\n") {
		t.Errorf("%+v", got)
	}
	got = call(t.Context(), t, "", nil, append(args, "--timeout=1500ms")...)
	if got.code != codes.ExitError || !strings.Contains(got.out, "precious") || !strings.HasSuffix(got.errOut, "stopped after judging 1 object, of which 1 matches; nothing was changed\nerror: gave up after 1.5s (--timeout); nothing was changed   [E-PRE-005]\n") {
		t.Errorf("%+v", got)
	}
}
