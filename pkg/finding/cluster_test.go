// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"time"
)

const missing = "{containers: [{name: a, envFrom: [{configMapRef: {name: gone}}]}]}"

var danglingScenarios = map[string]scenario{
	"workloads that name what does not exist": {
		cluster: cluster(of("v1 Pod shop/a", "", "spec: "+missing), of("apps/v1 Deployment shop/a", "", "spec: {replicas: 1, template: {spec: "+missing+"}}"),
			of("apps/v1 StatefulSet shop/a", "", "spec: {template: {spec: "+missing+"}}"), of("apps/v1 DaemonSet shop/a", "", "spec: {template: {spec: "+missing+"}}"),
			of("apps/v1 ReplicaSet shop/a", "", "spec: {template: {spec: "+missing+"}}"), of("v1 ReplicationController shop/a", "", "spec: {template: {spec: "+missing+"}}"),
			of("batch/v1 Job shop/a", "", "spec: {template: {spec: "+missing+"}}"), of("batch/v1 CronJob shop/a", "", "spec: {jobTemplate: {spec: {template: {spec: "+missing+"}}}}")),
		want: `
Pod shop/a Dangling
ReplicationController shop/a Dangling
DaemonSet shop/a Dangling
Deployment shop/a Dangling
ReplicaSet shop/a Dangling
StatefulSet shop/a Dangling
CronJob shop/a Dangling
Job shop/a Dangling`,
	},
	"workloads that name what need not exist, or does": {
		cluster: cluster(of("v1 ConfigMap shop/settings", ""), of("v1 ConfigMap team/gone", ""),
			of("v1 Pod shop/optional", "", "spec: {imagePullSecrets: [{name: gone}], containers: [{name: a, envFrom: [{configMapRef: {name: gone, optional: true}}]}]}"),
			of("v1 Pod shop/fine", "", "spec: "+pod("settings")), of("v1 Pod shop/ended", "", "spec: "+missing, "status: {phase: Failed}"),
			of("v1 Pod shop/owned", "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}]", "spec: "+missing),
			of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1, template: {spec: "+pod("settings")+"}}"), of("apps/v1 StatefulSet shop/web", "", "spec: {template: {spec: "+pod("settings")+"}}"),
			of("apps/v1 DaemonSet shop/web", "", "spec: {template: {spec: "+pod("settings")+"}}"), of("v1 ReplicationController shop/web", "", "spec: {template: {spec: "+pod("settings")+"}}"),
			of("batch/v1 CronJob shop/web", "", "spec: {jobTemplate: {spec: {template: {spec: "+pod("settings")+"}}}}"),
			of("apps/v1 ReplicaSet shop/old", "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: u, controller: true}]", "spec: {replicas: 0, template: {spec: "+missing+"}}"),
			of("batch/v1 Job shop/done", "", "spec: {ttlSecondsAfterFinished: 9, template: {spec: "+missing+"}}", "status: {conditions: [{type: Complete, status: 'True'}]}"),
			of("example.com/v1 Widget shop/w", "", "spec: {learned: {secretName: gone}}")),
		want: "ConfigMap team/gone Unused\nPod shop/ended Failed",
	},
	"what may not be read is not missing": {
		cluster: cluster(of("v1 Pod shop/a", "", "spec: "+missing), of("gateway.networking.k8s.io/v1 Gateway shop/a", "", "spec: {gatewayClassName: gone}"),
			of("apiregistration.k8s.io/v1 APIService v1.a.b", "", "spec: {service: {name: gone, namespace: shop}}")),
		unread: []string{"ConfigMap", "GatewayClass", "Service"},
	},
	"Gateways and routes": {
		cluster: cluster(of("gateway.networking.k8s.io/v1 GatewayClass c", ""), of("v1 Secret infra/tls", "", "type: kubernetes.io/tls"), of("v1 Service shop/web", ""),
			of("gateway.networking.k8s.io/v1 Gateway shop/good", "", "spec: {gatewayClassName: c, listeners: [{tls: {certificateRefs: [{name: tls, namespace: infra}]}}]}"),
			of("gateway.networking.k8s.io/v1 Gateway shop/classless", "", "spec: {gatewayClassName: gone}"),
			of("gateway.networking.k8s.io/v1 HTTPRoute shop/good", "", "spec: {parentRefs: [{name: good}], rules: [{backendRefs: [{name: web}]}]}"),
			of("gateway.networking.k8s.io/v1 HTTPRoute team/bad", "", "spec: {parentRefs: [{name: gone, namespace: shop}], rules: [{backendRefs: [{name: web, namespace: shop}]}]}"),
			of("gateway.networking.k8s.io/v1 GRPCRoute shop/bad", "", "spec: {rules: [{backendRefs: [{name: gone}]}]}"), of("gateway.networking.k8s.io/v1 GRPCRoute shop/good", "", "spec: {rules: [{backendRefs: [{name: web}]}]}"),
			of("gateway.networking.k8s.io/v1 TLSRoute shop/bad", "", "spec: {rules: [{backendRefs: [{name: gone}]}]}"), of("gateway.networking.k8s.io/v1 TLSRoute shop/good", "", "spec: {}"),
			of("gateway.networking.k8s.io/v1 TCPRoute shop/bad", "", "spec: {rules: [{backendRefs: [{name: gone}]}]}"), of("gateway.networking.k8s.io/v1 TCPRoute shop/good", "", "spec: {}"),
			of("gateway.networking.k8s.io/v1 UDPRoute shop/bad", "", "spec: {rules: [{backendRefs: [{name: gone}]}]}"), of("gateway.networking.k8s.io/v1 UDPRoute shop/good", "", "spec: {}")),
		want: `
GRPCRoute shop/bad Dangling
Gateway shop/classless Dangling
HTTPRoute team/bad Dangling
TCPRoute shop/bad Dangling
TLSRoute shop/bad Dangling
UDPRoute shop/bad Dangling`,
	},
	"another route": {cluster: cluster(of("gateway.networking.k8s.io/v1 TLSRoute shop/good", ""), of("gateway.networking.k8s.io/v1 TCPRoute shop/good", ""),
		of("gateway.networking.k8s.io/v1 UDPRoute shop/good", ""), of("gateway.networking.k8s.io/v1 GRPCRoute shop/good", ""), of("gateway.networking.k8s.io/v1 HTTPRoute shop/good", ""),
		of("gateway.networking.k8s.io/v1 Gateway shop/good", ""))},
	"webhooks and APIServices": {
		cluster: cluster(of("v1 Service shop/good", ""), of("v1 Service shop/silent", ""), of("v1 Service shop/outside", "", "spec: {type: ExternalName, externalName: hooks.example.com}"),
			of("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration outside", "", "webhooks: [{clientConfig: {service: {name: outside, namespace: shop}}}]"),
			of("discovery.k8s.io/v1 EndpointSlice shop/g", "labels: {kubernetes.io/service-name: good}", "endpoints: [{addresses: [1.1.1.1]}]"),
			of("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration good", "", "webhooks: [{clientConfig: {service: {name: good, namespace: shop}}}, {clientConfig: {url: a}}]"),
			of("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration silent", "", "webhooks: [{clientConfig: {service: {name: silent, namespace: shop}}}]"),
			of("admissionregistration.k8s.io/v1 MutatingWebhookConfiguration gone", "", "webhooks: [{clientConfig: {service: {name: gone, namespace: shop}}}]"),
			of("apiregistration.k8s.io/v1 APIService v1.a.b", "", "spec: {service: {name: gone, namespace: shop}}"),
			of("apiregistration.k8s.io/v1 APIService v1.", "", "spec: {}")),
		want: `
MutatingWebhookConfiguration gone Dangling
ValidatingWebhookConfiguration silent Dangling
APIService v1.a.b Dangling`,
	},
	"webhooks that answer": {
		cluster: cluster(of("v1 Service shop/good", ""), of("discovery.k8s.io/v1 EndpointSlice shop/g", "labels: {kubernetes.io/service-name: good}", "endpoints: [{addresses: [1.1.1.1]}]"),
			of("admissionregistration.k8s.io/v1 MutatingWebhookConfiguration good", "", "webhooks: [{clientConfig: {service: {name: good, namespace: shop}}}]"),
			of("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration good", "", "webhooks: [{clientConfig: {service: {name: good, namespace: shop}}}]"),
			of("apiregistration.k8s.io/v1 APIService v1.a.b", "", "spec: {service: {name: good, namespace: shop}}")),
	},
}

