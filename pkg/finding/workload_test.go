// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import "time"

// zero is the spec of a workload without replicas.
const zero = "spec: {replicas: 0, template: {metadata: {labels: {app: web}}, spec: {containers: []}}}"

// podOf is a Pod of a Deployment, with the status of its container.
func podOf(deployment, status string) string {
	return of("v1 Pod shop/"+deployment+"-1-a", "labels: {pod-template-hash: '1'}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: "+deployment+"-1, uid: u, controller: true}]",
		"status: {phase: Running, containerStatuses: [{name: a, "+status+"}]}")
}

var workloadScenarios = map[string]scenario{
	"workloads at zero": {
		cluster: cluster(of("apps/v1 Deployment shop/zero", "", zero), of("apps/v1 StatefulSet shop/zero", "", zero), of("apps/v1 Deployment shop/runs", "", "spec: {replicas: 1}"),
			of("apps/v1 StatefulSet shop/runs", "", "spec: {replicas: 1}"),
			of("apps/v1 Deployment shop/paused", "annotations: {previous-replicas: '3'}", zero),
			of("apps/v1 StatefulSet shop/downscaled", "annotations: {downscaler/original-replicas: '3'}", zero)),
		want: "Deployment shop/zero Idle\nStatefulSet shop/zero Idle",
	},
	"StatefulSets at zero whose claims are deleted with them": {
		cluster: cluster(of("apps/v1 StatefulSet shop/deletes", "", "spec: {replicas: 0, persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}, volumeClaimTemplates: [{metadata: {name: data}}]}"),
			of("apps/v1 StatefulSet shop/retains", "", "spec: {replicas: 0, persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Delete}, volumeClaimTemplates: [{metadata: {name: data}}]}"),
			of("apps/v1 StatefulSet shop/without", "", "spec: {replicas: 0, persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}}")),
		want: "StatefulSet shop/deletes Idle weak\nStatefulSet shop/retains Idle\nStatefulSet shop/without Idle",
	},
	"workloads that somebody calls when they are needed": {
		cluster: cluster(of("apps/v1 Deployment shop/openfaas", "labels: {faas_function: f}", zero), of("apps/v1 Deployment shop/fission", "labels: {executorType: newdeploy}", zero),
			of("apps/v1 Deployment shop/executor", "labels: {executorType: other}", zero)),
		want: "Deployment shop/executor Idle",
	},
	"workloads that a custom resource names as what it scales": {
		cluster: cluster(of("apps/v1 Deployment shop/web", "", zero), of("apps/v1 StatefulSet shop/web", "", zero),
			of("example.com/v1 Widget shop/a", "", "spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}")),
		want: "Deployment shop/web Idle weak\nStatefulSet shop/web Idle weak",
	},
	"workloads that something scales up when they are needed": {
		cluster: cluster(of("apps/v1 Deployment shop/hpa", "", zero), of("apps/v1 Deployment shop/stopped", "", zero), of("apps/v1 StatefulSet shop/keda", "", zero), of("apps/v1 Deployment shop/keda", "", zero),
			of("apps/v1 Deployment shop/always", "", zero), of("apps/v1 Deployment night/green", "", zero),
			of("autoscaling/v2 HorizontalPodAutoscaler shop/hpa", "", "spec: {minReplicas: 0, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: hpa}}"),
			of("autoscaling/v2 HorizontalPodAutoscaler shop/stopped", "", "spec: {minReplicas: 1, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: stopped}}"),
			of("keda.sh/v1alpha1 ScaledObject shop/a", "", "spec: {scaleTargetRef: {kind: StatefulSet, name: keda}}"),
			of("keda.sh/v1alpha1 ScaledObject shop/b", "", "spec: {scaleTargetRef: {name: keda}}"),
			of("keda.sh/v1alpha1 ScaledObject shop/c", "", "spec: {minReplicaCount: 1, scaleTargetRef: {name: always}}"),
			of("keda.sh/v1alpha1 ScaledObject shop/d", "annotations: {autoscaling.keda.sh/paused-replicas: '0'}", "spec: {minReplicaCount: 1, scaleTargetRef: {name: held}}"),
			of("keda.sh/v1alpha1 ScaledObject shop/e", "annotations: {autoscaling.keda.sh/paused: 'true'}", "spec: {minReplicaCount: 1, scaleTargetRef: {name: paused}}"),
			of("keda.sh/v1alpha1 ScaledObject shop/f", "annotations: {autoscaling.keda.sh/paused: 'false'}", "spec: {minReplicaCount: 1, scaleTargetRef: {name: not-paused}}"),
			of("apps/v1 Deployment shop/held", "", zero), of("apps/v1 Deployment shop/paused", "", zero), of("apps/v1 Deployment shop/not-paused", "", zero),
			of("apps/v1 Deployment shop/template", "", zero), of("argoproj.io/v1alpha1 Rollout shop/a", "", "spec: {replicas: 1, workloadRef: {apiVersion: apps/v1, kind: Deployment, name: template}}"),
			of("kube-green.com/v1alpha1 SleepInfo night/a", "")),
		want: "Deployment shop/always Idle weak\nDeployment shop/not-paused Idle weak\nDeployment shop/stopped Idle",
	},
	"what sleeps uses its inputs": {
		cluster: cluster(of("v1 ConfigMap shop/keda", ""), of("v1 ConfigMap shop/paused", ""),
			of("apps/v1 Deployment shop/keda", "", "spec: {replicas: 0, template: {spec: "+pod("keda")+"}}"),
			of("apps/v1 Deployment shop/paused", "annotations: {previous-replicas: '1'}", "spec: {replicas: 0, template: {spec: "+pod("paused")+"}}"),
			of("keda.sh/v1alpha1 ScaledObject shop/a", "", "spec: {scaleTargetRef: {name: keda}}")),
	},
	"workloads at zero when what scales them may not be read": {
		cluster: cluster(of("apps/v1 Deployment shop/zero", "", zero), of("apps/v1 StatefulSet shop/zero", "", zero), of("apps/v1 ReplicaSet shop/bare", "", zero, "status: {replicas: 0}")),
		unread:  []string{"HorizontalPodAutoscaler"},
		want:    "Deployment shop/zero Idle unknown\nReplicaSet shop/bare Unused unknown\nStatefulSet shop/zero Idle unknown",
	},
	"Deployments that do not run": {
		cluster: cluster(
			of("apps/v1 Deployment shop/down", "", "spec: {replicas: 1}", "status: {conditions: [{type: Available, status: 'False', lastTransitionTime: "+ago(time.Hour)+"}]}"),
			of("apps/v1 Deployment shop/rolls-out", "", "spec: {replicas: 1, progressDeadlineSeconds: 7200}", "status: {conditions: [{type: Available, status: 'False', lastTransitionTime: "+ago(time.Hour)+"}, {type: Progressing, status: 'True', reason: ReplicaSetUpdated}]}"),
			of("apps/v1 Deployment shop/rolled-out", "", "spec: {replicas: 1}", "status: {conditions: [{type: Available, status: 'False', lastTransitionTime: "+ago(time.Hour)+"}, {type: Progressing, status: 'True', reason: NewReplicaSetAvailable}]}"),
			of("apps/v1 Deployment shop/starts", "", "spec: {replicas: 1}", "status: {conditions: [{type: Available, status: 'False', lastTransitionTime: "+ago(time.Minute)+"}]}"),
			of("apps/v1 Deployment shop/crash", "", "spec: {replicas: 1}"), of("apps/v1 Deployment shop/restarts", "", "spec: {replicas: 1}"), of("apps/v1 Deployment shop/fine", "", "spec: {replicas: 1}"),
			podOf("crash", "state: {waiting: {reason: CrashLoopBackOff}}"), podOf("restarts", "restartCount: 100, state: {running: {}}"), podOf("fine", "restartCount: 99, state: {running: {}}"),
			of("apps/v1 Deployment shop/hangs", "", "spec: {replicas: 1}", "status: {conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}"),
			of("apps/v1 Deployment shop/zero", "", zero, "status: {conditions: [{type: Available, status: 'False', lastTransitionTime: "+ago(time.Hour)+"}]}")),
		want: "Deployment shop/crash Unhealthy\nDeployment shop/down Unhealthy\nDeployment shop/hangs Unhealthy\nDeployment shop/restarts Unhealthy\nDeployment shop/rolled-out Unhealthy\nDeployment shop/zero Idle",
	},
	"DaemonSets": {
		cluster: cluster(of("apps/v1 DaemonSet shop/none", "generation: 1", "status: {desiredNumberScheduled: 0, observedGeneration: 1}"),
			of("apps/v1 DaemonSet shop/new", "generation: 2", "status: {desiredNumberScheduled: 0, observedGeneration: 1}"),
			of("apps/v1 DaemonSet kube-system/nvidia-driver", "generation: 1", "status: {desiredNumberScheduled: 0, observedGeneration: 1}"),
			of("apps/v1 DaemonSet shop/some", "generation: 1", "status: {desiredNumberScheduled: 2, observedGeneration: 1}"),
			of("v1 ConfigMap shop/gpu", ""),
			of("apps/v1 DaemonSet shop/gpu", "generation: 1", "spec: {template: {spec: "+pod("gpu")+"}}", "status: {desiredNumberScheduled: 0, observedGeneration: 1}")),
		want: "ConfigMap shop/gpu Cascading\nDaemonSet shop/gpu Idle\nDaemonSet shop/none Idle",
	},
	"ReplicaSets": {
		cluster: cluster(of("apps/v1 ReplicaSet shop/bare", "annotations: {deployment.kubernetes.io/revision: '1'}", zero, "status: {replicas: 0}"), of("apps/v1 ReplicaSet shop/runs", "", "spec: {replicas: 1}"),
			of("apps/v1 ReplicaSet shop/ends", "", zero, "status: {replicas: 1}"),
			of("apps/v1 ReplicaSet shop/kept", "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: u, controller: true}]", zero, "status: {replicas: 0}")),
		want: "ReplicaSet shop/bare Unused",
	},
	"ReplicaSets that no Deployment made": {
		cluster: cluster(of("apps/v1 ReplicaSet shop/web-v001", "annotations: {moniker.spinnaker.io/sequence: '1'}", zero, "status: {replicas: 0}"), of("apps/v1 ReplicaSet shop/orphan", "annotations: {deployment.kubernetes.io/revision: '1'}", zero, "status: {replicas: 0}")),
		want:    "ReplicaSet shop/orphan Unused\nReplicaSet shop/web-v001 Unused weak",
	},
}

