// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"cmp"
	"strings"
)

// ManagedBy is that of the parts, where it is not known whether the cluster has Argo CD.
func (o Object) ManagedBy() string { return o.Parts().ManagedBy(false) }

// ManagedBy names what manages an object, as its labels and annotations say: "Helm release shop/web". What made an
// object would make it again. argo is whether the cluster serves Argo CD's Applications: then the label
// app.kubernetes.io/instance is theirs.
func (o *Parts) ManagedBy(argo bool) string {
	labels, annotations := o.At("metadata", "labels"), o.At("metadata", "annotations")
	named := func(what, namespace, name string) string {
		if namespace != "" {
			name = namespace + "/" + name
		}
		return what + " " + name
	}
	for _, flux := range []struct{ group, what string }{
		{"kustomize.toolkit.fluxcd.io", "Flux Kustomization"}, {"helm.toolkit.fluxcd.io", "Flux HelmRelease"},
	} {
		if name := labels.Field(flux.group + "/name").Text(); name != "" {
			return named(flux.what, labels.Field(flux.group+"/namespace").Text(), name)
		}
	}
	if id := annotations.Field("argocd.argoproj.io/tracking-id").Text(); id != "" {
		application, _, _ := strings.Cut(id, ":")
		return named("Argo CD application", "", application)
	}
	for _, instance := range []string{"argocd.argoproj.io/instance", "argocd.argoproj.io/application-set-name"} {
		if name := labels.Field(instance).Text(); name != "" {
			return named("Argo CD application", "", name)
		}
	}
	if release := annotations.Field("meta.helm.sh/release-name").Text(); release != "" {
		return named("Helm release", annotations.Field("meta.helm.sh/release-namespace").Text(), release)
	}
	// By this label Argo CD knows what it made, unless it is set to use another way.
	if name := labels.Field("app.kubernetes.io/instance").Text(); argo && name != "" {
		return named("Argo CD application", "", name)
	}
	return otherManager(labels, annotations)
}

// managedBy begins the part of a message that names what manages the object.
const managedBy, between = "managed by ", "; "

// WithManager adds to a message what manages the object. Either may be empty.
func WithManager(message, manager string) string {
	switch {
	case manager == "":
		return message
	case message == "":
		return managedBy + manager
	}
	return message + between + managedBy + manager
}

// ManagerIn is what manages the object, as the end of a message says. Empty when it says nothing of that.
func ManagerIn(message string) string {
	if i := strings.LastIndex(message, between); i >= 0 {
		message = message[i+len(between):]
	}
	if manager, named := strings.CutPrefix(message, managedBy); named {
		return manager
	}
	return ""
}

// managers are labels and annotations of those who deploy objects, and make them again.
var managers = []struct{ key, what string }{
	{"karmada.io/managed", "Karmada"},
	{"app.oam.dev/name", "KubeVela"},
	{"config.k8s.io/owning-inventory", "an inventory of kpt or Config Sync"},
	{"configsync.gke.io/resource-id", "Config Sync"},
	{"projectsveltos.io/reference-name", "Sveltos"},
	{"projectsveltos.io/owner-name", "Sveltos"},
	{"apps.open-cluster-management.io/hosting-subscription", "Open Cluster Management"},
	{"resources.gardener.cloud/origin", "Gardener"},
}

func otherManager(labels, annotations JSON) string {
	for name, value := range labels.Fields() {
		switch key := name.String(); {
		case key == "olm.owner", key == "olm.managed":
			return "Operator Lifecycle Manager"
		case strings.HasPrefix(key, "operators.coreos.com/"):
			return "Operator Lifecycle Manager"
		case key == "app.kubernetes.io/managed-by" && value.Text() == "Helm":
			return "Helm"
		case key == "kapp.k14s.io/app":
			return "kapp"
		}
	}
	for _, m := range managers {
		if cmp.Or(labels.Field(m.key).Text(), annotations.Field(m.key).Text()) != "" {
			return m.what
		}
	}
	if owner := annotations.Field("objectset.rio.cattle.io/owner-name").Text(); owner != "" {
		return "add-on " + owner
	}
	return ""
}