var namespaceScenarios = map[string]scenario{
	"namespaces": {
		cluster: cluster(of("v1 Namespace shop", ""), of("v1 Namespace empty", ""), of("v1 Namespace custom", ""), of("v1 Namespace default", ""), of("v1 Namespace kube-system", ""), of("v1 Namespace openshift-x", ""),
			of("v1 ConfigMap empty/kube-root-ca.crt", ""), of("v1 ServiceAccount empty/default", ""), of("v1 Event empty/a", ""), of("v1 ConfigMap empty/openshift-service-ca.crt", ""),
			of("discovery.k8s.io/v1 EndpointSlice empty/left", ""),
			of("v1 Pod shop/a", ""), of("example.com/v1 Widget custom/a", "")),
		want: "Namespace empty Unused",
	},
	"namespaces that hold what would be stock elsewhere": {
		cluster: cluster(of("v1 Namespace addons", ""), of("v1 Namespace ci", ""), of("v1 Namespace team", ""), of("v1 Namespace events", ""), of("v1 Namespace managed", ""),
			of("v1 PersistentVolumeClaim addons/data", "labels: {kubernetes.io/cluster-service: 'true'}"), of("v1 ConfigMap managed/a", "labels: {addonmanager.kubernetes.io/mode: Reconcile}"),
			of("v1 ServiceAccount ci/deployer", ""), of(rbac+"RoleBinding team/admin", "", binds("ClusterRole", "admin", user)), of(rbac+"ClusterRole admin", ""),
			of("example.com/v1 Event events/a", "")),
	},
	"namespaces when a kind may not be read":                        {cluster: of("v1 Namespace a", ""), unread: []string{"Lease"}, want: "Namespace a Unused unknown"},
	"namespaces when a cluster-scoped custom resource may name one": {cluster: of("v1 Namespace a", ""), unread: []string{"BucketClass"}, want: "Namespace a Unused unknown"},
	"namespaces that all accounts of a binding, or a policy, are of": {
		cluster: cluster(of("v1 Namespace builds", ""), of("v1 Namespace load-tests", ""), of("v1 Namespace left", ""), of("v1 Pod images/a", ""),
			of(rbac+"RoleBinding images/pullers", "", binds("ClusterRole", "puller", "{kind: Group, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccounts:builds'}")),
			of(rbac+"ClusterRole puller", ""),
			of("networking.k8s.io/v1 NetworkPolicy images/tests", "", "spec: {podSelector: {}, ingress: [{from: [{namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [load-tests, staging]}, "+
				"{key: kubernetes.io/metadata.name, operator: NotIn, values: [left]}]}}]}]}")),
		want: "Namespace builds Unused weak\nNamespace left Unused\nNamespace load-tests Unused weak",
	},
	"Nodes": {
		cluster: cluster(of("v1 Node busy", ""), of("v1 Node idle", ""), of("v1 Node master", "labels: {node-role.kubernetes.io/control-plane: ''}"), of("v1 Node cordoned", "", "spec: {unschedulable: true}"),
			of("v1 Pod shop/a", "", "spec: {nodeName: busy}", "status: {phase: Running}"),
			of("v1 Pod shop/done", "annotations: {helm.sh/hook: a}", "spec: {nodeName: idle}", "status: {phase: Succeeded}"),
			of("v1 Pod shop/d", "ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, controller: true}]", "spec: {nodeName: idle}", "status: {phase: Running}"),
			of("v1 Pod shop/static", "ownerReferences: [{apiVersion: v1, kind: Node, name: idle, uid: u, controller: true}]", "spec: {nodeName: idle}", "status: {phase: Running}")),
		want: "Node idle Idle",
	},
	"Nodes and Leases when Pods may not be read": {
		cluster: cluster(of("v1 Node a", ""), of("coordination.k8s.io/v1 Lease shop/a", "", "spec: {holderIdentity: a, renewTime: "+ago(48*time.Hour)+"}")), unread: []string{"Pod"},
		want: "Node a Idle unknown\nLease shop/a Unused unknown",
	},
	"Leases": {
		cluster: cluster(of("v1 Pod shop/here", ""), of("coordination.k8s.io/v1 Lease shop/left", "", "spec: {holderIdentity: gone_1, renewTime: "+ago(48*time.Hour)+"}"),
			of("coordination.k8s.io/v1 Lease shop/released", "", "spec: {holderIdentity: '', renewTime: "+ago(48*time.Hour)+"}"),
			of("coordination.k8s.io/v1 Lease shop/held", "", "spec: {holderIdentity: gone_1, renewTime: "+ago(time.Minute)+"}"),
			of("coordination.k8s.io/v1 Lease shop/waits", "", "spec: {holderIdentity: here_1, renewTime: "+ago(48*time.Hour)+"}"),
			of("coordination.k8s.io/v1 Lease shop/never", "", "spec: {}"),
			of("coordination.k8s.io/v1 Lease shop/long", "", "spec: {holderIdentity: gone_1, leaseDurationSeconds: 604800, renewTime: "+ago(48*time.Hour)+"}"),
			of("coordination.k8s.io/v1 Lease kube-system/cert-manager-controller", "", "spec: {holderIdentity: cert-manager-1_1, renewTime: "+ago(48*time.Hour)+"}"),
			of("coordination.k8s.io/v1 Lease kube-node-lease/n", "", "spec: {holderIdentity: n, renewTime: "+ago(48*time.Hour)+"}"),
			of("coordination.k8s.io/v1 Lease kube-system/apiserver-1", "labels: {apiserver.kubernetes.io/identity: kube-apiserver}", "spec: {holderIdentity: n, renewTime: "+ago(48*time.Hour)+"}")),
		want: "Lease kube-system/cert-manager-controller Unused weak\nLease shop/left Unused\nLease shop/released Unused",
	},
	"CustomResourceDefinitions": {
		cluster: cluster(of("apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com", "", "spec: {group: example.com, names: {kind: Widget}}"),
			of("apiextensions.k8s.io/v1 CustomResourceDefinition rollouts.argoproj.io", "", "spec: {group: argoproj.io, names: {kind: Rollout}}"),
			of("apiextensions.k8s.io/v1 CustomResourceDefinition sleepinfos.kube-green.com", "", "spec: {group: kube-green.com, names: {kind: SleepInfo}, conversion: {strategy: Webhook}}"),
			of("apiextensions.k8s.io/v1 CustomResourceDefinition things.example.com", "", "spec: {group: example.com, names: {kind: Thing}}"),
			of("example.com/v1 Widget shop/a", "")),
		want: "CustomResourceDefinition rollouts.argoproj.io Unused",
	},
	"kor#386: without rights no CustomResourceDefinition is unused": {
		cluster: of("apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com", "", "spec: {group: example.com, names: {kind: Widget}}"), unread: []string{"Widget"},
		want: "CustomResourceDefinition widgets.example.com Unused unknown",
	},
}

