// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import "time"

// unusedByPods is a claim of which the API server says that no Pod uses it.
func unusedByPods(name string) string {
	return of("v1 PersistentVolumeClaim shop/"+name, "",
		"status: {conditions: [{type: Unused, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z'}]}")
}

var storageScenarios = map[string]scenario{
	"claims": {
		cluster: cluster(of("v1 PersistentVolumeClaim shop/used", ""), of("v1 PersistentVolumeClaim shop/left", ""), of("v1 PersistentVolumeClaim shop/asleep", ""),
			of("v1 PersistentVolumeClaim shop/nightly", ""), of("v1 PersistentVolumeClaim shop/db-tmp", ""),
			of("v1 Pod shop/db", "", "spec: {containers: [], volumes: [{name: a, persistentVolumeClaim: {claimName: used}}, {name: tmp, ephemeral: {volumeClaimTemplate: {spec: {}}}}]}"),
			of("apps/v1 Deployment shop/night", "", "spec: {replicas: 0, template: {spec: {containers: [], volumes: [{name: a, persistentVolumeClaim: {claimName: asleep}}]}}}"),
			of("batch/v1 CronJob shop/nightly", "", "spec: {jobTemplate: {spec: {template: {spec: {containers: [], volumes: [{name: a, persistentVolumeClaim: {claimName: nightly}}]}}}}}")),
		want: `
PersistentVolumeClaim shop/asleep Cascading
PersistentVolumeClaim shop/left Unused
Deployment shop/night Idle`,
	},
	// The API server counts Pods only (KEP-5541).
	"claims whose condition says that no Pod uses them, and that templates name": {
		cluster: cluster(unusedByPods("asleep"), unusedByPods("nightly"), unusedByPods("left"),
			of("apps/v1 Deployment shop/night", "", "spec: {replicas: 0, template: {spec: {containers: [], volumes: [{name: a, persistentVolumeClaim: {claimName: asleep}}]}}}"),
			of("batch/v1 CronJob shop/nightly", "", "spec: {jobTemplate: {spec: {template: {spec: {containers: [], volumes: [{name: a, persistentVolumeClaim: {claimName: nightly}}]}}}}}")),
		want: `
PersistentVolumeClaim shop/asleep Cascading
PersistentVolumeClaim shop/left Unused
Deployment shop/night Idle`,
	},
	"claims of a StatefulSet that was scaled down, and of one that is gone": {
		cluster: cluster(of("v1 PersistentVolumeClaim shop/data-db-0", ""), of("v1 PersistentVolumeClaim shop/data-db-7", ""), of("v1 PersistentVolumeClaim shop/data-gone-0", ""),
			of("v1 PersistentVolumeClaim shop/data-db-x", ""),
			of("v1 Service shop/db", ""),
			of("apps/v1 StatefulSet shop/db", "", "spec: {replicas: 1, serviceName: db, template: {spec: {containers: []}}, volumeClaimTemplates: [{metadata: {name: data}, spec: {}}]}")),
		want: "PersistentVolumeClaim shop/data-db-x Unused\nPersistentVolumeClaim shop/data-gone-0 Unused",
	},
	"a claim that its StatefulSet owns": {
		cluster: of("v1 PersistentVolumeClaim shop/data-db-0", "ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: u}]"),
	},
	"a claim that a snapshot was taken of": {
		cluster: cluster(of("v1 PersistentVolumeClaim shop/data", ""),
			of("snapshot.storage.k8s.io/v1 VolumeSnapshot shop/a", "", "spec: {source: {persistentVolumeClaimName: data}}")),
	},
	"volumes": {
		cluster: cluster(of("v1 PersistentVolume released", "", "status: {phase: Released}"), of("v1 PersistentVolume failed", "", "status: {phase: Failed}"),
			of("v1 PersistentVolume static", "", "status: {phase: Available}"), of("v1 PersistentVolume bound", "", "status: {phase: Bound}")),
		want: "PersistentVolume failed Unused\nPersistentVolume released Unused",
	},
	"volumes that may be claimed again": {
		cluster: cluster(
			of("v1 PersistentVolume returned", "", "spec: {claimRef: {namespace: shop, name: data}}", "status: {phase: Released}"), of("v1 PersistentVolumeClaim shop/data", "labels: {kor/used: 'true'}"),
			of("v1 PersistentVolume of-db", "", "spec: {claimRef: {namespace: shop, name: data-db-12}}", "status: {phase: Released}"),
			of("v1 PersistentVolume of-other-db", "", "spec: {claimRef: {namespace: team, name: data-db-0}}", "status: {phase: Released}"),
			of("v1 PersistentVolume of-no-number", "", "spec: {claimRef: {namespace: shop, name: data-db-}}", "status: {phase: Released}"),
			of("v1 PersistentVolume in-template", "", "spec: {claimRef: {namespace: shop, name: gone}}", "status: {phase: Released}"),
			of("v1 Service shop/db", ""),
			of("apps/v1 StatefulSet shop/db", "", "spec: {replicas: 1, serviceName: db, template: {spec: {containers: []}}, volumeClaimTemplates: [{metadata: {name: logs}, spec: {volumeName: in-template}}, {metadata: {name: data}, spec: {}}]}")),
		want: `
PersistentVolume of-db Unused weak
PersistentVolume of-no-number Unused
PersistentVolume of-other-db Unused
PersistentVolume returned Unused weak`,
	},
	"volumes when StatefulSets may not be read": {
		cluster: of("v1 PersistentVolume a", "", "status: {phase: Released}"), unread: []string{"StatefulSet"}, want: "PersistentVolume a Unused unknown",
	},
	"what the attributes of volumes and the parameters of classes name": {
		cluster: cluster(
			of("v1 PersistentVolume bound", "", "spec: {claimRef: {namespace: shop, name: its-claim}, storageClassName: fast-disk, csi: {volumeAttributes: {server: nfs.shop.svc.cluster.local, "+
				"settings: volume-settings, source: shop/exported, share: its-claim, csi.storage.k8s.io/pvc/namespace: left}}}", "status: {phase: Bound}"),
			of("storage.k8s.io/v1 StorageClass fast-disk", "", "parameters: {type: fast-disk, config: class-settings}"),
			of("storage.k8s.io/v1 StorageClass slow-disk", "annotations: {cas.openebs.io/config: \"- name: HookConfigMap\\n  value: openebs-hooks\"}", "parameters: {type: slow-disk}"),
			of("v1 Service shop/nfs", "", "spec: {selector: {a: b}}"), of("v1 Service team/nfs", "", "spec: {selector: {a: b}}"),
			of("v1 ConfigMap shop/volume-settings", ""), of("v1 ConfigMap team/class-settings", ""), of("v1 ConfigMap team/openebs-hooks", ""), of("v1 ConfigMap team/left", ""),
			of("v1 PersistentVolumeClaim shop/exported", ""), of("v1 PersistentVolumeClaim team/exported", ""), of("v1 PersistentVolumeClaim shop/its-claim", "")),
		want: `
ConfigMap shop/volume-settings Unused weak
ConfigMap team/class-settings Unused weak
ConfigMap team/left Unused
ConfigMap team/openebs-hooks Unused weak
PersistentVolumeClaim shop/exported Unused weak
PersistentVolumeClaim shop/its-claim Unused
PersistentVolumeClaim team/exported Unused weak
Service team/nfs Unused
StorageClass slow-disk Unused`,
	},
	"attachments": {
		cluster: cluster(of("v1 Node n1", "labels: {node-role.kubernetes.io/control-plane: ''}"), of("v1 PersistentVolume v", ""),
			of("storage.k8s.io/v1 VolumeAttachment good", "", "spec: {attacher: none, nodeName: n1, source: {persistentVolumeName: v}}"),
			of("storage.k8s.io/v1 VolumeAttachment inline", "", "spec: {nodeName: n1, source: {inlineVolumeSpec: {}}}"),
			of("storage.k8s.io/v1 VolumeAttachment nodeless", "", "spec: {nodeName: gone, source: {persistentVolumeName: v}}"),
			of("storage.k8s.io/v1 VolumeAttachment volumeless", "", "spec: {nodeName: n1, source: {persistentVolumeName: gone}}")),
		want: "VolumeAttachment nodeless Unused\nVolumeAttachment volumeless Unused",
	},
	"kor#386: attachments when Nodes may not be read": {
		cluster: cluster(of("v1 PersistentVolume v", ""),
			of("storage.k8s.io/v1 VolumeAttachment a", "", "spec: {nodeName: n1, source: {persistentVolumeName: v}}"),
			of("storage.k8s.io/v1 VolumeAttachment volumeless", "", "spec: {nodeName: n1, source: {persistentVolumeName: gone}}")),
		unread: []string{"Node"},
		want:   "VolumeAttachment a Unused unknown\nVolumeAttachment volumeless Unused",
	},
}

