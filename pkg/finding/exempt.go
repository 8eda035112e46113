// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Exemption says why an object is never a finding of its kind's, whatever is known of it. It is empty of others, and of kinds that have no findings.
func Exemption(o object.Object) string {
	i := slices.IndexFunc(rows, func(r *row) bool { return r.kind == o.Kind.GroupKind() && !r.ofOwned && !r.ofStock })
	if i < 0 {
		return ""
	}
	return exemption(rows[i], o)
}

// exempt reports whether an object is never a finding of the row. What it names counts all the same.
func exempt(r *row, o object.Object) bool { return exemption(r, o) != "" }

// exemption says why. It is empty of an object that may be a finding.
func exemption(r *row, o object.Object) string {
	switch {
	case r.typ == v1alpha1.FindingStuck:
		return ""
	case o.Deleting:
		return "it is being deleted already"
	case !r.ofOwned && isOwned(o) && !isReported(o):
		return "another object owns it, and decides how long it lives"
	case r.ofStock:
		return ""
	}
	if why := kept(o); why != "" {
		return why
	}
	if why := stock(o); why != "" {
		return why
	}
	if why := readByLabel(o); why != "" && !isReported(o) {
		return why
	}
	return ""
}

// isOwned reports whether another object owns this one. It exists, or the API server would collect this one.
func isOwned(o object.Object) bool {
	for range raw(o).At("metadata", "ownerReferences").Elements() {
		return true
	}
	return false
}

const usedLabel = "kor/used"

// isReported reports whether a person says that the object is unused, as users of kor do.
func isReported(o object.Object) bool { return label(o, usedLabel) == "false" }

// kept says that a person wants the object to stay, or that it is the operator's own.
func kept(o object.Object) string {
	protect := metadata(o).At("annotations", v1alpha1.ProtectAnnotation)
	switch {
	case protect.Type() != object.Absent && protect.Text() != "false":
		return "it is annotated " + v1alpha1.ProtectAnnotation
	case label(o, usedLabel) == "true":
		return "it is labelled " + usedLabel + ": \"true\""
	case o.Kind.Group == v1alpha1.GroupVersion.Group, label(o, "app.kubernetes.io/part-of") == "kubecleaner":
		return "it is KubeCleaner's own"
	}
	return ""
}

// readingLabels are labels by which something finds ConfigMaps and Secrets, whatever their names are.
var readingLabels = []string{
	"grafana_dashboard", "grafana_datasource", "grafana_alert", "grafana_notifier", "grafana_plugin", "loki_rule", "prometheus_rule",
	"argocd.argoproj.io/secret-type", "sealedsecrets.bitnami.com/sealed-secrets-key", "cnpg.io/reload", "cluster.x-k8s.io/cluster-name",
	"clusterctl.cluster.x-k8s.io/move", "jenkins.io/credentials-type", "strimzi.io/cluster", "velero.io/plugin-config", "istio/multiCluster",
}

// readByLabel says that something finds the object by its labels, or keeps in it who leads.
func readByLabel(o object.Object) string {
	for name := range metadata(o).Field("labels").Fields() {
		if slices.Contains(readingLabels, name.String()) {
			return "it is read by its label " + name.String() + ", whatever its name is"
		}
	}
	switch {
	case annotation(o, "control-plane.alpha.kubernetes.io/leader") != "":
		return "it says who leads"
	case label(o, "app.kubernetes.io/part-of") == "argocd":
		return "Argo CD reads it by its labels"
	case label(o, "owner") == "helm":
		return "Helm reads it by its labels"
	}
	return ""
}

func metadata(o object.Object) object.JSON { return raw(o).Field("metadata") }

func annotation(o object.Object, name string) string {
	return metadata(o).At("annotations", name).Text()
}

func label(o object.Object, name string) string { return metadata(o).At("labels", name).Text() }
