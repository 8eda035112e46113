// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
)

// A finding that is Weak says why: which text holds the name, in which object, or who is for all objects of the kind.
func TestWhyWeak(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cluster, of string
		watched     bool
		want        string
	}{
		"the data of a ConfigMap": {
			cluster(of("v1 Secret shop/vault", ""), of("v1 ConfigMap shop/runner", "", "data: {a: none, config.toml: 'uses vault'}")), "Secret shop/vault", false,
			"but its name is in data[config.toml] of ConfigMap shop/runner",
		},
		"an argument, for scan": {
			cluster(of("v1 ConfigMap shop/settings", ""), of("v1 Pod shop/web", "", "spec: {containers: [{name: a, args: ['--config=settings']}]}")), "ConfigMap shop/settings", false,
			"but its name is in a text of a Pod, a volume or a custom resource",
		},
		"an argument, for why": {
			cluster(of("v1 ConfigMap shop/settings", ""), of("v1 Pod shop/web", "", "spec: {containers: [{name: a, args: ['--config=settings']}]}")), "ConfigMap shop/settings", true,
			"but its name is in spec.containers[].args[] of Pod shop/web",
		},
		"a name beside its namespace in a custom resource": {
			cluster(of("v1 ConfigMap shop/settings", ""), of("example.com/v1 Widget team/w", "", "spec: {configName: settings, configNamespace: shop}")), "ConfigMap shop/settings", true,
			"but its name is in spec.configName of Widget team/w",
		},
		"a name and a key beside its namespace": {
			cluster(of("v1 Secret shop/login", ""), of("example.com/v1 Widget team/w", "", "spec: {from: {key: login.tls.crt, namespace: shop}}")), "Secret shop/login", true,
			"but its name is in spec.from.key of Widget team/w",
		},
		"two texts": {
			cluster(of("v1 ConfigMap shop/settings", ""), of("v1 Pod shop/web", "annotations: {a.b/c: settings}", "spec: {containers: [{name: a, args: ['--config=settings']}]}")),
			"ConfigMap shop/settings", true, "but its name is in metadata.annotations[a.b/c] of Pod shop/web and 1 more",
		},
		"a binding for all accounts": {
			cluster(of("v1 ServiceAccount shop/robot", ""), of(rbac+"ClusterRole reader", ""),
				of(rbac+"ClusterRoleBinding all", "", binds("ClusterRole", "reader", "{kind: Group, name: 'system:serviceaccounts:shop'}"))),
			"ServiceAccount shop/robot", false, "but this may use it without its name: ClusterRoleBinding all",
		},
		"an Ingress for a certificate": {
			of("networking.k8s.io/v1 Ingress shop/web", "annotations: {cert-manager.io/issuer: a}", "spec: {rules: [{http: {paths: [{backend: {service: {name: gone}}}]}}]}"),
			"Ingress shop/web", false, "none of its backends exists: Service shop/gone; but it may be there for what reads its annotation cert-manager.io/issuer",
		},
		"a volume whose claim exists again": {
			cluster(of("v1 PersistentVolume old", "", "spec: {claimRef: {namespace: shop, name: data}}", "status: {phase: Released}"), of("v1 PersistentVolumeClaim shop/data", "")),
			"PersistentVolume old", false, "its claim was PersistentVolumeClaim shop/data, but a claim of that name exists again",
		},
		"a volume of a StatefulSet": {
			cluster(of("v1 PersistentVolume old", "", "spec: {claimRef: {namespace: shop, name: data-db-0}}", "status: {phase: Released}"),
				of("apps/v1 StatefulSet shop/db", "", "spec: {volumeClaimTemplates: [{metadata: {name: data}}]}")),
			"PersistentVolume old", false, "its claim was PersistentVolumeClaim shop/data-db-0, but a claim of that name is used by StatefulSet shop/db",
		},
		"a volume whose claim a Deployment names": {
			cluster(of("v1 PersistentVolume old", "", "spec: {claimRef: {namespace: shop, name: data}}", "status: {phase: Released}"),
				of("apps/v1 Deployment shop/web", "", "spec: {template: {spec: {containers: [], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}}")),
			"PersistentVolume old", false, "its claim was PersistentVolumeClaim shop/data, but a claim of that name is used by Deployment shop/web",
		},
		"the attributes of a volume": {
			cluster(of("v1 ConfigMap shop/settings", ""), of("v1 PersistentVolume v", "", "spec: {csi: {volumeAttributes: {config: settings}}}")), "ConfigMap shop/settings", true,
			"but its name is in spec.csi.volumeAttributes.config of PersistentVolume v",
		},
		"a volume in a custom resource": {
			cluster(of("v1 PersistentVolume pv-cr", "", "spec: {claimRef: {namespace: shop, name: data}, csi: {volumeAttributes: {volume: pv-cr}}}", "status: {phase: Released}"),
				of("example.com/v1 Widget shop/restore", "", "spec: {volume: pv-cr}")),
			"PersistentVolume pv-cr", false, "but its name is in a text of a Pod, a volume or a custom resource",
		},
		"a volume in an argument": {
			cluster(of("v1 PersistentVolume pv-arg", "", "status: {phase: Released}"), of("v1 Pod shop/web", "", "spec: {containers: [{name: a, args: ['--pv=pv-arg']}]}")),
			"PersistentVolume pv-arg", false, "but its name is in a text of a Pod, a volume or a custom resource",
		},
		"an Ingress in a custom resource": {
			cluster(of("networking.k8s.io/v1 Ingress shop/acme", "", "spec: {defaultBackend: {service: {name: gone}}}"), of("example.com/v1 Widget shop/a", "", "spec: {solvers: [{ingress: acme}]}")),
			"Ingress shop/acme", false, "but its name is in",
		},
		"an autoscaler in a custom resource": {
			cluster(of("autoscaling/v2 HorizontalPodAutoscaler shop/orders", "", "spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: gone}}"), of("example.com/v1 Widget shop/a", "", "spec: {scaler: orders}")),
			"HorizontalPodAutoscaler shop/orders", false, "but its name is in a text of a Pod, a volume or a custom resource",
		},
		"a Deployment in a custom resource": {
			cluster(of("apps/v1 Deployment shop/orders", "", "spec: {replicas: 0}"), of("example.com/v1 Widget shop/a", "", "spec: {wakes: orders}")),
			"Deployment shop/orders", false, "but its name is in",
		},
		"a Deployment in the arguments of a StatefulSet of the same name": {
			cluster(of("apps/v1 Deployment shop/orders", "", "spec: {replicas: 0}"), of("apps/v1 StatefulSet shop/orders", "", "spec: {template: {spec: {containers: [{name: a, args: [orders]}]}}}")),
			"Deployment shop/orders", false, "but its name is in",
		},
		"what only a weak finding uses": {
			cluster(of("v1 PersistentVolumeClaim shop/data", "", "spec: {storageClassName: slow}"), of("storage.k8s.io/v1 StorageClass slow", ""),
				of("v1 ConfigMap ci/runner", "", "data: {config.toml: shop/data}")),
			"StorageClass slow", false, "it is not sure that nothing needs PersistentVolumeClaim shop/data",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := finding.Options{Table: tableOf(t), Served: served(t), Now: now}
			if kind, rest, _ := strings.Cut(test.of, " "); test.watched {
				namespace, name, _ := strings.Cut(rest, "/")
				options.Watched = []graph.Name{{GroupKind: gk(kind), Namespace: namespace, Name: name}}
			}
			for _, f := range findWith(t, scenario{cluster: test.cluster}, options) {
				if f.String() == test.of && f.Type != v1alpha1.FindingDangling {
					if f.Confidence != "Weak" || !strings.Contains(f.Reason, test.want) {
						t.Errorf("%s: %s, want %q in it", f.Confidence, f.Reason, test.want)
					}
					return
				}
			}
			t.Errorf("%s is not found", test.of)
		})
	}
}