var podScenarios = map[string]scenario{
	"Pods that ended": {
		cluster: cluster(of("v1 Pod shop/evicted", "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}]", "status: {phase: Failed, reason: Evicted}"),
			of("v1 Pod shop/done", "", "status: {phase: Succeeded}"), of("v1 Pod shop/error", "", "status: {phase: Failed}"),
			of("v1 Pod shop/run", "", "status: {phase: Running}"),
			of("v1 Pod shop/hook", "annotations: {helm.sh/hook: test}", "status: {phase: Succeeded}"),
			of("v1 Pod shop/popeye-298", "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u, controller: true}]", "status: {phase: Succeeded}"),
			of("v1 Pod shop/try", "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u, controller: true}]", "status: {phase: Failed}")),
		want: "Pod shop/done Finished\nPod shop/error Failed\nPod shop/evicted Failed",
	},
	"containers that do not start": {
		cluster: cluster(
			of("v1 Pod shop/crash", "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}]",
				"status: {phase: Running, containerStatuses: [{name: a, state: {running: {}}}, {name: b, state: {waiting: {reason: CrashLoopBackOff}}}]}"),
			of("v1 Pod shop/init", "", "status: {phase: Pending, initContainerStatuses: [{name: a, state: {waiting: {reason: ImagePullBackOff}}}]}"),
			of("v1 Pod shop/name", "", "status: {phase: Pending, containerStatuses: [{name: a, state: {waiting: {reason: InvalidImageName}}}]}"),
			of("v1 Pod shop/config", "", "status: {phase: Pending, containerStatuses: [{name: a, state: {waiting: {reason: CreateContainerConfigError}}}]}"),
			of("v1 Pod shop/starts", "", "status: {phase: Pending, containerStatuses: [{name: a, state: {waiting: {reason: ContainerCreating}}}]}"),
			of("v1 Pod shop/oom", "", "status: {phase: Running, containerStatuses: [{name: a, state: {running: {}}, lastState: {terminated: {reason: OOMKilled, finishedAt: "+ago(time.Hour)+"}}}]}"),
			of("v1 Pod shop/long-ago", "", "status: {phase: Running, containerStatuses: [{name: a, state: {running: {}}, lastState: {terminated: {reason: OOMKilled, finishedAt: "+ago(48*time.Hour)+"}}}]}")),
		want: `
Pod shop/config Unhealthy
Pod shop/crash Unhealthy
Pod shop/init Unhealthy
Pod shop/name Unhealthy
Pod shop/oom Unhealthy`,
	},
	"Pods that wait for a Node, or lost it": {
		cluster: cluster(of("v1 Node n1", "labels: {node-role.kubernetes.io/control-plane: ''}"),
			of("v1 Pod shop/pending", "creationTimestamp: "+ago(time.Hour), "status: {phase: Pending}"),
			of("v1 Pod shop/new", "creationTimestamp: "+ago(time.Minute), "status: {phase: Pending}"),
			of("v1 Pod shop/since", "creationTimestamp: "+ago(time.Hour), "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', lastTransitionTime: "+ago(time.Minute)+"}]}"),
			of("v1 Pod shop/admitted", "creationTimestamp: "+ago(time.Hour), "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: SchedulingGated, lastTransitionTime: "+ago(time.Hour)+"}]}"),
			of("v1 Pod shop/scheduled", "creationTimestamp: "+ago(time.Hour), "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: "+ago(time.Minute)+"}]}"),
			of("v1 Pod shop/not-started", "creationTimestamp: "+ago(time.Hour), "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: "+ago(20*time.Minute)+"}]}"),
			of("v1 Pod shop/gated", "creationTimestamp: "+ago(time.Hour), "spec: {schedulingGates: [{name: a}]}", "status: {phase: Pending}"),
			of("v1 Pod shop/grouped", "creationTimestamp: "+ago(time.Hour), "spec: {schedulingGroup: {podGroupName: train}}", "status: {phase: Pending}"),
			of("v1 Pod shop/of-a-workload", "creationTimestamp: "+ago(time.Hour), "spec: {workloadRef: {name: train, podGroup: a}}", "status: {phase: Pending}"),
			of("v1 Pod shop/unknown", "", "status: {phase: Unknown}"),
			of("v1 Pod shop/lost", "", "spec: {nodeName: gone}", "status: {phase: Running}"),
			of("v1 Pod shop/fine", "", "spec: {nodeName: n1}", "status: {phase: Running}")),
		want: "Pod shop/lost Unhealthy\nPod shop/not-started Unhealthy\nPod shop/pending Unhealthy\nPod shop/unknown Unhealthy",
	},
	"a Node that may not be read is not lost": {
		cluster: of("v1 Pod shop/a", "", "spec: {nodeName: n1}", "status: {phase: Running}"), unread: []string{"Node"},
	},
}

