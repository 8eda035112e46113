// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

const (
	complete  = "status: {conditions: [{type: Complete, status: 'True'}]}"
	waiting   = "{serviceAccountName: waiter, initContainers: [{name: wait, image: wait-for}], containers: []}"
	readsJobs = "rules: [{apiGroups: [batch], resources: [jobs], verbs: [get, list, watch]}]"
	waiter    = "{kind: ServiceAccount, name: waiter, namespace: shop}"
	clock     = "{kind: ServiceAccount, name: clock, namespace: ops}"
)

// doneIn are Jobs that ended, one in each of the namespaces.
func doneIn(namespaces ...string) string {
	var all []string
	for _, namespace := range namespaces {
		all = append(all, of("batch/v1 Job "+namespace+"/done", "", complete))
	}
	return cluster(all...)
}

func clockCronJob(meta, spec string) string {
	return of("batch/v1 CronJob ops/clock", meta, "spec: {"+spec+"jobTemplate: {spec: {template: {spec: {serviceAccountName: clock, containers: []}}}}}")
}

var rightScenarios = map[string]scenario{
	"Jobs that an init container may wait for, by a Role": {
		cluster: cluster(doneIn("shop", "team"), of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1, template: {spec: "+waiting+"}}"),
			of(rbac+"Role shop/jobs", "", readsJobs), of(rbac+"RoleBinding shop/jobs", "", binds("Role", "jobs", waiter))),
		want: "Job shop/done Finished weak\nJob team/done Finished",
	},
	"Jobs that an init container may wait for, in another namespace": {
		cluster: cluster(doneIn("shop", "team"), of("batch/v1 CronJob shop/web", "", "spec: {jobTemplate: {spec: {template: {spec: "+waiting+"}}}}"),
			of(rbac+"ClusterRole jobs", "", readsJobs), of(rbac+"RoleBinding team/jobs", "", binds("ClusterRole", "jobs", waiter))),
		want: "Job shop/done Finished\nJob team/done Finished weak",
	},
	"Jobs that a container may wait for, as an operator may read all Jobs": {
		cluster: cluster(doneIn("shop", "team"), of("v1 Pod shop/web", "", "spec: {serviceAccountName: waiter, containers: []}", "status: {phase: Running}"),
			of(rbac+"ClusterRole all", "", "rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]"), of(rbac+"ClusterRoleBinding all", "", binds("ClusterRole", "all", waiter))),
		want: "Job shop/done Finished weak\nJob team/done Finished",
	},
	"Jobs that an init container may read by their names, as one of all accounts of its namespace": {
		cluster: cluster(doneIn("shop"), of("batch/v1 Job shop/mig", "", complete), of("argoproj.io/v1alpha1 Rollout shop/web", "", "spec: {replicas: 1, template: {spec: "+waiting+"}}"),
			of(rbac+"Role shop/jobs", "", strings.Replace(readsJobs, "jobs]", "jobs], resourceNames: [mig]", 1)), of(rbac+"RoleBinding shop/jobs", "", binds("Role", "jobs", "{kind: Group, name: 'system:serviceaccounts:shop'}"))),
		want: "Job shop/done Finished\nJob shop/mig Finished weak",
	},
	"Jobs that nobody may wait for": {
		cluster: cluster(doneIn("shop"), of("apps/v1 Deployment shop/other", "", "spec: {replicas: 1, template: {spec: {initContainers: [{name: a}], containers: []}}}"),
			of("batch/v1 Job shop/ended", "", "spec: {template: {spec: "+waiting+"}}", complete), of("v1 Pod shop/ended", "", "spec: "+waiting, "status: {phase: Succeeded}"),
			of("apps/v1 DaemonSet shop/creates", "", "spec: {template: {spec: {serviceAccountName: maker, initContainers: [{name: a}], containers: []}}}"),
			of(rbac+"Role shop/maker", "", "rules: [{apiGroups: [batch], resources: [jobs], verbs: [create]}, {apiGroups: [apps], resources: [jobs], verbs: [get]}]"),
			of(rbac+"RoleBinding shop/maker", "", binds("Role", "maker", "{kind: ServiceAccount, name: maker, namespace: shop}")),
			of(rbac+"Role shop/jobs", "", readsJobs), of(rbac+"RoleBinding shop/jobs", "", binds("Role", "jobs", waiter))),
		want: "Job shop/done Finished\nJob shop/ended Finished",
	},
	"Jobs that any container may wait for, by a Role": {
		cluster: cluster(doneIn("shop", "team"), of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1, template: {spec: {serviceAccountName: waiter, containers: []}}}"),
			of(rbac+"Role shop/jobs", "", readsJobs), of(rbac+"RoleBinding shop/jobs", "", binds("Role", "jobs", waiter))),
		want: "Job shop/done Finished weak\nJob team/done Finished",
	},
	"a suspended Job that a controller may resume": {
		cluster: cluster(of("batch/v1 Job shop/later", "", "spec: {suspend: true}", "status: {conditions: [{type: Suspended, status: 'True'}]}"),
			of("batch/v1 Job team/later", "", "spec: {suspend: true}", "status: {conditions: [{type: Suspended, status: 'True'}]}"),
			of(rbac+"Role shop/queue", "", "rules: [{apiGroups: [batch], resources: [jobs], verbs: [patch]}]"), of(rbac+"RoleBinding shop/queue", "", binds("Role", "queue", robot))),
		want: "Job shop/later Idle weak\nJob team/later Idle",
	},
	"what a person may start by its name": {
		cluster: cluster(of("apps/v1 Deployment shop/demo", "", zero), of("apps/v1 Deployment shop/night", "", zero),
			of(rbac+"Role shop/demo", "", "rules: [{apiGroups: [apps], resources: [deployments/scale], resourceNames: [demo], verbs: [patch]}]"), of(rbac+"RoleBinding shop/demo", "", binds("Role", "demo", user))),
		want: "Deployment shop/demo Idle weak\nDeployment shop/night Idle",
	},
	"Jobs that hooks and probes name": {
		cluster: cluster(doneIn("shop"), of("batch/v1 Job shop/mig", "", complete), of("batch/v1 Job shop/other", "", complete),
			of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1, template: {spec: {containers: [{name: a, lifecycle: {postStart: {exec: {command: [kubectl, wait, job, done]}}}, startupProbe: {exec: {command: [kubectl, get, job/mig]}}}]}}}")),
		want: "Job shop/done Finished weak\nJob shop/mig Finished weak\nJob shop/other Finished",
	},
	"Jobs that an init container may wait for, when bindings may not be read": {
		cluster: cluster(doneIn("shop", "team"), of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1, template: {spec: "+waiting+"}}")), unread: []string{"ClusterRoleBinding"},
		want: "Job shop/done Finished weak\nJob team/done Finished",
	},
	"Jobs that any container may wait for, when Roles may not be read": {
		cluster: cluster(doneIn("shop", "team"), of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1, template: {spec: {containers: []}}}")), unread: []string{"Role"},
		want: "Job shop/done Finished weak\nJob team/done Finished",
	},
	"Jobs that texts of containers name": {
		cluster: cluster(doneIn("shop", "team"), of("batch/v1 Job shop/mig", "", complete), of("batch/v1 Job shop/own", "", "spec: {template: {spec: {containers: [{name: a, args: [--job=own]}]}}}", complete),
			of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1, template: {spec: {containers: [{name: a, env: [{name: WAIT_FOR_JOB, value: mig}]}]}}}"),
			of("apps/v1 Deployment ops/web", "", "spec: {replicas: 1, template: {spec: {containers: [{name: a, args: ['kubectl wait -n team job/done']}]}}}")),
		want: "Job shop/done Finished weak\nJob shop/mig Finished weak\nJob shop/own Finished\nJob team/done Finished weak",
	},
	"Jobs that texts choose by variables and selectors": {
		cluster: cluster(doneIn("a", "b", "c", "d", "e", "shop", "team"),
			of("apps/v1 Deployment a/web", "", `spec: {replicas: 1, template: {spec: {containers: [{name: a, args: ['kubectl wait "job/do${V}"']}]}}}`),
			of("apps/v1 Deployment b/web", "", "spec: {replicas: 1, template: {spec: {containers: [{name: a, args: [kubectl, wait, job, -l, 'v in (a, b)']}]}}}"),
			of("apps/v1 Deployment c/web", "", "spec: {replicas: 1, template: {spec: {containers: [{name: a, args: [kubectl wait jobs --all]}]}}}"),
			of("apps/v1 Deployment d/web", "", "spec: {replicas: 1, template: {spec: {containers: [{name: a, args: [job-wr, --selector=step]}]}}}"),
			of("apps/v1 Deployment e/web", "", "spec: {replicas: 1, template: {spec: {containers: [{name: a, args: ['kubectl wait job -lv!=w']}]}}}"),
			of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1, template: {spec: {containers: [{name: a, args: ['kubectl wait job -l a=b --selector=c=d']}]}}}"),
			of("apps/v1 Deployment team/web", "", "spec: {replicas: 1, template: {spec: {containers: [{name: a, args: ['--job=$(NAME)']}]}}}")),
		want: "Job a/done Finished weak\nJob b/done Finished weak\nJob c/done Finished weak\nJob d/done Finished weak\nJob e/done Finished weak\nJob shop/done Finished\nJob team/done Finished",
	},
	"Jobs that texts name with capitals": {
		cluster: cluster(doneIn("shop", "team", "ops"),
			of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1, template: {spec: {containers: [{name: a, args: [kubectl wait Job.v1.batch done]}]}}}"),
			of("apps/v1 Deployment team/web", "", "spec: {replicas: 1, template: {spec: {containers: [{name: a, args: [kubectl wait JOBS.batch/done]}]}}}")),
		want: "Job ops/done Finished\nJob shop/done Finished weak\nJob team/done Finished weak",
	},
	"what a CronJob may scale, by a ClusterRole": {
		cluster: cluster(of("apps/v1 Deployment shop/night", "", zero), of("apps/v1 StatefulSet shop/night", "", zero), of("apps/v1 Deployment team/night", "", zero), clockCronJob("", ""),
			of(rbac+"ClusterRole scale", "", "rules: [{apiGroups: [apps], resources: [deployments/scale], verbs: [patch]}]"), of(rbac+"RoleBinding shop/scale", "", binds("ClusterRole", "scale", clock))),
		want: "Deployment shop/night Idle weak\nDeployment team/night Idle\nStatefulSet shop/night Idle",
	},
	"what a CronJob may scale in any namespace": {
		cluster: cluster(of("apps/v1 StatefulSet shop/night", "", zero), of("batch/v1 CronJob shop/night", "", "spec: {suspend: true}"), clockCronJob("", "suspend: true, "),
			of(rbac+"ClusterRole scale", "", "rules: [{apiGroups: [apps, batch], resources: [statefulsets, jobs], verbs: [update, create]}]"), of(rbac+"ClusterRoleBinding scale", "", binds("ClusterRole", "scale", clock))),
		want: "StatefulSet shop/night Idle weak\nCronJob ops/clock Idle\nCronJob shop/night Idle weak",
	},
	"what an account may scale, by the names in a Role": {
		cluster: cluster(of("apps/v1 Deployment shop/night", "", zero), of("apps/v1 Deployment shop/other", "", zero),
			of(rbac+"Role shop/scale", "", "rules: [{apiGroups: [apps], resources: [deployments], resourceNames: [night], verbs: ['*']}]"), of(rbac+"RoleBinding shop/scale", "", binds("Role", "scale", robot))),
		want: "Deployment shop/night Idle weak\nDeployment shop/other Idle",
	},
	"what operators and people may scale": {
		cluster: cluster(of("apps/v1 Deployment shop/night", "", zero), of("apps/v1 Deployment ops/operator", "", "spec: {replicas: 1, template: {spec: {serviceAccountName: clock, containers: []}}}"),
			of(rbac+"ClusterRole all", "", "rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]"), of(rbac+"ClusterRoleBinding all", "", binds("ClusterRole", "all", clock+", "+user)),
			of(rbac+"Role shop/all", "", "rules: [{apiGroups: [apps], resources: [deployments], verbs: [patch]}]"), of(rbac+"RoleBinding shop/all", "", binds("Role", "all", user)),
			of(rbac+"RoleBinding shop/deploy", "", binds("ClusterRole", "all", clock))),
		want: "Deployment shop/night Idle",
	},
	"what an account of another namespace may scale by a ClusterRole": {
		cluster: cluster(of("apps/v1 Deployment shop/night", "", zero), of("apps/v1 Deployment team/night", "", zero),
			of(rbac+"ClusterRole scaler", "", "rules: [{apiGroups: [apps], resources: [deployments/scale], verbs: [patch]}]"),
			of(rbac+"RoleBinding shop/scaler", "", binds("ClusterRole", "scaler", clock))),
		want: "Deployment shop/night Idle weak\nDeployment team/night Idle",
	},
	"what may be scaled, when Roles may not be read": {
		cluster: cluster(of("apps/v1 Deployment shop/night", "", zero), of("batch/v1 CronJob shop/night", "", "spec: {suspend: true}")), unread: []string{"Role"},
		want: "Deployment shop/night Idle unknown\nCronJob shop/night Idle unknown",
	},
	"what may be scaled, when ClusterRoles may not be read": {
		cluster: cluster(of("apps/v1 Deployment shop/night", "", zero), of("batch/v1 CronJob shop/night", "", "spec: {suspend: true, jobTemplate: {spec: {template: {spec: {}}}}}"), of("apps/v1 Deployment team/night", "", zero)), unread: []string{"ClusterRole"},
		want: "Deployment shop/night Idle unknown\nDeployment team/night Idle unknown\nCronJob shop/night Idle unknown",
	},
}

// Who may wait for a Job, scale up a workload, or resume a CronJob, makes the finding Weak.
func TestRights(t *testing.T) {
	t.Parallel()
	for name, s := range rightScenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := slices.DeleteFunc(find(t, s), func(f *finding.Finding) bool {
				return f.Kind.Kind == "Pod" || f.Type != v1alpha1.FindingFinished && f.Type != v1alpha1.FindingIdle
			})
			if got := lines(found); got != s.want {
				t.Errorf("found:\n%s\n\nwant:\n%s", got, s.want)
			}
		})
	}
}
