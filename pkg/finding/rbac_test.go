// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

const rbac = "rbac.authorization.k8s.io/v1 "

// binds is a reference to a role and its subjects.
func binds(kind, role, subjects string) string {
	return "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: " + kind + ", name: '" + role + "'}\nsubjects: [" + subjects + "]"
}

// makesBindings is a role that lets somebody make RoleBindings.
func makesBindings(role string) string {
	return of(rbac+role, "", "rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], verbs: [get, create]}]")
}

const (
	user  = "{kind: User, apiGroup: rbac.authorization.k8s.io, name: me}"
	robot = "{kind: ServiceAccount, name: robot, namespace: ci}"
	gone  = "{kind: ServiceAccount, name: gone, namespace: shop}"
)

var roleScenarios = map[string]scenario{
	"Roles": {
		cluster: cluster(of(rbac+"Role shop/used", ""), of(rbac+"Role shop/same", ""), of(rbac+"ClusterRole same", ""), of(rbac+"Role shop/left", ""), of(rbac+"ClusterRole left", ""),
			of(rbac+"Role shop/asleep", ""), of(rbac+"ClusterRole asleep", ""), of(rbac+"ClusterRole used", ""),
			of("v1 Pod ci/a", "", "spec: {serviceAccountName: robot, containers: []}"), of("v1 ServiceAccount ci/robot", ""),
			of(rbac+"RoleBinding shop/a", "", binds("Role", "used", robot)), of(rbac+"RoleBinding shop/b", "", binds("ClusterRole", "same", user)),
			of(rbac+"RoleBinding shop/c", "", binds("Role", "asleep", gone)), of(rbac+"ClusterRoleBinding c", "", binds("ClusterRole", "asleep", gone)),
			of(rbac+"ClusterRoleBinding d", "", binds("ClusterRole", "used", user))),
		want: `
ClusterRole asleep Cascading
ClusterRole left Unused
ClusterRoleBinding c Unused
Role shop/asleep Cascading
Role shop/left Unused
Role shop/same Unused
RoleBinding shop/c Unused`,
	},
	"detectors.md 3: a ClusterRole that somebody may bind later": {
		cluster: cluster(of(rbac+"ClusterRole bindable", ""), of(rbac+"ClusterRole nobodys", ""), of(rbac+"Role shop/other", ""),
			of(rbac+"ClusterRole binder", "", "rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [bindable, other], verbs: [bind]}]"),
			of(rbac+"ClusterRoleBinding b", "", binds("ClusterRole", "binder", user))),
		want: "ClusterRole bindable Unused unknown\nClusterRole nobodys Unused\nRole shop/other Unused",
	},
	"detectors.md 3: a Role that an operator may bind later": {
		cluster: cluster(of(rbac+"Role shop/left", ""), of(rbac+"Role ci/left", ""), of(rbac+"ClusterRole left", ""), makesBindings("Role ci/operator"),
			of(rbac+"RoleBinding ci/a", "", binds("Role", "operator", user))),
		want: "ClusterRole left Unused\nRole ci/left Unused weak\nRole shop/left Unused",
	},
	"a ClusterRole that lets somebody make bindings may be for all roles but itself": {
		cluster: cluster(of(rbac+"Role shop/left", ""), of(rbac+"ClusterRole left", ""), makesBindings("ClusterRole operator"),
			of(rbac+"RoleBinding shop/used", "", binds("Role", "gone", user))),
		want: "ClusterRole left Unused weak\nClusterRole operator Unused\nRole shop/left Unused weak\nRoleBinding shop/used Unused",
	},
	"what people have, and what Kubernetes makes, binds nothing later": {
		cluster: cluster(of(rbac+"ClusterRole left", ""),
			of(rbac+"ClusterRole admin", "labels: {kubernetes.io/bootstrapping: rbac-defaults}", "rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], verbs: ['*']}]"),
			of(rbac+"ClusterRole all", "", "rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]"), of(rbac+"ClusterRoleBinding a", "", binds("ClusterRole", "all", user)),
			of(rbac+"ClusterRole reads", "", "rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], verbs: [get, list, watch]}]"),
			of(rbac+"ClusterRoleBinding b", "", binds("ClusterRole", "reads", user))),
		want: "ClusterRole left Unused",
	},
	"a Role where ClusterRoles cannot be read": {
		cluster: cluster(of(rbac+"Role shop/left", "")), unread: []string{"ClusterRole"},
		want: "Role shop/left Unused unknown",
	},
	"kor#608: ClusterRoles whose rules another takes": {
		cluster: cluster(
			of(rbac+"ClusterRole view", "labels: {kubernetes.io/bootstrapping: rbac-defaults}", "aggregationRule: {clusterRoleSelectors: [{matchLabels: {to-view: 'true'}}]}"),
			of(rbac+"ClusterRole all", "", "aggregationRule: {clusterRoleSelectors: [{matchExpressions: [{key: to-all, operator: Exists}], matchLabels: {and: this}}, {matchLabels: {or: that}}]}"),
			of(rbac+"ClusterRole nobody", "", "aggregationRule: {clusterRoleSelectors: [{matchLabels: {to-nobody: 'true'}}]}"),
			of(rbac+"ClusterRole widgets-view", "labels: {to-view: 'true'}"), of(rbac+"ClusterRole both", "labels: {to-all: a, and: this}"), of(rbac+"ClusterRole one", "labels: {to-all: a}"),
			of(rbac+"ClusterRole other", "labels: {or: that}"), of(rbac+"ClusterRole for-nobody", "labels: {to-nobody: 'true'}"),
			of(rbac+"ClusterRoleBinding a", "", binds("ClusterRole", "all", user))),
		want: "ClusterRole for-nobody Cascading\nClusterRole nobody Unused\nClusterRole one Unused",
	},
	"kor#335: bindings": {
		cluster: cluster(of(rbac+"Role shop/r", ""), of("v1 ServiceAccount ci/robot", ""), of("v1 Pod ci/a", "", "spec: {serviceAccountName: robot, containers: []}"),
			of(rbac+"ClusterRole view", "labels: {kubernetes.io/bootstrapping: rbac-defaults}"),
			of(rbac+"RoleBinding shop/good", "", binds("Role", "r", robot)), of(rbac+"RoleBinding shop/view", "", binds("ClusterRole", "view", robot)),
			of(rbac+"RoleBinding shop/user", "", binds("Role", "r", user)), of(rbac+"RoleBinding shop/mixed", "", binds("Role", "r", gone+", "+user)),
			of(rbac+"RoleBinding shop/one-of-two", "", binds("Role", "r", gone+", "+robot)), of(rbac+"RoleBinding shop/accounts-gone", "", binds("Role", "r", gone)),
			of(rbac+"RoleBinding shop/role-gone", "", binds("Role", "nothing", user)), of(rbac+"RoleBinding shop/kind", "", binds("ClusterRole", "r", user)),
			of(rbac+"RoleBinding shop/nobody", "", binds("Role", "r", "")),
			of(rbac+"RoleBinding shop/as-user", "", binds("Role", "r", "{kind: User, name: 'system:serviceaccount:shop:gone'}")),
			of(rbac+"RoleBinding shop/as-group", "", binds("Role", "r", "{kind: Group, name: 'system:serviceaccounts:shop'}")),
			of(rbac+"RoleBinding shop/own-namespace", "", binds("Role", "r", "{kind: ServiceAccount, name: robot}")),
			of(rbac+"ClusterRoleBinding good", "", binds("ClusterRole", "view", robot)), of(rbac+"ClusterRoleBinding left", "", binds("ClusterRole", "nothing", user)),
			of(rbac+"ClusterRoleBinding kubeadm:node", "", binds("ClusterRole", "nothing", user)), of(rbac+"ClusterRoleBinding kubelet-api", "", binds("ClusterRole", "nothing", user))),
		want: `
ClusterRoleBinding left Unused
RoleBinding shop/accounts-gone Unused
RoleBinding shop/as-user Unused
RoleBinding shop/kind Unused
RoleBinding shop/nobody Unused weak
RoleBinding shop/own-namespace Unused
RoleBinding shop/role-gone Unused`,
	},
	"bindings in manifests without what Kubernetes makes in each cluster": {
		cluster: cluster(of(rbac+"ClusterRole own", ""), of("v1 ServiceAccount shop/robot", ""), of("v1 ConfigMap shop/c", ""), of("scheduling.k8s.io/v1 PriorityClass own", "", "value: 1"),
			of(rbac+"RoleBinding shop/view", "", binds("ClusterRole", "view", user)), of(rbac+"ClusterRoleBinding auth", "", binds("ClusterRole", "system:auth-delegator", user)),
			of(rbac+"RoleBinding shop/default", "", binds("ClusterRole", "own", "{kind: ServiceAccount, name: default, namespace: shop}")),
			of(rbac+"RoleBinding shop/of-another", "", binds("ClusterRole", "own", "{kind: ServiceAccount, name: default, namespace: gone}")),
			of(rbac+"RoleBinding shop/local", "", binds("Role", "view", user)),
			of("v1 Pod shop/a", "", "spec: {serviceAccountName: default, priorityClassName: system-node-critical, "+
				"volumes: [{configMap: {name: kube-root-ca.crt}}, {configMap: {name: c}}], containers: []}")),
		want: "ServiceAccount shop/robot Unused\nRoleBinding shop/local Unused\nRoleBinding shop/of-another Unused\nPriorityClass own Unused",
	},
	"bindings when ClusterRoles may not be read": {
		cluster: cluster(of(rbac+"RoleBinding shop/a", "", binds("ClusterRole", "view", user)), of(rbac+"RoleBinding shop/accounts-gone", "", binds("ClusterRole", "view", gone)),
			of(rbac+"ClusterRoleBinding a", "", binds("ClusterRole", "view", user))),
		unread: []string{"ClusterRole"},
		want:   "ClusterRoleBinding a Unused unknown\nRoleBinding shop/a Unused unknown\nRoleBinding shop/accounts-gone Unused",
	},
	"bindings when ServiceAccounts may not be read": {
		cluster: cluster(of(rbac+"Role shop/r", ""), of(rbac+"RoleBinding shop/a", "", binds("Role", "r", gone)), of(rbac+"RoleBinding shop/b", "", binds("Role", "r", user)),
			of(rbac+"RoleBinding shop/role-gone", "", binds("Role", "nothing", gone))),
		unread: []string{"ServiceAccount"},
		want:   "RoleBinding shop/a Unused unknown\nRoleBinding shop/role-gone Unused",
	},
	"roles when bindings may not be read": {
		cluster: cluster(of(rbac+"Role shop/a", ""), of(rbac+"ClusterRole a", ""), of(rbac+"ClusterRole admin", "")), unread: []string{"RoleBinding"},
		want: "ClusterRole a Unused unknown\nRole shop/a Unused unknown",
	},
}

