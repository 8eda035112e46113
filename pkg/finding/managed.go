// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// applications are Argo CD's.
var applications = schema.GroupKind{Group: "argoproj.io", Kind: "Application"}

// managedBy names what manages an object: "Helm release shop/web". What made an object would make it again.
func (f *Finder) managedBy(o *object.Parts) string {
	labels, annotations := o.At("metadata", "labels"), o.At("metadata", "annotations")
	if manager := declaredManager(labels, annotations); manager != "" {
		return manager
	}
	if name := labels.Field("app.kubernetes.io/instance").Text(); name != "" {
		if _, served := f.served[applications]; served { // the label by which Argo CD tells what it made, unless it is told otherwise
			return "Argo CD application " + name
		}
	}
	return otherManager(labels, annotations)
}

// ManagedBy is what the marks of an object itself tell of what manages it. Empty when they tell nothing.
func ManagedBy(o *object.Parts) string {
	labels, annotations := o.At("metadata", "labels"), o.At("metadata", "annotations")
	return cmp.Or(declaredManager(labels, annotations), otherManager(labels, annotations))
}

// declaredManager is what Flux, Argo CD and Helm write onto what they make.
func declaredManager(labels, annotations object.JSON) string {
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
	return ""
}

func otherManager(labels, annotations object.JSON) string {
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
	if owner := annotations.Field("objectset.rio.cattle.io/owner-name").Text(); owner != "" {
		return "add-on " + owner
	}
	return ""
}