// What an object says of itself, and what its ReplicaSets say, shows no use of it.
func TestOwnTextsMakeNothingWeak(t *testing.T) {
	t.Parallel()
	template := "template: {spec: {containers: [{name: a, args: ['--name=orders', 'shop/orders']}]}}}"
	s := scenario{cluster: cluster(
		of("apps/v1 Deployment shop/orders", "", "spec: {replicas: 0, "+template),
		of("apps/v1 ReplicaSet shop/orders-1", "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: orders, uid: u, controller: true}]", "spec: {replicas: 0, "+template),
		of("v1 Service shop/orders", "annotations: {meta.helm.sh/release-name: orders, argocd.argoproj.io/tracking-id: 'orders:apps/Deployment:shop/orders'}", "spec: {selector: {app: orders}}"),
		of("v1 PersistentVolume pvc-123", "", "spec: {csi: {volumeAttributes: {name: pvc-123}}}", "status: {phase: Released}"),
	)}
	for _, f := range find(t, s) {
		if f.Kind.Kind != "Service" && f.Confidence != v1alpha1.ConfidenceCertain {
			t.Errorf("%s is %s: %s", f, f.Confidence, f.Reason)
		}
	}
}

// A Cleaner that asks for one row reads the texts in which a name may stand, and takes what it may not read for one of them.
func TestTextsAreReadForEachRow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ cluster, kind, typ string }{
		"PersistentVolume": {of("v1 PersistentVolume pv-arg", "", "status: {phase: Released}"), "PersistentVolume", "Unused"},
		"Deployment":       {of("apps/v1 Deployment shop/pv-arg", "", "spec: {replicas: 0}"), "Deployment.apps", "Idle"},
		"IngressClass":     {of("networking.k8s.io/v1 IngressClass pv-arg", ""), "IngressClass.networking.k8s.io", "Unused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := finding.Options{Table: tableOf(t), Served: served(t), Now: now, Wanted: []finding.Want{{Kind: gk(test.kind), Type: v1alpha1.FindingType(test.typ)}}}
			user := of("v1 Pod shop/web", "", "spec: {containers: [{name: a, args: ['--name=pv-arg']}]}")
			for confidence, s := range map[v1alpha1.FindingConfidence]scenario{
				"read Weak": {cluster: cluster(test.cluster, user)}, "unread Weak": {cluster: test.cluster, unread: []string{"Widget"}}, "none": {cluster: test.cluster},
			} {
				found := findWith(t, s, options)
				_, want, _ := strings.Cut(string(confidence), " ")
				if len(found) != 1 || (found[0].Confidence == v1alpha1.ConfidenceWeak) != (want == "Weak") && len(found[0].Unknown) == 0 {
					t.Errorf("%s: %v", confidence, found)
				}
			}
		})
	}
}

