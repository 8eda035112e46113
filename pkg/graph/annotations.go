// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// aboutItself are beginnings of annotations in which the tool that made an object, or Kubernetes, says so.
var aboutItself = []string{
	"kubectl.kubernetes.io/", "meta.helm.sh/", "argocd.argoproj.io/", "kapp.k14s.io/", "objectset.rio.cattle.io/",
	"pv.kubernetes.io/", "volume.kubernetes.io/", "volume.beta.kubernetes.io/",
}

// AnnotatedKinds are kinds whose objects may name ConfigMaps and Secrets in annotations, beside those with texts.
var AnnotatedKinds = []schema.GroupKind{
	volumeKind, claimKind, serviceAccountKind, roleKind, clusterRoleKind, storageClassKind,
	{Group: rbacGroup, Kind: "RoleBinding"},
	{Kind: "Service"},
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"},
	{Group: "policy", Kind: "PodDisruptionBudget"},
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"},
	{Group: "networking.k8s.io", Kind: "IngressClass"},
}

// AddAnnotations takes the names of ConfigMaps and Secrets in the annotations of an object: a controller may read them.
// One that is called like the object may be meant, too.
func (g *Graph) AddAnnotations(o *object.Parts) {
	if !slices.Contains(AnnotatedKinds, o.Kind.GroupKind()) {
		return
	}
	by := NameOf(o.Object)
	for key, value := range o.At("metadata", "annotations").Fields() {
		name := key.String()
		if slices.ContainsFunc(aboutItself, func(begin string) bool { return strings.HasPrefix(name, begin) }) {
			continue
		}
		eachNameIn(o, nil, value, g.annotations.addWord)
		g.witnessText(o, nil, by, value, value)
	}
}

// isInAnnotation reports whether the name of a ConfigMap or Secret stands in an annotation.
func (g *Graph) isInAnnotation(name Name) bool {
	return (name.GroupKind == configMapKind || name.GroupKind == secretKind) && g.annotations.has(name)
}