// certificate is one that was valid until a time, as a Secret has it.
func certificate(until time.Time) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) //nolint:forbidigo // a table of tests has nobody to tell it to
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-time.Hour), NotAfter: until}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err) //nolint:forbidigo // a table of tests has nobody to tell it to
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}))
}

const ingressOf = "spec: {defaultBackend: {service: {name: web}}, tls: [{secretName: expired}, {secretName: valid}, {secretName: broken}, {secretName: odd}]}"

var markedScenarios = map[string]scenario{
	"certificates": {
		cluster: cluster(of("v1 Service shop/web", ""), of("networking.k8s.io/v1 Ingress shop/a", "", ingressOf),
			of("v1 Secret shop/expired", "ownerReferences: [{apiVersion: cert-manager.io/v1, kind: Certificate, name: a, uid: u, controller: true}]", "type: kubernetes.io/tls", "data: {tls.crt: "+certificate(now.Add(-time.Second))+"}"),
			of("v1 Secret shop/valid", "", "type: kubernetes.io/tls", "data: {tls.crt: "+certificate(now.Add(time.Hour))+"}"),
			of("v1 Secret shop/broken", "", "type: kubernetes.io/tls", "data: {tls.crt: AAAA}"), of("v1 Secret shop/odd", "", "type: kubernetes.io/tls", "data: {tls.crt: 1x}")),
		want: "Secret shop/expired CertificateExpired",
	},
	"deletions that do not end": {
		cluster: cluster(of("v1 ConfigMap shop/stuck", "finalizers: [example.com/hold], deletionTimestamp: "+ago(time.Hour)),
			of("v1 ConfigMap shop/begins", "finalizers: [example.com/hold], deletionTimestamp: "+ago(time.Minute)),
			of("apps/v1 Deployment shop/collects", "finalizers: [foregroundDeletion], deletionTimestamp: "+ago(time.Hour), zero),
			of("apps/v1 Deployment shop/both", "finalizers: [orphan, gone.io/hold], deletionTimestamp: "+ago(time.Hour), zero),
			of("v1 Pod shop/pod", "deletionTimestamp: "+ago(time.Hour), "spec: {nodeName: n1}", "status: {phase: Running}"),
			of("v1 Node n1", "labels: {node-role.kubernetes.io/control-plane: ''}"),
			of("v1 Namespace ns", "deletionTimestamp: "+ago(time.Hour), "spec: {finalizers: [kubernetes]}"),
			of("v1 PersistentVolumeClaim shop/pvc", "labels: {kor/used: 'true'}, finalizers: [kubernetes.io/pvc-protection], deletionTimestamp: "+ago(time.Hour))),
		want: `
ConfigMap shop/stuck Stuck
Namespace ns Stuck
PersistentVolumeClaim shop/pvc Stuck
Pod shop/pod Stuck
Deployment shop/both Stuck`,
	},
	"time marks that are over": {
		cluster: cluster(marked("ttl", "annotations: {cleaner/ttl: 1h30m}", 2*time.Hour), marked("days", "annotations: {cleaner/ttl: 1d12h}", 37*time.Hour), marked("expires", "annotations: {cleaner/expires: 2026-03-01}", 0),
			marked("janitor", "annotations: {janitor/ttl: 1h}", 2*time.Hour), marked("janitor-expires", "annotations: {janitor/expires: '2026-03-01T11:59'}", 0),
			marked("twin", "annotations: {k8s-ttl-controller.twin.sh/ttl: 1w}", 8*24*time.Hour), marked("kyverno", "labels: {cleanup.kyverno.io/ttl: 10m}", time.Hour),
			marked("kyverno-at", "labels: {cleanup.kyverno.io/ttl: 2026-03-01T115959Z}", 0), marked("mayfly", "annotations: {mayfly.cloud.namecheap.com/expire: 1h}", 2*time.Hour),
			of("v1 Pod shop/reaped", "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}], annotations: {pod.kubernetes.io/lifetime: 1h}, creationTimestamp: "+ago(2*time.Hour), "spec: {containers: []}")),
		want: `
Pod shop/reaped Expired
ReplicationController shop/days Expired
ReplicationController shop/expires Expired
ReplicationController shop/janitor Expired
ReplicationController shop/janitor-expires Expired
ReplicationController shop/kyverno Expired
ReplicationController shop/kyverno-at Expired
ReplicationController shop/mayfly Expired
ReplicationController shop/ttl Expired
ReplicationController shop/twin Expired`,
	},
	"time marks that are not over, or that nobody can read": {
		cluster: cluster(marked("young", "annotations: {cleaner/ttl: 3h}", 2*time.Hour), marked("forever", "annotations: {cleaner/ttl: forever}", 2*time.Hour), marked("mayfly-forever", "annotations: {mayfly.cloud.namecheap.com/expire: forever}", 2*time.Hour),
			marked("odd", "annotations: {cleaner/ttl: 1x}", 2*time.Hour), marked("bare", "annotations: {cleaner/ttl: '90'}", 2*time.Hour), marked("negative", "annotations: {cleaner/ttl: -1h}", 2*time.Hour),
			marked("later", "annotations: {cleaner/expires: '2026-03-01T12:00:01Z'}", 0), marked("berlin", "annotations: {cleaner/expires: '2026-03-01T12:30:00-01:00'}", 0),
			marked("janitor", "annotations: {janitor/ttl: 1h30m}", 2*time.Hour), marked("refreshed", "annotations: {k8s-ttl-controller.twin.sh/ttl: 3h, k8s-ttl-controller.twin.sh/refreshed-at: '2026-03-01T10:00:00Z'}", 9*time.Hour),
			marked("misread", "annotations: {k8s-ttl-controller.twin.sh/ttl: 3h, k8s-ttl-controller.twin.sh/refreshed-at: yesterday}", 9*time.Hour),
			marked("two", "annotations: {janitor/ttl: 1h, cleaner/ttl: forever}", 2*time.Hour), marked("protected", "annotations: {janitor/ttl: 1h, cleaner/protect: 'true'}", 2*time.Hour),
			marked("huge", "annotations: {cleaner/ttl: 99999999999999999d}", 2*time.Hour), marked("wrong-key", "labels: {cleaner/ttl: 1h}", 2*time.Hour),
			marked("ageless", "annotations: {cleaner/ttl: 1h}", -1),
			marked("owned", "ownerReferences: [{apiVersion: a/v1, kind: A, name: a, uid: u, controller: true}], annotations: {cleaner/ttl: 1x}", 2*time.Hour)),
		want: `
ReplicationController shop/ageless Expired unknown
ReplicationController shop/bare Expired unknown
ReplicationController shop/huge Expired unknown
ReplicationController shop/janitor Expired unknown
ReplicationController shop/mayfly-forever Expired unknown
ReplicationController shop/misread Expired unknown
ReplicationController shop/negative Expired unknown
ReplicationController shop/odd Expired unknown`,
	},
}

