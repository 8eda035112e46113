// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// fixedName is a name by which somebody reads an object.
type fixedName struct{ name, namespace, label, value, by string }

// fixedNames are ConfigMaps and Secrets that well-known software reads through the API, by names that stand in its
// code, or by a label. "*" in a name stands for any text. Where others may have such a name, too, the object must be in
// the namespace, or have the label.
var fixedNames = []fixedName{
	{name: "istio", namespace: "istio-system", label: "istio.io/rev", by: "Istio"},
	{name: "istio-*", namespace: "istio-system", label: "istio.io/rev", by: "Istio"},
	{
		name: "config-*", namespace: "knative-serving", by: "Knative",
		label: "app.kubernetes.io/name", value: "knative-serving",
	},
	{
		name: "config-*", namespace: "knative-eventing", by: "Knative",
		label: "app.kubernetes.io/name", value: "knative-eventing",
	},
	// The certificates that its webhooks make for themselves, and the authority of those inside of the cluster.
	{
		name: "webhook-certs", namespace: "knative-serving", by: "Knative",
		label: "app.kubernetes.io/name", value: "knative-serving",
	},
	{name: "serving-certs-ctrl-ca", by: "Knative"},
	{name: "eventing-webhook-certs", by: "Knative"},
	{name: "inmemorychannel-webhook-certs", by: "Knative"},
	{name: "domainmapping-webhook-certs", by: "Knative"},
	{name: "kafka-webhook-eventing-certs", by: "Knative"},
	{name: "rook-ceph-operator-config", by: "Rook"},
	{name: "ceph-csi-*", by: cephCSI}, // also in namespaces of tenants: ceph-csi-kms-token
	{name: "csi-kms-connection-details", by: cephCSI},
	{name: "inferenceservice-config", by: "KServe"},
	{name: "trivy-operator*", by: "Trivy Operator"},
	{name: "kubernetes-services-endpoint", by: "Calico's operator"},
	{name: "kubernetes-dashboard-settings", by: "Kubernetes Dashboard"},
	{name: "kubernetes-dashboard-csrf", by: "Kubernetes Dashboard"},
	{name: "kubernetes-dashboard-key-holder", by: "Kubernetes Dashboard"},
	{name: "artifact-repositories", by: "Argo Workflows"},
	{name: "ack-role-*", by: "AWS's controllers (ACK)"},
	{name: "ack-carm-map", by: "AWS's controllers (ACK)"},
	{name: "aso-credential", by: "Azure Service Operator"},
	{name: "kruise-webhook-certs", by: "OpenKruise"},
	{name: "kruise-configuration", by: "OpenKruise"},
	{name: "vsphere-csi-cluster-id", by: "vSphere's CSI driver"},
	{name: "supported-nic-ids", by: "The operator of SR-IOV networks"},
	{name: "fallback-self-signed-cert", by: "Emissary"},
	{name: "vela-addon-registry", by: "KubeVela"},
	{name: "kapp-controller-config", by: "kapp-controller"},
	{name: "rook-ceph-mon-endpoints", by: "Rook"},
	{name: "external-cluster-user-command", by: "Rook"},
	{name: "rgw-admin-ops-user", by: "Rook"},
	{name: "longhorn-default-setting", by: "Longhorn"},
	{name: "longhorn-default-resource", by: "Longhorn"},
	{name: "longhorn-storageclass", by: "Longhorn"},
	{name: "longhorn-webhook-ca", by: "Longhorn"},
	{name: "kubevip", by: "kube-vip"},
	{name: "cilium-ca", by: "Cilium"},
	{name: "operator-ca-tls*", by: "MinIO's operator"},
	{name: "storage-config", by: "KServe"},
	{name: "px-*", by: "Portworx"},
	{name: "*-bootstrap-acl-token", by: "Consul"},
	{name: "aws-creds", namespace: "kube-system", by: credentialOperator},
	{name: "azure-credentials", namespace: "kube-system", by: credentialOperator},
	{name: "gcp-credentials", namespace: "kube-system", by: credentialOperator},
	{name: "vsphere-creds", namespace: "kube-system", by: credentialOperator},
	{name: "openstack-credentials", namespace: "kube-system", by: credentialOperator},
	{name: "bootstrap", namespace: "kube-system", by: "OpenShift's operator for etcd"},
	{name: "azure-cloud-provider", by: "Azure's CSI driver"},
	{name: "active-operator", by: "Calico's operator"},
	{name: "envoy-oidc-hmac", by: "Envoy Gateway"},
	{name: "envoy-rate-limit", by: "Envoy Gateway"},
	{name: "envoy", namespace: "envoy-gateway-system", by: "Envoy Gateway"},
	{name: "portainer-config", by: "Portainer"},
	{name: "leaders", label: "provider", value: "spring-cloud-kubernetes", by: "Spring Cloud Kubernetes"},
	{name: "full-cluster-state", by: "RKE"},
	{name: "ovn-vpc-nat-config", by: "Kube-OVN"},
	{name: "ovn-vpc-nat-gw-config", by: "Kube-OVN"},
	{name: "ovn-external-gw-config", by: "Kube-OVN"},
	{name: "ovn-ic-config", by: "Kube-OVN"},
	{name: "cluster-dns", namespace: "kube-system", by: "k3s"},
	{name: "node-agent-config", by: "Velero"},
	{name: "velero-restic-credentials", by: "Velero"},
	{name: "gitcredential", by: "Rancher Fleet"},
	{name: "auto-import-secret", by: "Open Cluster Management"},
	{name: "k10-dr-secret", by: "Kasten K10"},
	{name: "alertmanager", namespace: "gmp-public", by: "Google Managed Prometheus"},
	{name: "asm-options", by: "Anthos Service Mesh"},
	{name: "env-asm-*", by: "Anthos Service Mesh"},
	{name: "*", label: "dev.okteto.com/git-deploy", by: "Okteto"},
	{name: "werf-*", by: "werf"},
	{name: "cluster-autoscaler-status", by: "Cluster Autoscaler"},
	{name: "*", label: "konghq.com/ca-cert", by: "Kong"},
	{name: "*", label: "konghq.com/credential", by: "Kong"},
	{name: "*", label: "openpolicyagent.org/policy", by: "Open Policy Agent"},
	{name: "*", label: "openpolicyagent.org/data", by: "Open Policy Agent"},
	{name: "*", label: "gateway.istio.io/defaults-for-class", by: "Istio"},
	{name: "*", label: "configmap-type", value: "high-availability", by: "Flink"},
	{name: "*", label: "console.openshift.io/dashboard", by: "OpenShift's console"},
	{name: "*", label: "skupper.io/type", by: "Skupper"},
	{name: "skupper-*", by: "Skupper"},
	{name: "kubearmor-config", by: "KubeArmor"},
	{name: "yunikorn-configs", by: "YuniKorn"},
	{name: "yunikorn-defaults", by: "YuniKorn"},
	{name: "config-image-policies", by: policyController},
	{name: "config-sigstore-keys", by: policyController},
	{name: "config-policy-controller", by: policyController},
	{name: "seldon-config", by: "Seldon"},
	{name: "model-serving-config", by: "KServe"},
	{name: "casecret", namespace: "kubeedge", by: "KubeEdge"},
	{name: "tokensecret", namespace: "kubeedge", by: "KubeEdge"},
	{name: "tunnelport", namespace: "kubeedge", by: "KubeEdge"},
	{name: "cloudcoresecret", namespace: "kubeedge", by: "KubeEdge"},
	{name: "everest-*", by: "Percona Everest"},
	{name: "slo-controller-config", by: "Koordinator"},
	{name: "*sap-btp-service-operator", by: "SAP BTP's operator"},
	{name: "vault-injector-certs", by: "Vault's injector"},
	{name: "pricing-configs", by: "Kubecost"},
	{name: "alert-configs", by: "Kubecost"},
	{name: "metrics-config", namespace: "kubecost", by: "Kubecost"},
	{name: "app-configs", namespace: "kubecost", by: "Kubecost"},
	{name: "*-report-configs", by: "Kubecost"},
	{name: "kfp-launcher", by: "Kubeflow Pipelines"},
	{name: "mlpipeline-minio-artifact", by: "Kubeflow Pipelines"},
	{name: "azure-storage-account-*", by: "Azure's CSI driver"},
	{name: "*.credentials.postgresql.acid.zalan.do", by: "Zalando's operator"},
	{name: "*", namespace: "cilium-secrets", label: "secretsync.cilium.io/owning-secret-name", by: "Cilium"},
}

