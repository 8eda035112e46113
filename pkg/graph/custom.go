// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// customName stands for a custom resource of any kind.
func customName(namespace, name string) Name {
	return Name{GroupKind: schema.GroupKind{Group: "*", Kind: "*"}, Namespace: namespace, Name: name}
}

// Custom finds a custom resource by its namespace and its name, of whatever kind it is, whose controller may make Pods.
func (g *Graph) Custom(namespace, name string) (Name, bool) {
	return g.custom(namespace, name, func(kind schema.GroupKind) bool {
		return namespace != "" && !g.clusterScoped[kind] && !makesNoPods(kind)
	})
}

// ClusterCustom finds one that is cluster-scoped.
func (g *Graph) ClusterCustom(name string) (Name, bool) {
	if name == "cluster" || name == "default" { // settings of the cluster are often called so
		return Name{}, false
	}
	return g.custom("", name, func(kind schema.GroupKind) bool { return g.clusterScoped[kind] && !makesNoPods(kind) })
}

// Undescribed finds one of a kind of which only the schema says what it names: its controller may make names of its
// name. Those that are about traffic, Pods and Services are called like the application, and make none.
func (g *Graph) Undescribed(namespace, name string) (Name, bool) {
	return g.custom(namespace, name, func(kind schema.GroupKind) bool {
		return namespace != "" && !g.clusterScoped[kind] && !g.table.sources[kind].isDescribed && !makesNoPods(kind)
	})
}

// makingNoPods are groups and kinds whose resources are about the Pods, the traffic, the certificates or the Secrets of
// an application, and are called like it. Their controllers make no Pods.
var makingNoPods = []string{
	"cloud.google.com", "elbv2.k8s.aws", "externaldns.k8s.io", "getambassador.io", "gateway.envoyproxy.io",
	"networking.gke.io", "projectcontour.io", "route.openshift.io",
	"acme.cert-manager.io", "bitnami.com", "cert-manager.io", "configuration.konghq.com", "external-secrets.io",
	"flagger.app",
	"image.toolkit.fluxcd.io", "k8s.nginx.org", "kyverno.io", "notification.toolkit.fluxcd.io", "secrets.hashicorp.com",
	"traefik.containo.us", "traefik.io", "vpcresources.k8s.aws",
	"ScaledObject.keda.sh",
}

// monitoringGroups are groups of which some kinds run Pods, such as Prometheus. Those with the ends of configuring do
// not.
var (
	monitoringGroups = []string{"monitoring.coreos.com", "monitoring.rhobs", "operator.victoriametrics.com"}
	configuring      = []string{"Config", "Monitor", "Probe", "Rule", "Scrape", "User"}
)

func makesNoPods(kind schema.GroupKind) bool {
	switch {
	case slices.Contains(monitoringGroups, kind.Group):
		return slices.ContainsFunc(configuring, func(end string) bool { return strings.HasSuffix(kind.Kind, end) })
	case kind.Group == "install.istio.io", kind.Kind == "MeshGatewayInstance": // of Kuma
		return false
	}
	return selectsOthers(kind.Group) || slices.Contains(makingNoPods, kind.Group) ||
		slices.Contains(makingNoPods, kind.String())
}

func (g *Graph) custom(namespace, name string, is func(schema.GroupKind) bool) (Name, bool) {
	if _, ok := g.present[customName(namespace, name).key()]; !ok {
		return Name{}, false
	}
	for _, kind := range g.table.CustomKinds() {
		custom := Name{GroupKind: kind, Namespace: namespace, Name: name}
		if is(kind) && g.IsPresent(custom) {
			return custom, true
		}
	}
	return Name{}, false
}
