// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"strings"
	"testing"
)

// Argo CD deploys with an account of the project; External Secrets reads the Secrets of another namespace.
func TestDelegated(t *testing.T) {
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	g := New(table, nil)
	for _, o := range loaded(t, strings.TrimSpace(`
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {namespace: argocd, name: p}
spec: {destinationServiceAccounts: [{namespace: shop, defaultServiceAccount: deployer}, {namespace: shop, defaultServiceAccount: "infra:privileged"}, {namespace: "team-*", defaultServiceAccount: robot}, {defaultServiceAccount: anywhere}]}
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {namespace: shop, name: near}
spec: {provider: {kubernetes: {remoteNamespace: vault}}}
---
apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata: {name: defaulted}
spec: {provider: {kubernetes: {server: {url: kubernetes.default}}}}
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {namespace: shop, name: far}
spec: {provider: {aws: {region: r}}}`)) {
		g.Add(o.Parts())
	}
	for name, want := range map[string]bool{
		"shop/deployer": true, "infra/privileged": true, "team-a/robot": true, "any/anywhere": true,
		"argocd/deployer": false, "shop/privileged": false, "other/robot": false,
	} {
		if got := g.Use(named("ServiceAccount " + name)).IsUsed(); got != want {
			t.Errorf("the account %s is used: %t", name, got)
		}
	}
	for name, want := range map[string]bool{"vault/a": true, "default/a": true, "shop/a": false} {
		if use := g.Use(named("Secret " + name)); use.Hinted != want || use.IsUsed() {
			t.Errorf("the Secret %s may be read by a store: %t; it is used: %t", name, use.Hinted, use.IsUsed())
		}
	}
}