var selectiveScenarios = map[string]scenario{
	"popeye#100: budgets": {
		cluster: cluster(of("v1 Pod shop/web", "labels: {app: web}"), of("apps/v1 StatefulSet shop/zero", "annotations: {previous-replicas: '1'}", "spec: {replicas: 0, template: {metadata: {labels: {app: db}}}}"),
			of("example.com/v1 Widget shop/a", "", "spec: {template: {metadata: {labels: {app: widget}}}}"),
			of("policy/v1 PodDisruptionBudget shop/web", "", "spec: {selector: {matchLabels: {app: web}}}"), of("policy/v1 PodDisruptionBudget shop/second", "", "spec: {selector: {matchLabels: {app: web}}}"),
			of("policy/v1 PodDisruptionBudget shop/expressions", "", "spec: {selector: {matchExpressions: [{key: app, operator: In, values: [db]}]}}"),
			of("policy/v1 PodDisruptionBudget shop/widget", "", "spec: {selector: {matchLabels: {app: widget}}}"),
			of("policy/v1 PodDisruptionBudget shop/all", "", "spec: {selector: {}}"), of("policy/v1 PodDisruptionBudget empty/all", "", "spec: {selector: {}}"),
			of("policy/v1 PodDisruptionBudget shop/none", "", "spec: {}"), of("policy/v1 PodDisruptionBudget team/web", "", "spec: {selector: {matchLabels: {app: web}}}"),
			of("policy/v1 PodDisruptionBudget shop/left", "", "spec: {selector: {matchExpressions: [{key: app, operator: In, values: [gone]}]}}")),
		want: `
PodDisruptionBudget empty/all Unused
PodDisruptionBudget shop/left Unused
PodDisruptionBudget shop/none Unused
PodDisruptionBudget team/web Unused`,
	},
	"budgets that ask for no label, beside custom resources": {
		cluster: cluster(of("example.com/v1 Widget shop/a", ""), of("policy/v1 PodDisruptionBudget shop/all", "", "spec: {selector: {}}"), of("policy/v1 PodDisruptionBudget team/all", "", "spec: {selector: {}}"),
			of("policy/v1 PodDisruptionBudget shop/others", "", "spec: {selector: {matchExpressions: [{key: app, operator: NotIn, values: [batch]}]}}")),
		want: `
PodDisruptionBudget shop/all Unused weak
PodDisruptionBudget shop/others Unused weak
PodDisruptionBudget team/all Unused`,
	},
	"budgets and Services of Pods that a program makes": {
		cluster: cluster(of("policy/v1 PodDisruptionBudget hub/user", "", "spec: {selector: {matchLabels: {app: user}}}"), of("v1 Service hub/user", "", "spec: {selector: {app: user}}"),
			of("policy/v1 PodDisruptionBudget shop/user", "", "spec: {selector: {matchLabels: {app: user}}}"), of("v1 Service shop/user", "", "spec: {selector: {app: user}}"),
			of(rbac+"Role hub/spawner", "", "rules: [{apiGroups: [''], resources: [pods], verbs: [create]}]"), of(rbac+"RoleBinding hub/spawner", "", binds("Role", "spawner", clock))),
		want: `
Service hub/user Unused weak
Service shop/user Unused
PodDisruptionBudget hub/user Unused weak
PodDisruptionBudget shop/user Unused
Role hub/spawner Cascading
RoleBinding hub/spawner Unused`,
	},
	"budgets and Services when Roles may not be read": {
		cluster: cluster(of("policy/v1 PodDisruptionBudget shop/user", "", "spec: {selector: {matchLabels: {app: user}}}"), of("v1 Service shop/user", "", "spec: {selector: {app: user}}")), unread: []string{"Role"},
		want: "Service shop/user Unused unknown\nPodDisruptionBudget shop/user Unused unknown",
	},
	"policies": {
		cluster: cluster(of("v1 Pod shop/web", "labels: {app: web}"),
			of("networking.k8s.io/v1 NetworkPolicy shop/web", "", "spec: {podSelector: {matchLabels: {app: web}}, ingress: [{}]}"),
			of("networking.k8s.io/v1 NetworkPolicy empty/default-deny", "", "spec: {podSelector: {}, policyTypes: [Ingress]}"),
			of("networking.k8s.io/v1 NetworkPolicy empty/default-allow", "", "spec: {podSelector: {}, ingress: [{}]}"),
			of("networking.k8s.io/v1 NetworkPolicy shop/denies", "", "spec: {podSelector: {matchLabels: {app: gone}}}"),
			of("networking.k8s.io/v1 NetworkPolicy shop/denies-egress", "", "spec: {podSelector: {matchLabels: {app: gone}}, ingress: [{}], policyTypes: [Ingress, Egress]}"),
			of("networking.k8s.io/v1 NetworkPolicy team/peer", "", "spec: {podSelector: {matchLabels: {app: api}}, ingress: [{from: [{podSelector: {matchLabels: {app: web}}}]}]}"),
			of("networking.k8s.io/v1 NetworkPolicy team/web", "", "spec: {podSelector: {matchLabels: {app: web}}, ingress: [{}]}")),
		want: "NetworkPolicy team/peer Unused\nNetworkPolicy team/web Unused",
	},
	"selectors when a kind of templates may not be read": {
		cluster: cluster(of("policy/v1 PodDisruptionBudget shop/a", "", "spec: {selector: {matchLabels: {app: web}}}"),
			of("networking.k8s.io/v1 NetworkPolicy shop/a", "", "spec: {podSelector: {matchLabels: {app: web}}, ingress: [{}]}")),
		unread: []string{"Widget"},
		want:   "NetworkPolicy shop/a Unused unknown\nPodDisruptionBudget shop/a Unused unknown",
	},
}

