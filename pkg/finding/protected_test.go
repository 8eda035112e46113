// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// What is never unused can be Unhealthy, and stays visible. It says why no Cleaner acts on it.
func TestUnhealthyObjectsAreProtected(t *testing.T) {
	t.Parallel()
	created := "creationTimestamp: " + ago(9*24*time.Hour)
	unhealthy := map[string][]string{
		"v1 Pod shop/a": {"spec: {containers: []}", "status: {phase: Unknown}"},
		"apps/v1 Deployment shop/a": {
			"spec: {replicas: 1}", "status: {conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}",
		},
		"batch/v1 CronJob shop/a": {"spec: {schedule: '@hourly'}", "status: {lastScheduleTime: " + ago(time.Hour) + "}"},
	}
	for metadata, want := range map[string]string{
		"": "",
		"labels: {kubernetes.io/cluster-service: 'true'}":      "label kubernetes.io/cluster-service",
		"labels: {addonmanager.kubernetes.io/mode: Reconcile}": "label addonmanager.kubernetes.io/mode",
		"labels: {kor/used: 'true'}":                           `it is labelled kor/used: "true"`,
		"labels: {kor/used: 'false'}":                          "",
		"annotations: {cleaner/protect: 'true'}":               "it is annotated cleaner/protect",
		"annotations: {helm.sh/hook: test}":                    "it is a hook of Helm or Argo CD",
		"annotations: {argocd.argoproj.io/hook: Sync}":         "it is a hook of Helm or Argo CD",
	} {
		for name, fields := range unhealthy {
			found := find(t, scenario{cluster: of(name, strings.TrimSuffix(created+", "+metadata, ", "), fields...)})
			if len(found) != 1 || found[0].Type != v1alpha1.FindingUnhealthy {
				t.Errorf("%s with %q: found %q", name, metadata, lines(found))
				continue
			}
			if got := found[0].Protected; (got == "") != (want == "") || !strings.Contains(got, want) {
				t.Errorf("%s with %q is protected: %q, want %q", name, metadata, got, want)
			}
		}
	}
}
