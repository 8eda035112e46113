// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

var namedScenarios = map[string]scenario{
	"ConfigMaps: used, unused, and used by what is at zero": {
		cluster: cluster(
			of("v1 ConfigMap shop/used", ""), of("v1 ConfigMap shop/unused", ""), of("v1 ConfigMap shop/asleep", ""),
			of("v1 Pod shop/web", "", "spec: "+pod("used")),
			of("apps/v1 Deployment shop/night", "", "spec: {replicas: 0, template: {spec: "+pod("asleep")+"}}")),
		want: `
ConfigMap shop/asleep Cascading
ConfigMap shop/unused Unused
Deployment shop/night Idle`,
	},
	"kor#386, popeye#254, popeye#152: what may not be read makes unknown what it could name": {
		cluster: cluster(of("v1 ConfigMap shop/a", ""), of("v1 Secret shop/a", ""), of("scheduling.k8s.io/v1 PriorityClass a", ""), of("v1 ServiceAccount shop/a", ""),
			of("v1 PersistentVolumeClaim shop/a", ""), of("node.k8s.io/v1 RuntimeClass a", "")),
		unread: []string{"PodTemplate"},
		want: `
ConfigMap shop/a Unused unknown
PersistentVolumeClaim shop/a Unused unknown
Secret shop/a Unused unknown
ServiceAccount shop/a Unused unknown
RuntimeClass a Unused unknown
PriorityClass a Unused unknown`,
	},
	"a name in the data of a ConfigMap": {
		cluster: cluster(of("v1 Secret shop/login", ""), of("v1 Secret shop/logi", ""), of("v1 Secret team/login", ""), of("v1 PersistentVolumeClaim team/cache", ""),
			of("v1 ServiceAccount shop/robot", ""), of("v1 Pod shop/web", "", "spec: "+pod("runner")),
			of("v1 ConfigMap shop/runner", "", `data: {a: "secrets = ['login']\nrobot\nclaim: team/cache"}`)),
		want: `
PersistentVolumeClaim team/cache Unused weak
Secret shop/logi Unused
Secret shop/login Unused weak
Secret team/login Unused
ServiceAccount shop/robot Unused weak`,
	},
	"a ConfigMap whose name stands in the data of another": {
		cluster: cluster(of("v1 ConfigMap shop/custom-headers", ""), of("v1 ConfigMap shop/headers", ""), of("v1 ConfigMap shop/old-headers", "", "data: {a: old-headers}"), of("v1 Secret shop/old-headers", ""),
			of("v1 ConfigMap edge/headers", ""), of("v1 ConfigMap edge/other-headers", ""), of("v1 Pod shop/web", "", "spec: "+pod("settings")),
			of("v1 ConfigMap shop/settings", "", `data: {proxy-set-headers: "edge/headers", add: custom-headers, text: "the headers"}`)),
		want: `
ConfigMap edge/headers Unused weak
ConfigMap edge/other-headers Unused
ConfigMap shop/custom-headers Unused weak
ConfigMap shop/headers Unused
ConfigMap shop/old-headers Unused
Secret shop/old-headers Unused weak`,
	},
	"what a project that is in the cluster may read by its labels": {
		cluster: cluster(of("v1 ConfigMap shop/mounted", "labels: {controller.example.com/mount: 'true'}"), of("v1 Secret shop/login", "labels: {example.com/kind: login}"),
			of("v1 PersistentVolumeClaim shop/cache", "labels: {example.com/mount: 'true'}"), of("v1 ConfigMap shop/other", "labels: {example.org/mount: 'true', app: a}"), of("v1 ConfigMap shop/deployed", "labels: {argocd.argoproj.io/instance: shop}")),
		want: "ConfigMap shop/deployed Unused\nConfigMap shop/mounted Unused weak\nConfigMap shop/other Unused\nPersistentVolumeClaim shop/cache Unused weak\nSecret shop/login Unused weak",
	},
	"what a program manages, and what somebody deploys": {
		cluster: cluster(of("v1 Secret vault/key", "labels: {app.kubernetes.io/managed-by: vault-secrets-operator}"), of("v1 Secret shop/a", "labels: {app.kubernetes.io/managed-by: Kustomize}"), of("v1 Secret shop/b", "labels: {app.kubernetes.io/managed-by: terraform}"),
			of("v1 Secret mesh/token", "", "type: system.kuma.io/secret"), of("v1 Secret mesh/plain", "", "type: Opaque")),
		want: "Secret mesh/plain Unused\nSecret mesh/token Unused weak\nSecret shop/a Unused\nSecret shop/b Unused\nSecret vault/key Unused weak",
	},
	"names in the data of a ConfigMap that names another namespace": {
		cluster: cluster(of("v1 Secret jobs/cache-keys", ""), of("v1 Secret jobs/login", ""), of("v1 Secret team/cache-keys", ""), of("v1 ConfigMap jobs/cache-rules", ""),
			of("v1 Pod runner/a", "", "spec: "+pod("runner")), of("v1 ConfigMap runner/runner", "", `data: {a: "namespace = jobs\nsecrets = ['cache-keys', 'login']", b: cache-rules}`)),
		want: `
ConfigMap jobs/cache-rules Unused weak
Secret jobs/cache-keys Unused weak
Secret jobs/login Unused
Secret team/cache-keys Unused`,
	},
	"a label that a user chose for what a sidecar reads": {
		cluster: cluster(of("v1 ConfigMap shop/dashboards", "labels: {team_dashboards: '1'}"), of("v1 Secret shop/sources", "labels: {team_sources: x}"), of("v1 ConfigMap shop/other", "labels: {team: dashboards}"),
			of("apps/v1 Deployment monitoring/grafana", "", "spec: {replicas: 1, template: {spec: {containers: [{name: dashboards, env: [{name: LABEL, value: team_dashboards}, {name: FOLDER, value: /tmp/a}]}, "+
				"{name: other, env: [{name: LABEL, value: team}]}], initContainers: [{name: sources, env: [{name: FOLDER, value: /tmp/b}, {name: LABEL, value: team_sources}]}]}}}")),
		want: "ConfigMap shop/dashboards Unused weak\nConfigMap shop/other Unused\nSecret shop/sources Unused weak",
	},
	"what is made only to own other objects": {
		cluster: cluster(of("v1 ConfigMap shop/root", ""), of("v1 ConfigMap shop/controls", ""), of("v1 ConfigMap shop/other", ""), of("v1 ConfigMap team/root", ""), of(rbac+"ClusterRole everywhere", ""),
			of("apps/v1 Deployment shop/web", "ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: root, uid: u}, {apiVersion: "+rbac+"v1, kind: ClusterRole, name: everywhere, uid: w}]", "spec: {replicas: 1}"),
			of("apps/v1 Deployment shop/api", "ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: controls, uid: v, controller: true}]", "spec: {replicas: 1}"),
			of("apps/v1 Deployment shop/db", "ownerReferences: [{apiVersion: example.com/v1, kind: ConfigMap, name: other, uid: x}]", "spec: {replicas: 1}")),
		want: "ConfigMap shop/other Unused\nConfigMap team/root Unused",
	},
	"short names of classes in texts": {
		cluster: cluster(of("storage.k8s.io/v1 StorageClass gp2", ""), of("storage.k8s.io/v1 StorageClass gp3", ""), of("storage.k8s.io/v1 StorageClass ssd", ""), of("storage.k8s.io/v1 StorageClass efs", ""),
			of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1, template: {spec: {containers: [{name: a, args: [--storage-class=gp3]}]}}}"),
			of("v1 ConfigMap shop/runner", "", `data: {config: 'storage_class = "ssd"'}`), of("example.com/v1 Widget shop/a", "", "spec: {class: efs, config: gp, secret: db}"),
			of("v1 Secret shop/db", "")),
		want: `
ConfigMap shop/runner Unused
Secret shop/db Unused weak
StorageClass efs Unused weak
StorageClass gp2 Unused
StorageClass gp3 Unused weak
StorageClass ssd Unused weak`,
	},
	"names in the custom resources of a group that looks like one of Kubernetes": {
		cluster: cluster(of("v1 Secret storage/s3-login", ""), of("v1 Secret storage/s3-other", ""),
			of("objectstorage.k8s.io/v1alpha1 BucketClass fast", "", "parameters: {objectStorageSecretName: s3-login, objectStorageSecretNamespace: storage}")),
		want: "Secret storage/s3-login Unused weak\nSecret storage/s3-other Unused",
	},
	"names of Roles and accounts in the texts of workloads and Ingresses": {
		cluster: cluster(of(rbac+"Role shop/granted-later", ""), of(rbac+"Role shop/unused-role", ""), of("v1 ServiceAccount shop/proxy-user", ""),
			of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1, template: {spec: {containers: [{name: a, args: [--role=granted-later]}]}}}"),
			of("networking.k8s.io/v1 Ingress shop/web", "annotations: {example.com/account: proxy-user}", "spec: {defaultBackend: {service: {name: web}}}"),
			of("v1 Service shop/web", "", "spec: {type: ExternalName, externalName: example.com}")),
		want: `
ServiceAccount shop/proxy-user Unused weak
Role shop/granted-later Unused weak
Role shop/unused-role Unused`,
	},
	"texts that may not be read make a Role unknown": {
		cluster: cluster(of(rbac+"Role shop/a", ""), of("v1 ServiceAccount shop/robot", "")), unread: []string{"Ingress"},
		want: `
ServiceAccount shop/robot Unused unknown
Role shop/a Unused unknown`,
	},
	"the texts of volumes name no Role": {
		cluster: cluster(of(rbac+"Role shop/a", "")), unread: []string{"PersistentVolume", "StorageClass"}, want: "Role shop/a Unused",
	},
	"what is used at zero, when nobody knows whether something scales it up": {
		cluster: cluster(of("v1 ConfigMap shop/a", ""), of("apps/v1 Deployment shop/zero", "", "spec: {replicas: 0, template: {spec: "+pod("a")+"}}")),
		unread:  []string{"HorizontalPodAutoscaler"},
		want:    "ConfigMap shop/a Cascading unknown\nDeployment shop/zero Idle unknown",
	},
	"the data of ConfigMaps that may not be read": {
		cluster: cluster(of("v1 Secret shop/login", ""), of("v1 ConfigMap shop/a", "")), unread: []string{"ConfigMap"},
		want: "Secret shop/login Unused unknown",
	},
	"what cannot name a ConfigMap does not make it unknown": {
		cluster: of("v1 ConfigMap shop/a", ""), unread: []string{"VolumeAttachment", "Node", "EndpointSlice"},
		want: "ConfigMap shop/a Unused",
	},
	"what may name a ConfigMap in an annotation makes it unknown if it cannot be read": {
		cluster: of("v1 ConfigMap shop/a", ""), unread: []string{"HorizontalPodAutoscaler"}, want: "ConfigMap shop/a Unused unknown",
	},
	"kor#385, kor#63, popeye#365: init and ephemeral containers, and projected volumes": {
		cluster: cluster(of("v1 ConfigMap shop/init", ""), of("v1 ConfigMap shop/debug", ""), of("v1 ConfigMap shop/projected", ""),
			of("v1 Pod shop/web", "", `spec:
  initContainers: [{name: a, envFrom: [{configMapRef: {name: init}}]}]
  ephemeralContainers: [{name: a, env: [{name: A, valueFrom: {configMapKeyRef: {name: debug, key: a}}}]}]
  volumes: [{name: a, projected: {sources: [{configMap: {name: projected}}]}}]`)),
	},
	"kor#341, kor#467: what a retained ReplicaSet needs": {
		cluster: cluster(of("v1 ConfigMap shop/old", ""),
			of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1, template: {spec: {containers: []}}}"),
			of("apps/v1 ReplicaSet shop/web-1", "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: u, controller: true}]",
				"spec: {replicas: 0, template: {spec: "+pod("old")+"}}", "status: {replicas: 0}")),
	},
	"reap#123, reap#120, janitor#65: a CronJob between its runs": {
		cluster: cluster(of("v1 ConfigMap shop/nightly", ""),
			of("batch/v1 CronJob shop/nightly", "", "spec: {schedule: '0 0 * * *', jobTemplate: {spec: {template: {spec: "+pod("nightly")+"}}}}")),
	},
	"popeye#290: what workloads, builds and Routes of OpenShift use": {
		cluster: cluster(of("v1 ConfigMap shop/web", ""), of("v1 Secret shop/git", ""), of("v1 Secret shop/push", ""), of("v1 Secret shop/tls", ""), of("v1 Secret shop/other", ""), of("v1 Service shop/web", ""),
			of("apps.openshift.io/v1 DeploymentConfig shop/web", "", "spec: {replicas: 1, template: {spec: "+pod("web")+"}}"),
			of("build.openshift.io/v1 BuildConfig shop/web", "", "spec: {source: {sourceSecret: {name: git}}, output: {pushSecret: {name: push}}}"),
			of("route.openshift.io/v1 Route shop/web", "", "spec: {to: {kind: Service, name: web}, tls: {externalCertificate: {name: tls}}}")),
		want: "Secret shop/other Unused",
	},
	"one workload of an owner at zero does not make the owner idle": {
		cluster: cluster(of("v1 Secret shop/backup", ""), of("v1 ConfigMap shop/nightly", ""),
			of("example.com/v1 Widget shop/w", "", "spec: {secretName: backup}"),
			of("apps/v1 Deployment shop/console", "ownerReferences: [{apiVersion: example.com/v1, kind: Widget, name: w, uid: u, controller: true}]", zero),
			of("batch/v1 CronJob shop/w", "ownerReferences: [{apiVersion: example.com/v1, kind: Widget, name: w, uid: u, controller: true}]",
				"spec: {schedule: '0 0 * * *', jobTemplate: {spec: {template: {spec: "+pod("nightly")+"}}}}")),
	},
	"a suspended CronJob": {
		cluster: cluster(of("v1 ConfigMap shop/nightly", ""),
			of("batch/v1 CronJob shop/nightly", "", "spec: {suspend: true, jobTemplate: {spec: {template: {spec: "+pod("nightly")+"}}}}")),
		want: "ConfigMap shop/nightly Cascading\nCronJob shop/nightly Idle",
	},
	"a Pod that ended uses nothing, but what made it does": {
		cluster: cluster(of("v1 ConfigMap shop/bare", ""), of("v1 ConfigMap shop/job", ""),
			of("v1 Pod shop/bare", "", "spec: "+pod("bare"), "status: {phase: Succeeded}"),
			of("batch/v1 Job shop/j", "", "spec: {ttlSecondsAfterFinished: 9, template: {spec: "+pod("job")+"}}", "status: {conditions: [{type: Complete, status: 'True'}]}")),
		want: "ConfigMap shop/bare Unused\nPod shop/bare Finished",
	},
	"names are of one namespace": {
		cluster: cluster(of("v1 ConfigMap shop/a", ""), of("v1 Pod team/web", "", "spec: "+pod("a")), of("v1 ConfigMap team/a", "")),
		want:    "ConfigMap shop/a Unused",
	},
	"a name in the arguments of a Pod, and one that a role lets somebody read": {
		cluster: cluster(of("v1 ConfigMap shop/settings", ""), of("v1 ConfigMap shop/read", ""),
			of("v1 Pod shop/web", "", "spec: {containers: [{name: a, args: ['--config=settings']}]}"),
			of("rbac.authorization.k8s.io/v1 Role shop/reader", "", "rules: [{apiGroups: [''], resources: [configmaps], resourceNames: [read], verbs: [get]}]"),
			of("rbac.authorization.k8s.io/v1 RoleBinding shop/reader", "", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}", "subjects: [{kind: User, name: me}]")),
		want: "ConfigMap shop/read Unused unknown\nConfigMap shop/settings Unused weak",
	},
	"a role that nobody has yet, however the objects are ordered": {
		cluster: cluster(
			of("v1 ConfigMap shop/a", ""), of("v1 ConfigMap shop/b", ""), of("v1 ConfigMap shop/c", ""), of("v1 ConfigMap shop/d", ""), of("v1 ConfigMap shop/e", ""),
			of("rbac.authorization.k8s.io/v1 Role shop/reader", "", "rules: [{apiGroups: [''], resources: [configmaps], resourceNames: [a, b, c, d, e], verbs: [get]}]")),
		want: "ConfigMap shop/a Unused unknown\nConfigMap shop/b Unused unknown\nConfigMap shop/c Unused unknown\nConfigMap shop/d Unused unknown\n" +
			"ConfigMap shop/e Unused unknown\nRole shop/reader Unused",
	},
	"the parameters that an admission policy chooses by labels": {
		cluster: cluster(of("v1 ConfigMap shop/limits", "labels: {limits: ours}"), of("v1 ConfigMap shop/left", ""), of("v1 Secret shop/left", "labels: {limits: ours}"),
			of("v1 ConfigMap rules/any", ""),
			of("admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy p", "", "spec: {paramKind: {apiVersion: v1, kind: ConfigMap}}"),
			of("admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding a", "", "spec: {policyName: p, paramRef: {selector: {matchLabels: {limits: ours}}}}"),
			of("admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding b", "", "spec: {policyName: p, paramRef: {namespace: rules, selector: {}}}")),
		want: "ConfigMap rules/any Unused unknown\nConfigMap shop/left Unused\nSecret shop/left Unused",
	},
	"what only something uses that may be in use after all": {
		cluster: cluster(of("v1 PersistentVolumeClaim shop/data", "", "spec: {storageClassName: slow}"), of("storage.k8s.io/v1 StorageClass slow", ""),
			of("v1 ConfigMap ci/runner", "", "data: {config.toml: 'pvc = \"shop/data\"'}")),
		want: "ConfigMap ci/runner Unused\nPersistentVolumeClaim shop/data Unused weak\nStorageClass slow Cascading weak",
	},
	"kor#21, kor#427: a custom resource that names a Secret": {
		cluster: cluster(of("v1 Secret shop/named", ""), of("v1 Secret shop/learned", ""), of("v1 Secret shop/other", ""),
			of("example.com/v1 Widget shop/w", "", "spec: {secretName: named, learned: {secretName: learned}}")),
		want: "Secret shop/other Unused",
	},
	"a dangling custom resource that may not be read": {
		cluster: of("v1 Secret shop/a", ""), unread: []string{"Widget"}, want: "Secret shop/a Unused unknown",
	},
	"classes: named, unused, and the default ones": {
		cluster: cluster(
			of("storage.k8s.io/v1 StorageClass fast", ""), of("storage.k8s.io/v1 StorageClass slow", ""), of("storage.k8s.io/v1 StorageClass asleep", ""),
			of("storage.k8s.io/v1 StorageClass gp2", "annotations: {storageclass.kubernetes.io/is-default-class: 'true'}"),
			of("v1 PersistentVolumeClaim shop/data", "", "spec: {storageClassName: fast}"),
			of("v1 PersistentVolumeClaim shop/left", "", "spec: {storageClassName: asleep}"),
			of("v1 Pod shop/db", "", "spec: {priorityClassName: high, runtimeClassName: kata, volumes: [{name: a, persistentVolumeClaim: {claimName: data}}], containers: []}"),
			of("scheduling.k8s.io/v1 PriorityClass high", ""), of("scheduling.k8s.io/v1 PriorityClass low", ""),
			of("scheduling.k8s.io/v1 PriorityClass all", "", "globalDefault: true"), of("scheduling.k8s.io/v1 PriorityClass system-mine", ""),
			of("node.k8s.io/v1 RuntimeClass kata", ""), of("node.k8s.io/v1 RuntimeClass gvisor", ""),
			of("apps/v1 Deployment shop/zero", "", "spec: {replicas: 0, template: {spec: {priorityClassName: seldom, runtimeClassName: seldom, containers: []}}}"),
			of("scheduling.k8s.io/v1 PriorityClass seldom", ""), of("node.k8s.io/v1 RuntimeClass seldom", "")),
		want: `
PersistentVolumeClaim shop/left Unused
Deployment shop/zero Idle
RuntimeClass gvisor Unused
RuntimeClass seldom Cascading
PriorityClass low Unused
PriorityClass seldom Cascading
StorageClass asleep Cascading
StorageClass slow Unused`,
	},
	"classes of Ingresses and snapshots": {
		cluster: cluster(
			of("networking.k8s.io/v1 IngressClass nginx", ""), of("networking.k8s.io/v1 IngressClass old", ""), of("networking.k8s.io/v1 IngressClass left", ""),
			of("networking.k8s.io/v1 IngressClass main", "annotations: {ingressclass.kubernetes.io/is-default-class: 'true'}"),
			of("v1 Service shop/web", ""),
			of("networking.k8s.io/v1 Ingress shop/web", "", "spec: {ingressClassName: nginx, defaultBackend: {service: {name: web}}}"),
			of("networking.k8s.io/v1 Ingress shop/gone", "", "spec: {ingressClassName: left, defaultBackend: {service: {name: gone}}}"),
			of("snapshot.storage.k8s.io/v1 VolumeSnapshotClass csi", ""), of("snapshot.storage.k8s.io/v1 VolumeSnapshotClass old", ""),
			of("snapshot.storage.k8s.io/v1 VolumeSnapshotClass main", "annotations: {snapshot.storage.kubernetes.io/is-default-class: 'true'}"),
			of("snapshot.storage.k8s.io/v1 VolumeSnapshot shop/a", "", "spec: {volumeSnapshotClassName: csi}")),
		want: `
Ingress shop/gone Unused
IngressClass left Cascading
IngressClass old Unused
VolumeSnapshotClass old Unused`,
	},
	"the only class of snapshots of a driver": {
		cluster: cluster(of("snapshot.storage.k8s.io/v1 VolumeSnapshotClass only", "", "driver: one.example.com"),
			of("snapshot.storage.k8s.io/v1 VolumeSnapshotClass said", "labels: {kor/used: 'false'}", "driver: said.example.com"),
			of("snapshot.storage.k8s.io/v1 VolumeSnapshotClass main", "annotations: {snapshot.storage.kubernetes.io/is-default-class: 'true'}", "driver: two.example.com"),
			of("snapshot.storage.k8s.io/v1 VolumeSnapshotClass other", "", "driver: two.example.com")),
		want: "VolumeSnapshotClass only Unused weak\nVolumeSnapshotClass other Unused\nVolumeSnapshotClass said Unused",
	},
	"the snapshot class that a class of storage names for Kasten": {
		cluster: cluster(of("storage.k8s.io/v1 StorageClass old", "annotations: {k10.kasten.io/volume-snapshot-class: kasten}"), of("snapshot.storage.k8s.io/v1 VolumeSnapshotClass kasten", "")),
		want:    "VolumeSnapshotClass kasten Cascading\nStorageClass old Unused",
	},
	"classes when who names them may not be read": {
		cluster: cluster(of("storage.k8s.io/v1 StorageClass a", ""), of("networking.k8s.io/v1 IngressClass a", ""), of("snapshot.storage.k8s.io/v1 VolumeSnapshotClass a", "")),
		unread:  []string{"PersistentVolumeClaim", "Ingress", "VolumeSnapshot"},
		want: `
IngressClass a Unused unknown
VolumeSnapshotClass a Unused unknown
StorageClass a Unused unknown`,
	},
	"ServiceAccounts": {
		cluster: cluster(of("v1 ServiceAccount shop/default", ""), of("v1 ServiceAccount shop/web", ""), of("v1 ServiceAccount shop/bound", ""), of("v1 ServiceAccount shop/left", ""),
			of("v1 ServiceAccount shop/cloud", "annotations: {eks.amazonaws.com/role-arn: arn}"), of("v1 ServiceAccount shop/outside", ""),
			of("v1 ServiceAccount team/bound", ""), of("v1 ServiceAccount shop/asleep", ""),
			of("v1 Pod shop/web", "", "spec: {serviceAccountName: web, containers: []}"),
			of("apps/v1 Deployment shop/night", "", "spec: {replicas: 0, template: {spec: {serviceAccountName: asleep, containers: []}}}"),
			of("v1 Secret shop/token", "annotations: {kubernetes.io/service-account.name: outside}", "type: kubernetes.io/service-account-token"),
			of("rbac.authorization.k8s.io/v1 ClusterRole reader", ""),
			of("rbac.authorization.k8s.io/v1 RoleBinding team/other", "", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}", "subjects: [{kind: ServiceAccount, name: bound, namespace: shop}]")),
		want: `
ServiceAccount shop/asleep Cascading
ServiceAccount shop/left Unused
ServiceAccount team/bound Unused
Deployment shop/night Idle`,
	},
}
