// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import "time"

var readAll = of(rbac+"Role shop/reader", "", "rules: [{apiGroups: [''], resources: [configmaps], verbs: [get, list]}]")

var readerScenarios = map[string]scenario{
	"all accounts of another namespace may read all Secrets": {
		cluster: cluster(of("v1 Secret shop/login", ""), of("v1 Secret team/login", ""),
			of(rbac+"ClusterRole reads", "", "rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]"),
			of(rbac+"RoleBinding shop/reads", "", binds("ClusterRole", "reads", "{kind: Group, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccounts:ci'}")),
			of(rbac+"RoleBinding team/reads", "", binds("ClusterRole", "reads", "{kind: Group, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccounts:team'}"))),
		want: "Secret shop/login Unused weak\nSecret team/login Unused",
	},
	"names that software knows in one namespace only": {
		cluster: cluster(of("v1 Secret kube-system/aws-creds", ""), of("v1 Secret shop/aws-creds", "")),
		want:    "Secret kube-system/aws-creds Unused weak\nSecret shop/aws-creds Unused",
	},
	"the state of a running program, as Patroni keeps it": {
		cluster: cluster(of("v1 ConfigMap shop/pg-config", "annotations: {config: '{}', initialize: '1'}"), of("v1 ConfigMap shop/pg-leader", "annotations: {leader: pg-0}"),
			of("v1 ConfigMap shop/pg-failover", "labels: {cluster-name: pg}"), of("v1 ConfigMap shop/pg-sync", "labels: {cluster-name: pg}"), of("v1 ConfigMap shop/pg-other", "labels: {cluster-name: pg}"),
			of("v1 ConfigMap shop/my-failover", ""), of("v1 ConfigMap shop/main-ha-leader", "labels: {postgres-operator.crunchydata.com/patroni: main-ha}")),
		want: `
ConfigMap shop/main-ha-leader Unused weak
ConfigMap shop/my-failover Unused
ConfigMap shop/pg-config Unused weak
ConfigMap shop/pg-failover Unused weak
ConfigMap shop/pg-leader Unused weak
ConfigMap shop/pg-other Unused
ConfigMap shop/pg-sync Unused weak`,
	},
	"names that well-known software reads": {
		cluster: cluster(of("v1 ConfigMap mesh/istio", "labels: {istio.io/rev: default}"), of("v1 ConfigMap mesh/istio-sidecar-injector-1-2", "labels: {istio.io/rev: 1-2}"), of("v1 ConfigMap mesh/mine", "labels: {istio.io/rev: default}"),
			of("v1 ConfigMap shop/istio", ""), of("v1 ConfigMap istio-system/istio", ""), of("v1 ConfigMap knative-serving/config-gc", ""), of("v1 ConfigMap knative-serving/gc", ""), of("v1 ConfigMap serving/config-gc", "labels: {app.kubernetes.io/name: knative-serving}"), of("v1 ConfigMap serving/gc", "labels: {app.kubernetes.io/name: knative-serving}"),
			of("v1 ConfigMap rook/rook-ceph-operator-config", ""), of("v1 ConfigMap kserve/inferenceservice-config", ""), of("v1 ConfigMap trivy/trivy-operator-policies-config", ""),
			of("v1 ConfigMap board/kubernetes-dashboard-settings", ""), of("v1 Secret board/kubernetes-dashboard-csrf", ""), of("v1 ConfigMap calico/kubernetes-services-endpoint", ""),
			of("v1 Secret trivy/trivy-operator", ""), of("v1 ConfigMap argo/artifact-repositories", ""), of("v1 ConfigMap argo/mine", "annotations: {workflows.argoproj.io/default-artifact-repository: s3}")),
		want: `
ConfigMap argo/artifact-repositories Unused weak
ConfigMap board/kubernetes-dashboard-settings Unused weak
ConfigMap calico/kubernetes-services-endpoint Unused weak
ConfigMap istio-system/istio Unused weak
ConfigMap knative-serving/config-gc Unused weak
ConfigMap knative-serving/gc Unused
ConfigMap kserve/inferenceservice-config Unused weak
ConfigMap mesh/istio Unused weak
ConfigMap mesh/istio-sidecar-injector-1-2 Unused weak
ConfigMap mesh/mine Unused weak
ConfigMap rook/rook-ceph-operator-config Unused weak
ConfigMap serving/config-gc Unused weak
ConfigMap serving/gc Unused
ConfigMap shop/istio Unused
ConfigMap trivy/trivy-operator-policies-config Unused weak
Secret board/kubernetes-dashboard-csrf Unused weak
Secret trivy/trivy-operator Unused weak`,
	},
	"certificates and settings that well-known software reads by names of its own": {
		cluster: cluster(of("v1 Secret knative-serving/webhook-certs", ""), of("v1 Secret knative-serving/serving-certs-ctrl-ca", ""), of("v1 Secret knative-eventing/eventing-webhook-certs", ""),
			of("v1 Secret knative-eventing/inmemorychannel-webhook-certs", ""), of("v1 Secret shop/webhook-certs", ""), of("v1 Secret longhorn-system/longhorn-webhook-ca", ""),
			of("v1 ConfigMap longhorn-system/longhorn-default-resource", ""), of("v1 ConfigMap kube-system/kubevip", ""), of("v1 Secret kube-system/cilium-ca", "")),
		want: `
ConfigMap kube-system/kubevip Unused weak
ConfigMap longhorn-system/longhorn-default-resource Unused weak
Secret knative-eventing/eventing-webhook-certs Unused weak
Secret knative-eventing/inmemorychannel-webhook-certs Unused weak
Secret knative-serving/serving-certs-ctrl-ca Unused weak
Secret knative-serving/webhook-certs Unused weak
Secret kube-system/cilium-ca Unused weak
Secret longhorn-system/longhorn-webhook-ca Unused weak
Secret shop/webhook-certs Unused`,
	},
	"RoleBindings that may not be read may let somebody make Pods": {
		cluster: cluster(of("v1 Secret shop/login", ""), of("v1 PersistentVolumeClaim shop/cache", ""),
			of("policy/v1 PodDisruptionBudget shop/agents", "", "spec: {selector: {matchLabels: {app: agents}}}")), unread: []string{"RoleBinding"},
		want: "PersistentVolumeClaim shop/cache Unused weak\nSecret shop/login Unused weak\nPodDisruptionBudget shop/agents Unused weak",
	},
	"Secrets that are found by their labels": {
		cluster: cluster(of("v1 Secret linkerd-multicluster/cluster-credentials-west", "labels: {multicluster.linkerd.io/cluster-name: west}"),
			of("v1 Secret shop/git", "labels: {kargo.akuity.io/cred-type: git}"), of("v1 Secret istio-system/west", "labels: {kiali.io/multiCluster: 'true'}"), of("v1 Secret shop/other", "")),
		want: "Secret shop/other Unused",
	},
	"what well-known software reads by a label, or in its namespace": {
		cluster: cluster(of("v1 Secret shop/ca", "labels: {konghq.com/ca-cert: 'true'}"), of("v1 Secret shop/key", "labels: {konghq.com/credential: key-auth}"), of("v1 Secret shop/other", "labels: {konghq.com/other: a}"),
			of("v1 ConfigMap shop/policy", "labels: {openpolicyagent.org/policy: rego}"), of("v1 ConfigMap shop/rego", "labels: {openpolicyagent.org/data: opa}"),
			of("v1 ConfigMap shop/class", "labels: {gateway.istio.io/defaults-for-class: istio}"), of("v1 Secret cilium-secrets/shop-tls", "")),
		want: `
ConfigMap shop/class Unused weak
ConfigMap shop/policy Unused weak
ConfigMap shop/rego Unused weak
Secret cilium-secrets/shop-tls Unused weak
Secret shop/ca Unused weak
Secret shop/key Unused weak
Secret shop/other Unused`,
	},
	"what a Pod of a StatefulSet keeps under its own name": {
		cluster: cluster(of("v1 Secret shop/agent-0-state", ""), of("v1 Secret shop/agent-12", ""), of("v1 ConfigMap shop/agent-1.lock", ""), of("v1 Secret shop/agent-state", ""),
			of("v1 Secret shop/agent-0a", ""), of("v1 Secret shop/agent--state", ""), of("v1 Secret team/agent-0-state", ""), of("v1 Secret shop/other-0-state", ""),
			of("apps/v1 StatefulSet shop/agent", "", "spec: {replicas: 1, template: {spec: {containers: []}}}")),
		want: `
ConfigMap shop/agent-1.lock Unused weak
Secret shop/agent--state Unused
Secret shop/agent-0-state Unused weak
Secret shop/agent-0a Unused
Secret shop/agent-12 Unused weak
Secret shop/agent-state Unused
Secret shop/other-0-state Unused
Secret team/agent-0-state Unused`,
	},
	"what has the name of an application, where a role lets somebody read all ConfigMaps": {
		cluster: cluster(readAll, of(rbac+"RoleBinding shop/reader", "", binds("Role", "reader", "{kind: ServiceAccount, name: robot}")), of(rbac+"Role team/reader", "",
			"rules: [{apiGroups: [''], resources: [configmaps], resourceNames: [a], verbs: [get]}, {apiGroups: [''], resources: [configmaps], verbs: [create]}, {apiGroups: [apps], resources: ['*'], verbs: ['*']}]"),
			of(rbac+"RoleBinding team/reader", "", binds("Role", "reader", "{kind: User, name: me}")),
			of("v1 ConfigMap shop/orders", ""), of("v1 ConfigMap shop/robot", ""), of("v1 ConfigMap shop/orders-old", ""), of("v1 Secret shop/orders", ""), of("v1 ConfigMap team/orders", ""),
			of("apps/v1 Deployment shop/orders", "", "spec: {replicas: 1, template: {spec: {serviceAccountName: robot, containers: []}}}"), of("v1 ServiceAccount shop/robot", ""),
			of("apps/v1 Deployment team/orders", "", "spec: {replicas: 1, template: {spec: {containers: []}}}")),
		want: `
ConfigMap shop/orders Unused weak
ConfigMap shop/orders-old Unused weak
ConfigMap shop/robot Unused weak
ConfigMap team/orders Unused
Secret shop/orders Unused`,
	},
	"what begins with the name of an application, where a role lets somebody read all ConfigMaps": {
		cluster: cluster(readAll, of(rbac+"RoleBinding shop/reader", "", binds("Role", "reader", "{kind: User, name: me}")),
			of("v1 ConfigMap shop/application", ""), of("v1 ConfigMap shop/application-prod", ""), of("v1 ConfigMap shop/applications", ""), of("v1 ConfigMap team/application", ""),
			of("v1 ConfigMap shop/night-kubernetes", ""), of("v1 ConfigMap shop/bare-prod", ""), of("v1 ConfigMap shop/roll-prod", ""), of("v1 ConfigMap shop/by-app", ""), of("v1 ConfigMap shop/by-name-prod", ""),
			of("v1 ConfigMap shop/by-container-prod", ""), of("v1 ConfigMap shop/spring-name-prod", ""), of("v1 ConfigMap shop/orders-1-prod", ""), of("v1 ConfigMap shop/other", ""),
			of("batch/v1 CronJob shop/night", "", "spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: by-container, env: [{name: SPRING_APPLICATION_NAME, value: spring-name}]}]}}}}}"),
			of("v1 Pod shop/bare", "labels: {app: by-app, app.kubernetes.io/name: by-name}", "spec: {containers: []}"),
			of("v1 Pod shop/orders-1", "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: orders, uid: u, controller: true}]", "spec: {containers: []}"),
			of("argoproj.io/v1alpha1 Rollout shop/roll", "", "spec: {replicas: 1, template: {spec: {containers: []}}}")),
		want: `
ConfigMap shop/application Unused weak
ConfigMap shop/application-prod Unused weak
ConfigMap shop/applications Unused
ConfigMap shop/bare-prod Unused weak
ConfigMap shop/by-app Unused weak
ConfigMap shop/by-container-prod Unused weak
ConfigMap shop/by-name-prod Unused weak
ConfigMap shop/night-kubernetes Unused weak
ConfigMap shop/orders-1-prod Unused
ConfigMap shop/other Unused
ConfigMap shop/roll-prod Unused weak
ConfigMap shop/spring-name-prod Unused weak
ConfigMap team/application Unused`,
	},
	"what ended within the last hour": {
		cluster: cluster(of("v1 Pod shop/done", "", "status: {phase: Succeeded, containerStatuses: [{name: a, state: {terminated: {finishedAt: "+ago(time.Minute)+"}}}]}"),
			of("v1 Pod shop/failed", "", "status: {phase: Failed, containerStatuses: [{name: a, state: {terminated: {finishedAt: "+ago(time.Minute)+"}}}]}"),
			of("v1 Pod shop/old", "", "status: {phase: Failed, containerStatuses: [{name: a, state: {terminated: {finishedAt: "+ago(2*time.Hour)+"}}}]}"),
			of("batch/v1 Job shop/failed", "", "status: {conditions: [{type: Failed, status: 'True', lastTransitionTime: "+ago(time.Minute)+"}]}")),
		want: "Pod shop/done Finished weak\nPod shop/failed Failed weak\nPod shop/old Failed\nJob shop/failed Failed weak",
	},
	"what Pods use that somebody may make": {
		cluster: cluster(of(rbac+"Role shop/maker", "", "rules: [{apiGroups: [''], resources: [pods], verbs: [create]}]"), of(rbac+"RoleBinding shop/maker", "", binds("Role", "maker", "{kind: User, name: me}")),
			of(rbac+"Role team/reader", "", "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}, {apiGroups: [batch], resources: [cronjobs], verbs: [create]}]"),
			of(rbac+"RoleBinding team/reader", "", binds("Role", "reader", "{kind: User, name: me}")),
			of("v1 ConfigMap shop/a", ""), of("v1 Secret shop/a", ""), of("v1 PersistentVolumeClaim shop/a", ""), of("v1 ServiceAccount shop/a", ""),
			of("v1 ConfigMap team/a", ""), of("v1 Secret team/a", ""), of("v1 PersistentVolumeClaim team/a", ""), of("v1 ServiceAccount team/a", "")),
		want: `
ConfigMap shop/a Unused weak
ConfigMap team/a Unused
PersistentVolumeClaim shop/a Unused weak
PersistentVolumeClaim team/a Unused
Secret shop/a Unused weak
Secret team/a Unused
ServiceAccount shop/a Unused weak
ServiceAccount team/a Unused`,
	},
	"what Pods use that somebody may make, when roles may not be read": {
		cluster: cluster(of("v1 PersistentVolumeClaim shop/a", ""), of("v1 ServiceAccount shop/a", "")), unread: []string{"Role"}, want: "PersistentVolumeClaim shop/a Unused unknown\nServiceAccount shop/a Unused unknown",
	},
	"labels of the Pods of Jobs, between two runs": {
		cluster: cluster(of("policy/v1 PodDisruptionBudget shop/jobs", "", "spec: {selector: {matchExpressions: [{key: batch.kubernetes.io/job-name, operator: Exists}]}}"),
			of("policy/v1 PodDisruptionBudget team/jobs", "", "spec: {selector: {matchExpressions: [{key: job-name, operator: Exists}]}}"),
			of("batch/v1 CronJob shop/night", "", "spec: {jobTemplate: {spec: {template: {spec: {containers: []}}}}}")),
		want: "PodDisruptionBudget shop/jobs Unused weak\nPodDisruptionBudget team/jobs Unused",
	},
	"Services that other clusters serve": {
		cluster: cluster(of("v1 Service shop/global", "annotations: {service.cilium.io/global: 'true'}", "spec: {selector: {a: b}}"), of("v1 Service shop/off", "annotations: {service.cilium.io/global: 'false'}", "spec: {selector: {a: b}}"),
			of("v1 Service shop/exported", "labels: {mirror.linkerd.io/exported: 'true'}", "spec: {selector: {a: b}}"), of("v1 Service shop/linked", "annotations: {multicluster.linkerd.io/export: 'true'}", "spec: {selector: {a: b}}"),
			of("v1 Service shop/shared", "annotations: {service.cilium.io/shared: 'true'}", "spec: {selector: {a: b}}"), of("v1 Service shop/plain", "", "spec: {selector: {a: b}}"),
			of("v1 Service shop/istio", "labels: {istio.io/global: 'true'}", "spec: {selector: {a: b}}")),
		want: `
Service shop/exported Unused weak
Service shop/global Unused weak
Service shop/istio Unused weak
Service shop/linked Unused weak
Service shop/off Unused
Service shop/plain Unused
Service shop/shared Unused weak`,
	},
	"Services of a mesh, which other clusters may serve": {
		cluster: cluster(of("v1 Namespace injected", "labels: {istio-injection: enabled}"), of("v1 Namespace revised", "labels: {istio.io/rev: stable}"), of("v1 Namespace ambient", "labels: {istio.io/dataplane-mode: ambient}"),
			of("v1 Namespace outside", "labels: {istio-injection: disabled}"), of("v1 Service injected/web", "", "spec: {selector: {a: b}}"), of("v1 Service revised/web", "", "spec: {selector: {a: b}}"),
			of("v1 Service ambient/web", "", "spec: {selector: {a: b}}"), of("v1 Service outside/web", "", "spec: {selector: {a: b}}"), of("v1 Service shop/web", "", "spec: {selector: {a: b}}"),
			of("policy/v1 PodDisruptionBudget injected/web", "", "spec: {selector: {matchLabels: {a: b}}}")),
		want: `
Service ambient/web Unused weak
Service injected/web Unused weak
Service outside/web Unused
Service revised/web Unused weak
Service shop/web Unused
PodDisruptionBudget injected/web Unused`,
	},
	"Services, when namespaces may not be read and there is a mesh": {
		cluster: of("v1 Service shop/web", "", "spec: {selector: {a: b}}"), unread: []string{"Namespace"}, want: "Service shop/web Unused weak",
	},
	"a Service that is exported to other clusters": {
		cluster: cluster(of("v1 Service shop/exported", "", "spec: {selector: {a: b}}"), of("v1 Service shop/plain", "", "spec: {selector: {a: b}}"), of("multicluster.x-k8s.io/v1alpha1 ServiceExport shop/exported", "")),
		want:    "Service shop/plain Unused",
	},
	"labels that no template has, and that software sets when it runs": {
		cluster: cluster(of("v1 Service shop/active", "", "spec: {selector: {app: vault, vault-active: 'true'}}"), of("v1 Service shop/other", "", "spec: {selector: {app: other, vault-active: 'true'}}"),
			of("v1 Service shop/alone", "", "spec: {selector: {vault-active: 'true'}}"), of("v1 Service shop/set", "", "spec: {selector: {app: vault, component: client}}"),
			of("policy/v1 PodDisruptionBudget shop/leader", "", "spec: {selector: {matchLabels: {app: vault}, matchExpressions: [{key: role, operator: In, values: [leader]}]}}"),
			of("policy/v1 PodDisruptionBudget shop/gone", "", "spec: {selector: {matchLabels: {app: gone}, matchExpressions: [{key: role, operator: Exists}, {key: x, operator: DoesNotExist}]}}"),
			of("apps/v1 StatefulSet shop/vault", "", "spec: {replicas: 1, template: {metadata: {labels: {app: vault, component: server}}, spec: {containers: []}}}")),
		want: `
Service shop/active Unused weak
Service shop/alone Unused weak
Service shop/other Unused
Service shop/set Unused
PodDisruptionBudget shop/gone Unused
PodDisruptionBudget shop/leader Unused weak`,
	},
	"roles that software changes when it runs": {
		cluster: cluster(of("v1 Service shop/replica", "", "spec: {selector: {app: db, role: replica}}"), of("v1 Service shop/master", "", "spec: {selector: {app: cache, role: master}}"),
			of("v1 Service shop/alone", "", "spec: {selector: {redis-role: master}}"), of("v1 Service shop/other", "", "spec: {selector: {app: other, role: replica}}"),
			of("policy/v1 PodDisruptionBudget shop/replica", "", "spec: {selector: {matchLabels: {app: db, role: replica}}}"),
			of("v1 Service team/alone", "", "spec: {selector: {redis-role: master}}"),
			of("v1 Pod shop/db", "labels: {app: db, role: primary}"),
			of("apps/v1 StatefulSet shop/cache", "", "spec: {replicas: 1, template: {metadata: {labels: {app: cache, role: replica}}, spec: {containers: []}}}")),
		want: `
Service shop/alone Unused weak
Service shop/master Unused weak
Service shop/other Unused
Service shop/replica Unused weak
Service team/alone Unused
PodDisruptionBudget shop/replica Unused weak`,
	},
	"what selects by the name of a custom resource that makes no Pods now": {
		cluster: cluster(of("v1 Service shop/main-pooler", "", "spec: {selector: {cnpg.io/cluster: main, role: primary}}"), of("v1 Service shop/old-rw", "", "spec: {selector: {cnpg.io/cluster: old, role: primary}}"),
			of("policy/v1 PodDisruptionBudget shop/main", "", "spec: {selector: {matchExpressions: [{key: cnpg.io/cluster, operator: In, values: [other, main]}]}}"),
			of("policy/v1 PodDisruptionBudget team/main", "", "spec: {selector: {matchLabels: {cnpg.io/cluster: main}}}"),
			of("policy/v1 PodDisruptionBudget shop/not", "", "spec: {selector: {matchExpressions: [{key: cnpg.io/cluster, operator: NotIn, values: [main]}, {key: a, operator: Exists}]}}"),
			of("postgresql.cnpg.io/v1 Cluster shop/main", "annotations: {cnpg.io/hibernation: 'on'}")),
		want: `
Service shop/main-pooler Unused weak
Service shop/old-rw Unused
PodDisruptionBudget shop/main Unused weak
PodDisruptionBudget shop/not Unused
PodDisruptionBudget team/main Unused`,
	},
	"what selects by a name when custom resources may not be read": {
		cluster: of("policy/v1 PodDisruptionBudget shop/main", "", "spec: {selector: {matchLabels: {cnpg.io/cluster: main}}}"),
		unread:  []string{"ScaledObject"}, want: "PodDisruptionBudget shop/main Unused weak",
	},
	"the Service of a virtual machine, by its name": {
		cluster: cluster(of("v1 Service shop/vm1", "", "spec: {selector: {vm.kubevirt.io/name: vm1}}"), of("v1 Service shop/vm2", "", "spec: {selector: {vm.kubevirt.io/name: vm2}}"),
			of("kubevirt.io/v1 VirtualMachine shop/vm1", "", "spec: {template: {spec: {}}}")),
		want: "Service shop/vm2 Unused",
	},
}