const (
	credentialOperator = "OpenShift's operator for credentials of clouds"
	policyController   = "Sigstore's policy controller"
)

// Ceph CSI asks for tokens of the account in the namespace of each tenant.
const (
	cephCSI        = "Ceph CSI"
	cephCSIAccount = "ceph-csi-vault-sa"
)

// stateAnnotations are annotations in which a program keeps its state: it needs no data for that. Patroni does so.
var stateAnnotations = []string{"leader", "initialize", "config", "history", "optime"}

// patroniNames are the ends of the names of what Patroni makes for a cluster of databases, and that has no annotation
// at most times.
var patroniNames = []string{"-leader", "-failover", "-sync"}

// fixedReader says what may read a ConfigMap or a Secret by a name that it knows. Empty when nobody is known to.
func fixedReader(o *object.Parts) string {
	i := slices.IndexFunc(fixedNames, func(known fixedName) bool { return known.isOf(o) })
	if i >= 0 {
		return fixedNames[i].reads()
	}
	for _, name := range stateAnnotations {
		if annotation(o, name) != "" {
			return "a program may keep its state in its annotation " + name
		}
	}
	// People choose the label that has the name of the cluster.
	for _, value := range o.At("metadata", "labels").Fields() {
		cluster := value.Text()
		if end, ok := strings.CutPrefix(o.Name, cluster); ok && cluster != "" && slices.Contains(patroniNames, end) {
			return "Patroni may keep the state of " + cluster + " in it"
		}
	}
	return ""
}

// reads says who reads it, and how.
func (n fixedName) reads() string {
	switch {
	case n.name != "*":
		return n.by + " reads it by a name that it knows"
	case n.namespace != "":
		return n.by + " reads what is in namespace " + n.namespace
	}
	return n.by + " reads it by its label " + n.label
}

func (n fixedName) isOf(o *object.Parts) bool {
	begin, end, isPattern := strings.Cut(n.name, "*")
	if o.Name != n.name && (!isPattern || !strings.HasPrefix(o.Name, begin) || !strings.HasSuffix(o.Name, end)) {
		return false
	}
	return n.isAnywhere() || n.namespace != "" && o.Namespace == n.namespace || n.hasLabel(o)
}

// isAnywhere reports whether nobody else has such a name.
func (n fixedName) isAnywhere() bool { return n.namespace == "" && n.label == "" }

func (n fixedName) hasLabel(o *object.Parts) bool {
	value := label(o, n.label)
	return n.label != "" && value != "" && (n.value == "" || value == n.value)
}
