// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// stockName is what distributions of Kubernetes put into a cluster. The names are whole ones: a part of a name says
// nothing.
type stockName struct {
	// kind has its group after a dot, and an empty namespace stands for any.
	kind, namespace string
	names           *regexp.Regexp
}

func stockNamed(kind, namespace, names string) stockName {
	return stockName{kind, namespace, regexp.MustCompile("^(?:" + names + ")$")}
}

const (
	rbac = ".rbac.authorization.k8s.io"
	// ofClusters are the roles and bindings that kubeadm, OpenShift, k3s, GKE, EKS and AKS make.
	ofClusters = `cluster-admin|admin|edit|view|` + ofNamespaces
	// ofNamespaces are those of them that are Roles and RoleBindings: others may call one "admin".
	ofNamespaces = `system:.*|kubeadm:.*|kubelet-.*|cluster-(status|reader|debugger)|self-provisioners?|olm\..*|` +
		`basic-users?|openshift-.*|olm-.*|operatorhub-.*|eks:.*|gce:.*|gke-.*|aks-.*|k3s-.*|rke2-.*|` +
		`local-path-provisioner-.*|clustercidrs-node|storage-version-migration-.*`
)

// stockNames are those of the distributions: kubeadm, EKS, GKE, AKS, OpenShift, Rancher, k3s, RKE2 and minikube.
var stockNames = []stockName{
	stockNamed("ConfigMap", "", `openshift-service-ca\.crt|istio-ca-root-cert|.*\.v[0-9]+\.helm-history`),
	stockNamed("ConfigMap", "", `kubecleaner-references`), // what users declare to us
	// Their controllers read them through the API, by these names.
	stockNamed(
		"ConfigMap",
		"",
		`cluster-autoscaler-priority-expander|workflow-controller-configmap|argo-rollouts-(config|notification-configmap)|`+
			`argocd-notifications-cm|`+
			`elastic-(licensing|operator-uuid)`,
	),
	// Without the certificate authority of Istio, or the key to Velero's backups, what they are for is lost.
	stockNamed("Secret", "", `argo-rollouts-notification-secret|argocd-notifications-secret|istio-ca-secret|velero-repo-credentials|timoni\..*`),
	stockNamed("ConfigMap", "kube-public", `cluster-info|local-registry-hosting`),
	stockNamed("ConfigMap", "aws-observability", `aws-logging`), // EKS reads it for Fargate, outside of the cluster
	stockNamed(
		"ConfigMap",
		"kube-system",
		`aws-auth|amazon-vpc-cni|cluster-autoscaler-status|coredns.*|extension-apiserver-authentication|`+
			`kube-apiserver-legacy-service-account-token-tracking|kube-dns.*|kube-proxy.*|kubeadm-config|kubelet-config.*|root-ca|cluster-kubestore|`+
			`clustermetrics|gke-common-webhook-heartbeat|ingress-uid|konnectivity-agent-.*|azure-ip-masq-agent-.*|overlay-upgrade-data|cluster-config-v1|`+
			`chart-content-.*|local-path-config|rke2-.*|k3s-.*`,
	),
	stockNamed("ConfigMap", "openshift-.*", `.*`),
	stockNamed(
		"Secret",
		"kube-system",
		`.*\.node-password\.(k3s|rke2)|(k3s|rke2)-serving|bootstrap-token-.*|kubeadmin|chart-values-.*`,
	),
	stockNamed("Secret", "kubernetes-dashboard", `kubernetes-dashboard-(certs|csrf|key-holder)`),
	stockNamed("Secret", "openshift-.*", `.*`),
	// Rancher reads what it keeps there through the API, such as the credentials of clouds.
	stockNamed("ConfigMap", "cattle-.*", `.*`),
	stockNamed("Secret", "cattle-.*", `.*`),
	stockNamed("ServiceAccount", "", `builder|deployer`), // OpenShift makes them in each namespace
	stockNamed(
		"ServiceAccount",
		"kube-system",
		`aws-cloud-provider|metadata-proxy|cloud-provider|.*-controller|.*-provisioner|.*-binder|.*-cleaner|`+
			`(coredns|kube-dns|kube-proxy|konnectivity-agent|persistent-volume-binder|node-problem-detector|`+
			`generic-garbage-collector|pod-garbage-collector|`+
			`legacy-service-account-token-cleaner|root-ca-cert-publisher|validatingadmissionpolicy-status-controller|`+
			`horizontal-pod-autoscaler|cronjob-controller)`,
	),
	stockNamed("ServiceAccount", "openshift-.*", `.*`),
	stockNamed("Service", "kube-system", `kube-dns|rke2-coredns-.*|k8s\.io-minikube-hostpath`),
	stockNamed("DaemonSet.apps", "kube-system", `kube-proxy.*|aws-node|nvidia-.*|.*gpu-device-plugin.*|tpu-device-plugin|`+
		`.*-windows|fluentbit-gke.*|metadata-proxy.*`),
	stockNamed("PriorityClass.scheduling.k8s.io", "", `system-.*|openshift-.*`),
	stockNamed("Namespace", "", `kube-.*|default|openshift|openshift-.*|gke-.*|gmp-.*|cattle-.*|`+
		`(p|c|u|user)-[b-df-hj-np-tv-xz2-9]{5}|fleet-(default|local)`), // the last ones are Rancher's, at random
	stockNamed("Role"+rbac, "", ofNamespaces),
	stockNamed("ClusterRole"+rbac, "", ofClusters),
	stockNamed("RoleBinding"+rbac, "", ofNamespaces),
	stockNamed("ClusterRoleBinding"+rbac, "", ofClusters),
	stockNamed("Lease.coordination.k8s.io", "kube-node-lease", `.*`),
	stockNamed(
		"CustomResourceDefinition.apiextensions.k8s.io",
		"",
		`.*\.(apps\.projectsveltos\.io|openshift\.io|coreos\.com|cattle\.io|traefik\.io|traefik\.containo\.us|snapshot\.storage\.k8s\.io|`+
			`gke\.io|k8s\.aws|amazonaws\.com|azure\.com|cilium\.io|projectcalico\.org)`,
	),
}

