// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

var secretScenarios = map[string]scenario{
	"Secrets by their types": {
		cluster: cluster(of("v1 Secret shop/used", ""), of("v1 Secret shop/unused", ""), of("v1 Secret shop/asleep", ""),
			of("v1 Secret shop/tls", "", "type: kubernetes.io/tls"), of("v1 Secret shop/pull", "", "type: kubernetes.io/dockerconfigjson"),
			of("v1 Secret shop/sh.helm.release.v1.web.v1", "", "type: helm.sh/release.v1"),
			of("v1 Secret shop/bootstrap", "", "type: bootstrap.kubernetes.io/token"),
			of("v1 ServiceAccount shop/default", "", "imagePullSecrets: [{name: pull}]"),
			of("v1 Pod shop/web", "", "spec: {containers: [{name: a, env: [{name: A, valueFrom: {secretKeyRef: {name: used, key: a}}}]}]}"),
			of("apps/v1 StatefulSet shop/night", "", "spec: {replicas: 0, template: {spec: {containers: [], volumes: [{name: a, secret: {secretName: asleep}}]}}}")),
		want: `
Secret shop/asleep Cascading
Secret shop/tls Unused
Secret shop/unused Unused
StatefulSet shop/night Idle`,
	},
	"popeye PR 58: the certificate of an Ingress": {
		cluster: cluster(of("v1 Secret shop/tls", "", "type: kubernetes.io/tls"), of("v1 Service shop/web", ""),
			of("networking.k8s.io/v1 Ingress shop/web", "", "spec: {tls: [{secretName: tls}, {hosts: [a]}], defaultBackend: {service: {name: web}}}")),
	},
	"tokens of accounts": {
		cluster: cluster(of("v1 ServiceAccount shop/robot", ""),
			of("v1 Secret shop/robot", "annotations: {kubernetes.io/service-account.name: robot}", "type: kubernetes.io/service-account-token"),
			of("v1 Secret shop/gone", "annotations: {kubernetes.io/service-account.name: gone}", "type: kubernetes.io/service-account-token")),
		want: "Secret shop/gone Unused",
	},
	"tokens of accounts that may not be read": {
		cluster: of("v1 Secret shop/robot", "annotations: {kubernetes.io/service-account.name: robot}", "type: kubernetes.io/service-account-token"),
		unread:  []string{"ServiceAccount"},
		want:    "Secret shop/robot Unused unknown",
	},
	"Secrets that controllers find by a label": {
		cluster: cluster(of("v1 Secret argocd/repo", "labels: {argocd.argoproj.io/secret-type: repository}"),
			of("v1 Secret kube-system/sealed-secrets-key", "labels: {sealedsecrets.bitnami.com/sealed-secrets-key: active}", "type: kubernetes.io/tls"),
			of("v1 Secret kube-system/n1.node-password.k3s", ""), of("v1 Secret kube-system/not.node-password.k3s.mine", "")),
		want: "Secret kube-system/not.node-password.k3s.mine Unused",
	},
}