// What a reason counts, Sources lists: for each kind that nothing names.
func TestSourcesAreWhatWasCounted(t *testing.T) {
	t.Parallel()
	for kind, text := range map[string]string{
		"Service":               of("v1 Service shop/a", "", "spec: {selector: {a: b}}"),
		"ConfigMap":             of("v1 ConfigMap shop/a", ""),
		"PersistentVolumeClaim": of("v1 PersistentVolumeClaim shop/a", ""),
		"ServiceAccount":        of("v1 ServiceAccount shop/a", ""),
	} {
		f := finding.New(finding.Options{Table: tableOf(t), Served: served(t), Now: now})
		for _, list := range f.Lists() {
			if list.Kind.Kind == kind {
				f.Look(list, load(t, text, 0, served(t)))
			}
		}
		searched, unread := f.Sources(gk(kind))
		found := slices.Collect(f.Findings())
		if len(found) != 1 || found[0].Searched != len(searched) || len(unread) > 0 {
			t.Errorf("%s: the finding counts %d kinds, and %d are listed: %v", kind, found[0].Searched, len(searched), searched)
		}
	}
}

// A custom resource of the whole cluster may name a workload that something scales up. A volume does not.
func TestIdleWithoutClusterScopedTexts(t *testing.T) {
	t.Parallel()
	issuer := kindOf(t, "cert-manager.io/v1", "ClusterIssuer")
	issuer.Namespaced = false
	for unread, want := range map[string]string{
		"ClusterIssuer":    "Deployment shop/a Idle unknown",
		"PersistentVolume": "Deployment shop/a Idle",
		"StorageClass":     "Deployment shop/a Idle",
	} {
		options := finding.Options{Table: tableOf(t), Served: append(served(t), issuer), Now: now}
		s := scenario{cluster: of("apps/v1 Deployment shop/a", "", zero), unread: []string{unread}}
		if got := lines(findWith(t, s, options)); got != want {
			t.Errorf("without %s, found %q, want %q", unread, got, want)
		}
	}
}
