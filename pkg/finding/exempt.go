// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Exemption says why an object is never unused, whatever is known of it: it has only findings that ask for a repair. It
// is empty of others, and of kinds that have no findings.
func Exemption(o object.Object) string {
	i := slices.IndexFunc(rows, func(r *row) bool { return r.kind == o.Kind.GroupKind() && !r.ofOwned && !r.ofStock })
	if i < 0 {
		return ""
	}
	why := exemption(rows[i], o.Parts())
	if why == "" && rows[i].kind == services {
		return servesWithoutPods(o.Parts())
	}
	return why
}

// exempt reports whether an object is never a finding of the row. What it names counts all the same.
func exempt(r *row, o *object.Parts) bool { return exemption(r, o) != "" }

// exemption says why. It is empty of an object that may be a finding.
func exemption(r *row, o *object.Parts) string {
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
	if why := ofSomebody(r, o); why != "" {
		return why
	}
	if why := readByLabel(o); why != "" && !isReported(o) {
		return why
	}
	return ""
}

// protected says why no Cleaner acts on an object of the row, which is found all the same.
func protected(r *row, o *object.Parts) string {
	if !r.actionable || !r.ofStock {
		return "" // either nothing acts on any of them, or such objects are exempt
	}
	return ofSomebody(r, o)
}

// ofSomebody says who wants the object to stay: a person, Kubernetes or its distribution, or what made a hook of it.
func ofSomebody(r *row, o *object.Parts) string { return cmp.Or(kept(o), stock(o), hook(r, o)) }

// hook says that the object is one. It has a time of its own if somebody gave it one.
func hook(r *row, o *object.Parts) string {
	if !isHook(o) || isReported(o) || r.typ == v1alpha1.FindingExpired {
		return ""
	}
	return "it is a hook of Helm or Argo CD"
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

// kept says that a person wants the object to stay, or that it is the operator's own.
func kept(o *object.Parts) string {
	protect := o.At("metadata", "annotations", v1alpha1.ProtectAnnotation)
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

// readingLabels are labels by which something finds objects, ConfigMaps and Secrets most of all, whatever their names
// are.
var readingLabels = []string{
	"grafana_dashboard",
	"grafana_datasource",
	"grafana_alert",
	"grafana_notifier",
	"grafana_plugin",
	"loki_rule",
	"prometheus_rule",
	"argocd.argoproj.io/secret-type",
	"sealedsecrets.bitnami.com/sealed-secrets-key",
	"cnpg.io/reload",
	"cluster.x-k8s.io/cluster-name",
	"clusterctl.cluster.x-k8s.io/move",
	"jenkins.io/credentials-type",
	"strimzi.io/cluster",
	"velero.io/plugin-config",
	"velero.io/csi-volumesnapshot-class",
	// The claims of people's workspaces, which are mounted while these run.
	"hub.jupyter.org/username",
	"com.coder.resource",
	"dev.okteto.com",
	"devpod.sh/created",
	"devpod.sh/workspace-uid",
	"controller.devfile.io/devworkspace_pvc_type",
	"controller.devfile.io/devworkspace_id",
	"istio/multiCluster",
	"kiali.io/multiCluster",
	"multicluster.linkerd.io/cluster-name",
	"kargo.akuity.io/cred-type",
	"spring.cloud.kubernetes.config",
	"spring.cloud.kubernetes.secret",
	"workflows.argoproj.io/configmap-type",
	// What tools outside of the cluster keep in it: the state of what they have applied.
	"tfstate",
	"kapp.k14s.io/is-app",
	"kapp.k14s.io/is-app-change",
	"applyset.kubernetes.io/id",
	"cli-utils.sigs.k8s.io/inventory-id",
	"license.k8s.elastic.co/scope",
	"license.k8s.elastic.co/type",
	"kubevirt.io/install-strategy",
	"f5type",
	"management.cattle.io/project-scoped-secret",
	"cluster.core.oam.dev/cluster-credential-type",
	"config.oam.dev/catalog",
	"cluster.open-cluster-management.io/credentials",
	"vcluster.loft.sh/managed-by",
	"kots.io/kotsadm",
	"troubleshoot.sh/kind",
	"troubleshoot.io/kind",
}

// readingAnnotations are annotations that mean the same.
var readingAnnotations = []string{
	"hub.jupyter.org/username",
	// What is copied under its own name, also into namespaces that do not exist yet.
	"replicator.v1.mittwald.de/replicate-to", "replicator.v1.mittwald.de/replicate-to-matching",
	"replicator.v1.mittwald.de/replication-allowed",
	"reflector.v1.k8s.emberstack.com/reflection-auto-enabled", "reflector.v1.k8s.emberstack.com/reflection-allowed",
	"kubed.appscode.com/sync", "config-syncer.appscode.com/sync",
	"listener.cattle.io/fingerprint", // the certificate of a server of Rancher or k3s, which reads it by its name
	"workflows.argoproj.io/rbac-rule",
	"workflows.argoproj.io/default-artifact-repository",
}

// readingParts are what reads its ConfigMaps and Secrets through the API, by names that it knows.
var readingParts = []string{
	"argocd",
	"knative-serving",
	"knative-eventing",
	"tekton-pipelines",
	"tekton-triggers",
	"tekton-chains",
}

// readByLabel says that something finds the object by its labels or annotations, keeps in it who leads, or copies it
// under its own name.
func readByLabel(o *object.Parts) string {
	for name := range o.At("metadata", "labels").Fields() {
		// Jenkins's chart begins this label with the name of its release.
		if slices.Contains(readingLabels, name.String()) || strings.HasSuffix(name.String(), "-jenkins-config") {
			return "it is read by its label " + name.String() + ", whatever its name is"
		}
	}
	for _, name := range readingAnnotations {
		if value := annotation(o, name); value != "" && value != "false" {
			return "it is read by its annotation " + name + ", whatever its name is"
		}
	}
	if annotation(o, "control-plane.alpha.kubernetes.io/leader") != "" {
		return "it says who leads"
	}
	if part := label(o, "app.kubernetes.io/part-of"); slices.Contains(readingParts, part) {
		return "it is part of " + part + ", which reads it by names that it knows"
	}
	if label(o, "owner") == "helm" {
		return "Helm reads it by its labels"
	}
	return copiedByRancher(o)
}

// copiedByRancher says that Rancher copies an object from the namespace of a project into those that belong to it.
func copiedByRancher(o *object.Parts) string {
	if _, project, found := strings.Cut(annotation(o, "field.cattle.io/projectId"), ":"); found && project == o.Namespace {
		return "Rancher copies it into the namespaces of its project"
	}
	return ""
}

func annotation(o *object.Parts, name string) string {
	return o.At("metadata", "annotations", name).Text()
}

func label(o *object.Parts, name string) string { return o.At("metadata", "labels", name).Text() }