var jobScenarios = map[string]scenario{
	"Jobs that ended": {
		cluster: cluster(of("batch/v1 Job shop/done", "", "status: {conditions: [{type: Complete, status: 'True'}]}"),
			of("batch/v1 Job shop/failed", "", "status: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded}]}"),
			of("batch/v1 Job shop/runs", "", "status: {active: 1}"),
			of("batch/v1 Job shop/just-now", "", "status: {completionTime: "+ago(time.Minute)+", conditions: [{type: Complete, status: 'True'}]}"),
			of("batch/v1 Job shop/none", "", "spec: {completions: 0}", "status: {conditions: [{type: Complete, status: 'True'}]}"),
			of("batch/v1 Job shop/owned", "ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: c, uid: u, controller: true}]", "status: {conditions: [{type: Failed, status: 'True'}]}"),
			of("batch/v1 Job shop/ttl", "", "spec: {ttlSecondsAfterFinished: 0}", "status: {conditions: [{type: Complete, status: 'True'}]}"),
			of("batch/v1 Job shop/helm", "annotations: {helm.sh/hook: post-install}", "status: {conditions: [{type: Complete, status: 'True'}]}"),
			of("batch/v1 Job shop/argo", "annotations: {argocd.argoproj.io/hook: Sync}", "status: {conditions: [{type: Failed, status: 'True'}]}")),
		want: "Job shop/done Finished\nJob shop/failed Failed\nJob shop/none Finished",
	},
	"Jobs that a Pod waits for before it starts": {
		cluster: cluster(of("batch/v1 Job shop/migrate", "", "status: {conditions: [{type: Complete, status: 'True'}]}"), of("batch/v1 Job shop/seed", "", "status: {conditions: [{type: Complete, status: 'True'}]}"),
			of("batch/v1 Job team/migrate", "", "status: {conditions: [{type: Complete, status: 'True'}]}"), of("batch/v1 Job shop/other", "", "status: {conditions: [{type: Complete, status: 'True'}]}"),
			of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1, template: {spec: {initContainers: [{name: wait, command: [kubectl, wait, --for=condition=complete, job/migrate]}, {name: say, args: [other]}], containers: []}}}"),
			of("apps/v1 StatefulSet shop/db", "", "spec: {replicas: 1, template: {spec: {initContainers: [{name: wait, args: [job, seed]}], containers: []}}}")),
		want: "Job shop/migrate Finished weak\nJob shop/other Finished\nJob shop/seed Finished weak\nJob team/migrate Finished",
	},
	"Jobs that ended, when workloads may not be read": {
		cluster: of("batch/v1 Job shop/done", "", "status: {conditions: [{type: Complete, status: 'True'}]}"), unread: []string{"DaemonSet"}, want: "Job shop/done Finished weak",
	},
	"suspended Jobs": {
		cluster: cluster(of("batch/v1 Job shop/suspended", "", "spec: {suspend: true}", "status: {conditions: [{type: Suspended, status: 'True'}]}"),
			of("batch/v1 Job shop/resumed", "", "spec: {suspend: false}", "status: {conditions: [{type: Suspended, status: 'False'}]}"),
			of("batch/v1 Job shop/queued", "labels: {kueue.x-k8s.io/queue-name: q}", "spec: {suspend: true}", "status: {conditions: [{type: Suspended, status: 'True'}]}")),
		want: "Job shop/suspended Idle",
	},
	"CronJobs that sleep": {
		cluster: cluster(of("kube-green.com/v1alpha1 SleepInfo night/s", ""),
			of("batch/v1 Job night/asleep", "", "spec: {suspend: true}", "status: {conditions: [{type: Suspended, status: 'True'}]}"),
			of("batch/v1 CronJob night/asleep", "", "spec: {suspend: true}"),
			of("batch/v1 CronJob shop/asleep", "annotations: {downscaler/original-replicas: '1'}", "spec: {suspend: true}"),
			of("batch/v1 CronJob shop/resumed-tomorrow", "annotations: {previous-suspend: 'false'}", "spec: {suspend: true}")),
	},
	"suspended CronJobs that people ran by hand, of which no Job is left": {
		cluster: cluster(
			of("batch/v1 CronJob shop/after-it-was-suspended", writtenSuspend(40*time.Hour), "spec: {suspend: true, schedule: '@monthly'}", "status: {lastScheduleTime: "+ago(50*time.Hour)+", lastSuccessfulTime: "+ago(9*time.Hour)+"}"),
			of("batch/v1 CronJob shop/after-a-period", "", "spec: {suspend: true, schedule: '@hourly'}", "status: {lastScheduleTime: "+ago(50*time.Hour)+", lastSuccessfulTime: "+ago(9*time.Hour)+"}"),
			of("batch/v1 CronJob shop/never-scheduled", "", "spec: {suspend: true, schedule: '@hourly'}", "status: {lastSuccessfulTime: "+ago(9*time.Hour)+"}"),
			of("batch/v1 CronJob shop/by-schedule", "", "spec: {suspend: true, schedule: '@daily'}", "status: {lastScheduleTime: "+ago(60*time.Hour)+", lastSuccessfulTime: "+ago(59*time.Hour)+"}"),
			of("batch/v1 CronJob shop/long-by-schedule", writtenSuspend(40*time.Hour), "spec: {suspend: true, schedule: '@hourly'}", "status: {lastScheduleTime: "+ago(50*time.Hour)+", lastSuccessfulTime: "+ago(45*time.Hour)+"}")),
		want: `
CronJob shop/after-a-period Idle weak
CronJob shop/after-it-was-suspended Idle weak
CronJob shop/by-schedule Idle
CronJob shop/long-by-schedule Idle
CronJob shop/never-scheduled Idle weak`,
	},
	"CronJobs of which it is unknown whether they sleep": {
		cluster: cluster(of("batch/v1 CronJob shop/suspended", "", "spec: {suspend: true}"),
			of("batch/v1 Job shop/suspended", "", "spec: {suspend: true}", "status: {conditions: [{type: Suspended, status: 'True'}]}")),
		unread: []string{"SleepInfo"}, want: "CronJob shop/suspended Idle unknown\nJob shop/suspended Idle unknown",
	},
	"CronJobs": {
		cluster: cluster(of("batch/v1 CronJob shop/suspended", "", "spec: {suspend: true, schedule: '@hourly'}", "status: {lastScheduleTime: "+ago(90*time.Hour)+", lastSuccessfulTime: "+ago(99*time.Hour)+"}"),
			of("batch/v1 CronJob shop/works", "", "spec: {schedule: '@hourly'}", "status: {lastScheduleTime: "+ago(time.Hour)+", lastSuccessfulTime: "+ago(time.Hour)+"}"),
			of("batch/v1 CronJob shop/fails", "", "spec: {schedule: '@hourly', timeZone: Europe/Berlin}", "status: {lastScheduleTime: "+ago(time.Hour)+", lastSuccessfulTime: "+ago(9*time.Hour)+"}"),
			of("batch/v1 CronJob shop/once", "", "spec: {schedule: '@hourly'}", "status: {lastScheduleTime: "+ago(time.Hour)+", lastSuccessfulTime: "+ago(2*time.Hour)+"}"),
			of("batch/v1 CronJob shop/never", "creationTimestamp: "+ago(90*time.Hour), "spec: {schedule: '@daily'}", "status: {lastScheduleTime: "+ago(time.Hour)+"}"),
			of("batch/v1 CronJob shop/new", "creationTimestamp: "+ago(90*time.Hour), "spec: {schedule: '@monthly'}"),
			of("batch/v1 CronJob shop/odd", "creationTimestamp: "+ago(90*time.Hour), "spec: {schedule: 'TZ='}", "status: {lastScheduleTime: "+ago(time.Hour)+"}")),
		want: "CronJob shop/fails Unhealthy\nCronJob shop/never Unhealthy\nCronJob shop/suspended Idle",
	},
}

// writtenSuspend is the record that somebody wrote spec.suspend.
func writtenSuspend(before time.Duration) string {
	return "managedFields: [{manager: kubectl, time: " + ago(before) + `, fieldsV1: {"f:spec": {"f:suspend": {}}}}]`
}