// marked is an object that nothing else is found of, with its age. A negative one is not known.
func marked(name, meta string, age time.Duration) string {
	if age >= 0 {
		meta += ", creationTimestamp: " + ago(age)
	}
	return of("v1 ReplicationController shop/"+name, meta, "spec: {template: {spec: {containers: []}}}")
}

var exemptScenarios = map[string]scenario{
	"what is never unused": {
		cluster: cluster(of("v1 ConfigMap shop/kube-root-ca.crt", ""), of("v1 ConfigMap projectsveltos/kubecleaner-references", ""), of("v1 ConfigMap shop/openshift-service-ca.crt", ""), of("v1 ConfigMap kube-public/cluster-info", ""), of("v1 ConfigMap kube-system/coredns-custom", ""),
			of("v1 ConfigMap kube-system/mine", ""), of("v1 ConfigMap shop/coredns-custom", ""), of("v1 ConfigMap openshift-config/a", ""), of("v1 ConfigMap openshiftish/a", ""),
			of("v1 ConfigMap shop/dashboard", "labels: {grafana_dashboard: '1'}"), of("v1 ConfigMap shop/starboard-684", "annotations: {control-plane.alpha.kubernetes.io/leader: '{}'}"),
			of("v1 ConfigMap shop/protected", "annotations: {cleaner/protect: 'true'}"), of("v1 ConfigMap shop/kept", "labels: {kor/used: 'true'}"),
			of("v1 ConfigMap shop/owned", "ownerReferences: [{apiVersion: a/v1, kind: A, name: a, uid: u}]"), of("v1 ConfigMap shop/ours", "labels: {app.kubernetes.io/part-of: kubecleaner}"),
			of("v1 ConfigMap shop/addon", "labels: {addonmanager.kubernetes.io/mode: Reconcile}"), of("v1 ConfigMap shop/service", "labels: {kubernetes.io/cluster-service: 'true'}"),
			of("v1 ConfigMap shop/leaving", "deletionTimestamp: "+ago(time.Minute))),
		want: `
ConfigMap kube-system/mine Unused
ConfigMap openshiftish/a Unused
ConfigMap shop/coredns-custom Unused`,
	},
	"kor#236 to kor#240, kor#259: what EKS, GKE and AKS make": {
		cluster: cluster(of("v1 ConfigMap kube-system/aws-auth", ""), of("v1 ConfigMap kube-system/amazon-vpc-cni", ""), of("v1 ServiceAccount kube-system/aws-cloud-provider", ""),
			of("apps/v1 DaemonSet kube-system/aws-node", "", "status: {desiredNumberScheduled: 0}"), of(rbac+"ClusterRole eks:node-manager", ""), of("apiextensions.k8s.io/v1 CustomResourceDefinition eniconfigs.crd.k8s.amazonaws.com", "", "spec: {group: example.com, names: {kind: Widget}}"),
			of("v1 ConfigMap kube-system/ingress-uid", ""), of("v1 ServiceAccount kube-system/metadata-proxy", ""), of("v1 Namespace gmp-public", ""), of(rbac+"ClusterRole gce:podsecuritypolicy:x", ""),
			of("v1 ConfigMap kube-system/azure-ip-masq-agent-config", ""), of(rbac+"Role kube-system/aks-service", ""),
			// The same names elsewhere, and longer ones, are nobody's.
			of("v1 ConfigMap shop/aws-auth", ""), of("v1 ConfigMap kube-system/my-aws-auth", ""), of("v1 ServiceAccount shop/metadata-proxy", ""), of("apps/v1 DaemonSet shop/aws-node", "", "status: {desiredNumberScheduled: 0}"),
			of(rbac+"ClusterRole my-eks:node-manager", ""), of("apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com", "", "spec: {group: example.com, names: {kind: Widget}}")),
		want: `
ConfigMap kube-system/my-aws-auth Unused
ConfigMap shop/aws-auth Unused
ServiceAccount shop/metadata-proxy Unused
CustomResourceDefinition widgets.example.com Unused
DaemonSet shop/aws-node Idle
ClusterRole my-eks:node-manager Unused`,
	},
	"kor#236 to kor#240, kor#259: what OpenShift, k3s and Rancher make": {
		cluster: cluster(of("v1 ServiceAccount shop/builder", ""), of("v1 ServiceAccount shop/deployer", ""), of("v1 Secret openshift-config/pull-secret", ""), of("v1 ServiceAccount openshift-monitoring/a", ""),
			of(rbac+"ClusterRole self-provisioner", ""), of("scheduling.k8s.io/v1 PriorityClass openshift-user-critical", ""), of("v1 Namespace openshift-infra", ""),
			of("v1 Secret kube-system/node-1.node-password.k3s", ""), of("v1 Secret kube-system/k3s-serving", ""), of("v1 ConfigMap kube-system/local-path-config", ""),
			of("v1 Secret cattle-global-data/cc-abc", ""), of("v1 Namespace p-x2k4j", ""), of("v1 Secret kube-system/bootstrap-token-abc", ""),
			of("v1 Secret shop/k3s-serving", ""), of("v1 ServiceAccount shop/builders", ""), of("scheduling.k8s.io/v1 PriorityClass my-openshift", ""), of("v1 Namespace p-team", "")),
		want: `
Namespace p-team Unused
Secret shop/k3s-serving Unused
ServiceAccount shop/builders Unused
PriorityClass my-openshift Unused`,
	},
	"what a person says is unused": {
		cluster: cluster(of("v1 ConfigMap shop/dashboard", "labels: {grafana_dashboard: '1', kor/used: 'false'}"), of("v1 ConfigMap shop/named", "labels: {kor/used: 'false'}"),
			of("v1 ConfigMap shop/mentioned", "labels: {kor/used: 'false'}"), of("v1 ConfigMap shop/owned", "labels: {kor/used: 'false'}, ownerReferences: [{apiVersion: a/v1, kind: A, name: a, uid: u}]"),
			of("v1 Pod shop/a", "annotations: {a: mentioned}", "spec: "+pod("named"))),
		want: "ConfigMap shop/dashboard Unused\nConfigMap shop/mentioned Unused\nConfigMap shop/owned Unused",
	},
	"what is exempt uses what it names all the same": {
		cluster: cluster(of("v1 Secret shop/a", ""), of("v1 ServiceAccount shop/default", "secrets: []", "imagePullSecrets: [{name: a}]"),
			of("v1 ConfigMap shop/b", ""), of("apps/v1 Deployment shop/kept", "labels: {kor/used: 'true'}", "spec: {replicas: 1, template: {spec: "+pod("b")+"}}")),
	},
}