// stockKinds are the stockNames by kind, so that other kinds cost nothing.
var stockKinds = func() map[string][]stockName {
	byKind := map[string][]stockName{}
	for _, s := range stockNames {
		byKind[s.kind] = append(byKind[s.kind], s)
	}
	return byKind
}()

// stock says why Kubernetes, or a distribution of it, makes the object.
func stock(o *object.Parts) string {
	if label(o, "kubernetes.io/cluster-service") == "true" {
		return "it is a service of the cluster (label kubernetes.io/cluster-service)"
	}
	if why := cmp.Or(o.Stock(), o.KeptByKubernetes()); why != "" {
		return why
	}
	for _, s := range stockKinds[o.Kind.GroupKind().String()] {
		if isIn(o.Namespace, s.namespace) && s.names.MatchString(o.Name) {
			return "Kubernetes, or a distribution of it, makes an object of that name"
		}
	}
	return ""
}

// isIn reports whether a namespace is the one, or begins as one that ends with "-.*" says.
func isIn(namespace, of string) bool {
	if prefix, found := strings.CutSuffix(of, ".*"); found {
		return strings.HasPrefix(namespace, prefix)
	}
	return of == "" || of == namespace
}

// isInEachCluster reports whether Kubernetes makes the object in each cluster, or in each namespace.
func isInEachCluster(name graph.Name) bool {
	if name.GroupKind == clusterRoles {
		return strings.HasPrefix(name.Name, "system:") ||
			slices.Contains([]string{"cluster-admin", "admin", "edit", "view"}, name.Name)
	}
	return object.InEachCluster(name.GroupKind, name.Namespace, name.Name)
}