var serviceScenarios = map[string]scenario{
	"Services by their endpoints": {
		cluster: cluster(of("v1 Service shop/ready", "", "spec: {selector: {a: b}}"), of("v1 Service shop/left", "", "spec: {selector: {a: b}}"), of("v1 Service shop/dual", "", "spec: {selector: {a: b}}"),
			of("v1 Service shop/unready", "", "spec: {selector: {a: b}}"), of("v1 Service shop/empty", "", "spec: {selector: {a: b}}"),
			of("v1 Service shop/external", "", "spec: {type: ExternalName, externalName: a.b}"), of("v1 Service shop/headless", "", "spec: {clusterIP: None}"),
			of("v1 Service shop/balancer", "", "spec: {type: LoadBalancer, selector: {a: b}}"), of("v1 Service default/kubernetes", "", "spec: {selector: {a: b}}"),
			of("v1 Service shop/old-balancer", "", "spec: {type: LoadBalancer, selector: {a: b}}", "status: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}}"),
			of("discovery.k8s.io/v1 EndpointSlice shop/r", "labels: {kubernetes.io/service-name: ready}", "endpoints: [{addresses: [1.1.1.1]}]"),
			of("discovery.k8s.io/v1 EndpointSlice shop/d4", "labels: {kubernetes.io/service-name: dual}", "endpoints: [{addresses: [1.1.1.1]}]"),
			of("discovery.k8s.io/v1 EndpointSlice shop/d6", "labels: {kubernetes.io/service-name: dual}", "endpoints: []"),
			of("discovery.k8s.io/v1 EndpointSlice shop/u", "labels: {kubernetes.io/service-name: unready}", "endpoints: [{addresses: [1.1.1.1], conditions: {ready: false}}]"),
			of("discovery.k8s.io/v1 EndpointSlice shop/e", "labels: {kubernetes.io/service-name: empty}", "endpoints: null")),
		want: "Service shop/empty Unused\nService shop/left Unused\nService shop/old-balancer Unused",
	},
	"Services by what they select": {
		cluster: cluster(of("v1 Service shop/zero", "", "spec: {selector: {app: web}}"), of("v1 Service shop/starts", "", "spec: {selector: {app: new}}"), of("v1 Service shop/keda", "", "spec: {selector: {app: keda}}"),
			of("v1 Service shop/waits", "", "spec: {selector: {app: pod}}"),
			of("apps/v1 Deployment shop/zero", "", zero),
			of("apps/v1 ReplicaSet shop/zero-1", "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: zero, uid: u, controller: true}]", zero, "status: {replicas: 0}"),
			of("apps/v1 Deployment shop/starts", "", "spec: {replicas: 1, template: {metadata: {labels: {app: new}}}}"),
			of("v1 Pod shop/waits", "labels: {app: pod}", "status: {phase: Pending}"),
			of("apps/v1 Deployment shop/keda", "", "spec: {replicas: 0, template: {metadata: {labels: {app: keda}}}}"),
			of("keda.sh/v1alpha1 ScaledObject shop/b", "", "spec: {scaleTargetRef: {name: keda}}")),
		want: "Service shop/zero Cascading\nDeployment shop/zero Idle",
	},
	"Services of single Pods, whose workload is at zero": {
		cluster: cluster(of("v1 Service shop/web-1", "", "spec: {selector: {app: web, statefulset.kubernetes.io/pod-name: web-1}}"),
			of("v1 Service shop/first", "", "spec: {selector: {apps.kubernetes.io/pod-index: '0'}}"),
			of("v1 Service shop/other", "", "spec: {selector: {app: web, statefulset.kubernetes.io/pod-name: other-1}}"),
			of("v1 Service shop/hash", "", "spec: {selector: {app: old, pod-template-hash: abc}}"),
			of("apps/v1 Deployment shop/old", "", "spec: {replicas: 0, template: {metadata: {labels: {app: old}}}}"),
			of("apps/v1 StatefulSet shop/web", "", "spec: {replicas: 0, template: {metadata: {labels: {app: web}}}}")),
		want: `
Service shop/first Cascading
Service shop/hash Unused
Service shop/other Unused
Service shop/web-1 Cascading
Deployment shop/old Idle
StatefulSet shop/web Idle`,
	},
	"Services that something names": {
		cluster: cluster(of("v1 Service shop/hook", "", "spec: {selector: {a: b}}"), of("v1 Service shop/route", "", "spec: {selector: {a: b}}"), of("v1 Service shop/ingress", "", "spec: {selector: {a: b}}"),
			of("networking.k8s.io/v1 Ingress shop/a", "", "spec: {defaultBackend: {service: {name: ingress}}}"),
			of("gateway.networking.k8s.io/v1 HTTPRoute team/a", "", "spec: {rules: [{backendRefs: [{name: route, namespace: shop}]}]}"),
			of("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration a", "", "webhooks: [{clientConfig: {service: {name: hook, namespace: shop}}}]")),
		want: "ValidatingWebhookConfiguration a Dangling",
	},
	"popeye#289: Services when EndpointSlices may not be read": {
		cluster: of("v1 Service shop/a", "", "spec: {selector: {a: b}}"), unread: []string{"EndpointSlice"}, want: "Service shop/a Unused unknown",
	},
	"Services when a kind of templates may not be read": {
		cluster: of("v1 Service shop/a", "", "spec: {selector: {a: b}}"), unread: []string{"DaemonSet"}, want: "Service shop/a Unused unknown",
	},
}
