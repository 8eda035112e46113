// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	bootstrapLabel   = "kubernetes.io/bootstrapping"
	addonLabel       = "addonmanager.kubernetes.io/mode"
	rbacGroup        = "rbac.authorization.k8s.io"
	rbacAnnotation   = "rbac.authorization.kubernetes.io/autoupdate"
	flowGroup        = "flowcontrol.apiserver.k8s.io"
	flowAnnotation   = "apf.kubernetes.io/autoupdate-spec"
	reservedPrefix   = "system:"
	defaultNamespace = "default"
	// rootCertificate is the ConfigMap by which Pods trust the API server. Its publisher puts its data back.
	rootCertificate = "kube-root-ca.crt"
)

// stockObject is an object that each cluster has. With no namespace it is cluster-scoped, or in each namespace.
type stockObject struct{ group, kind, namespace, name, why string }

const (
	inEachNamespace = "Kubernetes creates it in each namespace, and Pods rely on it"
	ofTheServer     = "the API server creates it, and Pods find the API server by it"
	immortal        = "the API server does not let it go"
)

var stockObjects = []stockObject{
	{"", "ConfigMap", "", rootCertificate, inEachNamespace},
	{"", "ServiceAccount", "", "default", inEachNamespace},
	{"", "Service", defaultNamespace, "kubernetes", ofTheServer},
	{"", "Endpoints", defaultNamespace, "kubernetes", ofTheServer},
	{"discovery.k8s.io", "EndpointSlice", defaultNamespace, "kubernetes", ofTheServer},
	{"", "Namespace", "", defaultNamespace, immortal},
	{"project.openshift.io", "Project", "", defaultNamespace, immortal},
	{"scheduling.k8s.io", "PriorityClass", "", "system-cluster-critical", immortal},
	{"scheduling.k8s.io", "PriorityClass", "", "system-node-critical", immortal},
}

// KeptByKubernetes says why Kubernetes keeps the object as it should be, or is empty.
func (o Object) KeptByKubernetes() string { return o.Parts().KeptByKubernetes() }

// KeptByKubernetes is that of the Object.
func (o *Parts) KeptByKubernetes() string {
	labels, annotations := o.labels, o.annotations
	isRBAC := o.Kind.Group == rbacGroup
	switch {
	case labels.Field(bootstrapLabel) != nil:
		return "it is part of Kubernetes itself (label " + bootstrapLabel + ")"
	case isRBAC && annotations.Field(rbacAnnotation) != nil:
		return "it is part of Kubernetes itself (annotation " + rbacAnnotation + ")"
	case isRBAC && strings.HasPrefix(o.Name, reservedPrefix):
		return "it is part of Kubernetes itself: names that begin with " + reservedPrefix + " are reserved"
	case o.Kind.Group == flowGroup && annotations.Field(flowAnnotation) != nil:
		return "it is part of Kubernetes itself (annotation " + flowAnnotation + ")"
	case o.Kind.Group == "" && o.Kind.Kind == "ConfigMap" && o.Name == rootCertificate:
		return inEachNamespace
	}
	return ""
}

// Stock says why each cluster has the object, or is empty.
func (o Object) Stock() string { return o.Parts().Stock() }

// Stock is that of the Object.
func (o *Parts) Stock() string {
	if o.labels.Field(addonLabel) != nil {
		return "it is an add-on of the cluster (label " + addonLabel + ")"
	}
	return stockReason(o.Kind.GroupKind(), o.Namespace, o.Name)
}

// InEachCluster reports whether each cluster has an object of the name: Kubernetes makes it, and makes it again.
func InEachCluster(kind schema.GroupKind, namespace, name string) bool {
	return stockReason(kind, namespace, name) != ""
}

func stockReason(kind schema.GroupKind, namespace, name string) string {
	i := slices.IndexFunc(stockObjects, func(s stockObject) bool {
		return s.name == name && s.kind == kind.Kind && s.group == kind.Group &&
			(s.namespace == "" || s.namespace == namespace)
	})
	if i < 0 {
		return ""
	}
	return stockObjects[i].why
}