var routingScenarios = map[string]scenario{
	"bindings of no role when a custom resource may name them": {
		cluster: of(rbac+"RoleBinding shop/a", "", binds("Role", "gone", user)), unread: []string{"Widget"}, want: "RoleBinding shop/a Unused weak",
	},
	"what leads nowhere when a custom resource may name it": {
		cluster: cluster(of("networking.k8s.io/v1 Ingress shop/dead", "", "spec: {defaultBackend: {service: {name: gone}}}"),
			of("autoscaling/v2 HorizontalPodAutoscaler shop/gone", "", "spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: gone}}"),
			of("apps/v1 ReplicaSet shop/old", "annotations: {deployment.kubernetes.io/revision: '1'}", "spec: {replicas: 0}", "status: {replicas: 0}")),
		unread: []string{"Widget"},
		want: `
ReplicaSet shop/old Unused unknown
HorizontalPodAutoscaler shop/gone Unused unknown
Ingress shop/dead Dangling
Ingress shop/dead Unused unknown`,
	},
	"Ingresses": {
		cluster: cluster(of("v1 Service shop/web", ""), of("networking.k8s.io/v1 IngressClass nginx", ""),
			of("networking.k8s.io/v1 Ingress shop/good", "", "spec: {ingressClassName: nginx, rules: [{http: {paths: [{backend: {service: {name: web}}}]}}]}"),
			of("networking.k8s.io/v1 Ingress shop/half", "", "spec: {defaultBackend: {service: {name: web}}, rules: [{http: {paths: [{backend: {service: {name: gone}}}]}}]}"),
			of("networking.k8s.io/v1 Ingress shop/bucket", "", "spec: {defaultBackend: {resource: {kind: Bucket, name: a}}, rules: [{http: {paths: [{backend: {service: {name: gone}}}]}}]}"),
			of("networking.k8s.io/v1 Ingress shop/dead", "", "spec: {rules: [{http: {paths: [{backend: {service: {name: gone}}}, {backend: {service: {name: away}}}]}}]}"),
			of("networking.k8s.io/v1 Ingress shop/classless", "", "spec: {ingressClassName: gone, defaultBackend: {service: {name: web}}}")),
		want: `
Ingress shop/bucket Dangling
Ingress shop/classless Unused weak
Ingress shop/dead Unused
Ingress shop/half Dangling`,
	},
	"Ingresses whose controllers answer without a Service": {
		cluster: cluster(
			of("networking.k8s.io/v1 Ingress shop/alb", "annotations: {alb.ingress.kubernetes.io/actions.ssl-redirect: '{}'}",
				"spec: {rules: [{http: {paths: [{backend: {service: {name: ssl-redirect, port: {name: use-annotation}}}}]}}]}"),
			of("networking.k8s.io/v1 Ingress shop/moved", "annotations: {nginx.ingress.kubernetes.io/permanent-redirect: https://a.b}", "spec: {rules: [{http: {paths: [{backend: {service: {name: dummy}}}]}}]}"),
			of("networking.k8s.io/v1 Ingress shop/moved-for-now", "annotations: {nginx.ingress.kubernetes.io/temporal-redirect: https://a.b}", "spec: {rules: [{http: {paths: [{backend: {service: {name: dummy}}}]}}]}"),
			of("networking.k8s.io/v1 Ingress shop/snippet", "annotations: {nginx.ingress.kubernetes.io/server-snippet: return 200;}", "spec: {rules: [{http: {paths: [{backend: {service: {name: dummy}}}]}}]}"),
			of("networking.k8s.io/v1 Ingress shop/master", "annotations: {nginx.org/mergeable-ingress-type: master}", "spec: {rules: [{host: a.b}]}")),
	},
	"an Ingress for the plugins of Kong": {
		cluster: of("networking.k8s.io/v1 Ingress shop/kong", "annotations: {konghq.com/plugins: a}", "spec: {rules: [{host: a.b, http: {paths: [{backend: {service: {name: gone}}}]}}]}"),
		want:    "Ingress shop/kong Dangling\nIngress shop/kong Unused weak",
	},
	"Ingresses that cert-manager or external-dns read": {
		cluster: cluster(
			of("networking.k8s.io/v1 Ingress shop/issued", "annotations: {cert-manager.io/cluster-issuer: main}", "spec: {rules: [{host: a.b, http: {paths: [{backend: {service: {name: gone}}}]}}]}"),
			of("networking.k8s.io/v1 Ingress shop/acme", "annotations: {kubernetes.io/tls-acme: 'true'}", "spec: {rules: [{host: a.b, http: {paths: [{backend: {service: {name: gone}}}]}}]}"),
			of("networking.k8s.io/v1 Ingress shop/solved", "annotations: {acme.cert-manager.io/http01-edit-in-place: 'true'}", "spec: {rules: [{host: a.b, http: {paths: [{backend: {service: {name: gone}}}]}}]}"),
			of("networking.k8s.io/v1 Ingress shop/named", "annotations: {external-dns.alpha.kubernetes.io/target: 1.1.1.1}", "spec: {rules: [{host: a.b, http: {paths: [{backend: {service: {name: gone}}}]}}]}"),
			of("networking.k8s.io/v1 Ingress shop/plain", "annotations: {cert-manager.example.com/a: b}", "spec: {rules: [{host: a.b, http: {paths: [{backend: {service: {name: gone}}}]}}]}")),
		want: `
Ingress shop/acme Dangling
Ingress shop/acme Unused weak
Ingress shop/issued Dangling
Ingress shop/issued Unused weak
Ingress shop/named Dangling
Ingress shop/named Unused weak
Ingress shop/plain Unused
Ingress shop/solved Dangling
Ingress shop/solved Unused weak`,
	},
	"Ingresses when Services may not be read": {
		cluster: of("networking.k8s.io/v1 Ingress shop/a", "", "spec: {defaultBackend: {service: {name: web}}}"), unread: []string{"Service"}, want: "Ingress shop/a Unused unknown",
	},
	"Ingresses when their classes may not be read": {
		cluster: cluster(of("v1 Service shop/web", ""), of("networking.k8s.io/v1 Ingress shop/a", "", "spec: {ingressClassName: nginx, defaultBackend: {service: {name: web}}}")), unread: []string{"IngressClass"},
		want: "Ingress shop/a Unused unknown",
	},
	"autoscalers": {
		cluster: cluster(of("apps/v1 Deployment shop/web", "", "spec: {replicas: 1}"), of("argoproj.io/v1alpha1 Rollout shop/web", "", "spec: {replicas: 1}"), of("example.com/v1 Widget shop/other", ""),
			of("autoscaling/v2 HorizontalPodAutoscaler shop/web", "", "spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}"),
			of("autoscaling/v2 HorizontalPodAutoscaler shop/old-version", "", "spec: {scaleTargetRef: {apiVersion: apps/v1beta2, kind: Deployment, name: web}}"),
			of("autoscaling/v2 HorizontalPodAutoscaler shop/rollout", "", "spec: {scaleTargetRef: {apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web}}"),
			of("autoscaling/v2 HorizontalPodAutoscaler shop/unserved", "", "spec: {scaleTargetRef: {apiVersion: gone.example.com/v1, kind: Thing, name: web}}"),
			of("autoscaling/v2 HorizontalPodAutoscaler shop/left", "", "spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: gone}}")),
		want: "HorizontalPodAutoscaler shop/left Unused\nHorizontalPodAutoscaler shop/unserved Unused unknown",
	},
	"autoscalers when Deployments may not be read": {
		cluster: of("autoscaling/v2 HorizontalPodAutoscaler shop/a", "", "spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}"), unread: []string{"Deployment"},
		want: "HorizontalPodAutoscaler shop/a Unused unknown",
	},
}
