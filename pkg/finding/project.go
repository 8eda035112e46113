// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// projects are what is known of the software in the cluster that may read an object by its labels or its type.
type projects struct {
	// domains are those of the custom resources: devfile.io of workspace.devfile.io.
	domains map[string]bool
	// unusual are the Secrets whose type is not one of Kubernetes.
	unusual map[types.UID]bool
}

func (f *Finder) newProjects() projects {
	p := projects{domains: map[string]bool{}, unusual: map[types.UID]bool{}}
	for _, kind := range f.Table.CustomKinds() {
		if domain := projectOf(kind.Group); !slices.Contains(deployersDomains, domain) {
			p.domains[domain] = true
		}
	}
	return p
}

// deployersDomains are of those who put labels on whatever they deploy or issue, and of Kubernetes itself: such a
// label says nothing of who reads the object.
var deployersDomains = []string{
	"argoproj.io", "cattle.io", "cert-manager.io", "clastix.io", "coreos.com", "crossplane.io", "external-secrets.io",
	"fluxcd.io", "helm.sh", "k14s.io", "k8s.io", "karmada.io", "kluctl.io", "kubernetes.io", "kyverno.io", "oam.dev",
	"open-cluster-management.io", "projectsveltos.io", "stakater.com", "velero.io",
}

// projectOf is the domain of a project: the last two labels of a group.
func projectOf(group string) string {
	labels := strings.Split(group, ".")
	return strings.Join(labels[max(0, len(labels)-2):], ".")
}

// deployers are the values of app.kubernetes.io/managed-by of what puts manifests into a cluster, and reads nothing
// afterwards.
var deployers = []string{
	"ansible", "argo-cd", "argocd", "carvel", "cdk8s", "flux", "fluxcd", "helm", "helmfile", "jsonnet", "kapp", "kluctl",
	"kubectl", "kustomize", "kustomize-controller", "pulumi", "skaffold", "sveltos", "tanka", "terraform", "tiller", "ytt",
}

// readByProject says which software may read an object by its labels, or has made it for itself. Empty when nothing
// says so.
func (f *Finder) readByProject(o *object.Parts) string {
	manager := label(o, "app.kubernetes.io/managed-by")
	if manager != "" && !slices.Contains(deployers, strings.ToLower(manager)) {
		return manager + " manages it (label app.kubernetes.io/managed-by), and may read it by a name that it knows"
	}
	for key := range o.At("metadata", "labels").Fields() {
		domain, _, found := strings.Cut(key.String(), "/")
		if found && f.domains[projectOf(domain)] {
			return "software of the cluster may read it by its label " + key.String()
		}
	}
	return ""
}

// usualTypes are the types of Secrets of Kubernetes itself, and of Helm. A Secret of another type is for a program
// that asks for this type.
const usualTypes = "type!=Opaque,type!=kubernetes.io/tls,type!=kubernetes.io/dockerconfigjson,type!=kubernetes.io/dockercfg," +
	"type!=kubernetes.io/basic-auth,type!=kubernetes.io/ssh-auth,type!=kubernetes.io/service-account-token," +
	"type!=bootstrap.kubernetes.io/token,type!=helm.sh/release.v1"

// Selects reports whether the field selector of the list, which is about the types of Secrets, selects a whole
// object.
func (l List) Selects(o object.Object) bool {
	typ := cmp.Or(object.JSON(o.Raw).Field("type").Text(), "Opaque")
	for part := range strings.SplitSeq(l.Fields, ",") {
		unwanted, not := strings.CutPrefix(part, "type!=")
		wanted, only := strings.CutPrefix(part, "type=")
		if not && unwanted == typ || only && wanted != typ {
			return false
		}
	}
	return true
}

// ofUnusualType says that the type of a Secret may be what it is read by.
func (f *Finder) ofUnusualType(c *candidate) string {
	if f.unusual[c.uid] {
		return "its type is not one of Kubernetes, and a program may read all Secrets of that type"
	}
	return ""
}

// byProject is lookUnlessLive of what software may read that knows it otherwise than by its name.
func byProject(f *Finder, o *object.Parts) *candidate {
	c := lookUnlessLive(f, o)
	if c != nil {
		c.mayUse = cmp.Or(c.mayUse, f.readByProject(o))
	}
	return c
}
