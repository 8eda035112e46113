// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// exempt reports whether an object is never a finding of the row. What it names counts all the same.
func exempt(r *row, o *object.Parts) bool {
	switch {
	case r.typ == v1alpha1.FindingStuck:
		return false
	case o.Deleting: // somebody deleted it already
		return true
	case !r.ofOwned && isOwned(o) && !isReported(o): // the owner decides
		return true
	}
	return !r.ofStock && (isKept(o) || isStock(o) || isReadByLabel(o) && !isReported(o))
}

// isOwned reports whether another object owns this one. It exists, or the API server would collect this one.
func isOwned(o *object.Parts) bool {
	for range o.At("metadata", "ownerReferences").Elements() {
		return true
	}
	return false
}

const usedLabel = "kor/used"

// isReported reports whether a person says that the object is unused, as users of kor do.
func isReported(o *object.Parts) bool { return label(o, usedLabel) == "false" }

// isKept reports whether a person says that the object is to stay, or it is the operator's own.
func isKept(o *object.Parts) bool {
	protect := o.At("metadata", "annotations", v1alpha1.ProtectAnnotation)
	return protect.Type() != object.Absent && protect.Text() != "false" || label(o, usedLabel) == "true" ||
		o.Kind.Group == v1alpha1.GroupVersion.Group || label(o, "app.kubernetes.io/part-of") == "kubecleaner"
}

// readByLabel are labels by which something finds objects, ConfigMaps and Secrets most of all, whatever their names are.
var readByLabel = []string{
	"grafana_dashboard", "grafana_datasource", "grafana_alert", "grafana_notifier", "grafana_plugin", "loki_rule", "prometheus_rule",
	"argocd.argoproj.io/secret-type", "sealedsecrets.bitnami.com/sealed-secrets-key", "cnpg.io/reload", "cluster.x-k8s.io/cluster-name",
	"clusterctl.cluster.x-k8s.io/move", "jenkins.io/credentials-type", "strimzi.io/cluster", "velero.io/plugin-config", "velero.io/csi-volumesnapshot-class",
	// The claims of people's workspaces, which are mounted while these run.
	"hub.jupyter.org/username", "com.coder.resource", "controller.devfile.io/devworkspace_pvc_type", "controller.devfile.io/devworkspace_id",
	"istio/multiCluster",
}

// readByAnnotation are annotations that mean the same.
var readByAnnotation = []string{
	"control-plane.alpha.kubernetes.io/leader", "hub.jupyter.org/username",
	"replicator.v1.mittwald.de/replicate-to", "replicator.v1.mittwald.de/replicate-to-matching",
}

// readByParts are what reads its ConfigMaps and Secrets through the API, by names that it knows.
var readByParts = []string{"argocd", "knative-serving", "knative-eventing", "tekton-pipelines", "tekton-triggers", "tekton-chains"}

// isReadByLabel reports whether something finds the object by its labels, keeps in it who leads, or copies it under its own name.
func isReadByLabel(o *object.Parts) bool {
	for name := range o.At("metadata", "labels").Fields() {
		if slices.Contains(readByLabel, name.String()) {
			return true
		}
	}
	if slices.ContainsFunc(readByAnnotation, func(name string) bool { return annotation(o, name) != "" }) {
		return true
	}
	return slices.Contains(readByParts, label(o, "app.kubernetes.io/part-of")) || label(o, "owner") == "helm"
}

func annotation(o *object.Parts, name string) string {
	return o.At("metadata", "annotations", name).Text()
}

func label(o *object.Parts, name string) string { return o.At("metadata", "labels", name).Text() }
