// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

var (
	// remoteStores read the Secrets of a namespace on behalf of others.
	remoteStores = irregularity{
		names: []schema.GroupKind{secretKind},
		add:   addRemoteSecrets,
		about: "`spec.provider.kubernetes.remoteNamespace` (`default` when absent): any of its Secrets may be read (strength Hints)",
	}
	projects = irregularity{
		names: []schema.GroupKind{serviceAccountKind},
		add:   addDeployers,
		about: "`spec.destinationServiceAccounts[].defaultServiceAccount`, which may have a namespace and a colon before the name; " +
			"else the account is in the namespace of the destination",
	}
)

// addDeployers adds the accounts with which Argo CD deploys the applications of a project.
func addDeployers(w *walker) {
	for destination := range w.object.At("spec", "destinationServiceAccounts").Elements() {
		account := destination.Field("defaultServiceAccount").Text()
		namespace, name, isWhole := strings.Cut(account, ":")
		if !isWhole {
			namespace, name = cmp.Or(destination.Field("namespace").Text(), "*"), account
		}
		w.named(
			Name{GroupKind: serviceAccountKind, Namespace: namespace, Name: name},
			"spec.destinationServiceAccounts[].defaultServiceAccount",
			Names,
		)
	}
}

// addRemoteSecrets adds the Secrets that a store of External Secrets takes from a cluster, which may be this one.
// Which of them, only those say who ask the store.
func addRemoteSecrets(w *walker) {
	provider := w.object.At("spec", "provider", "kubernetes")
	if provider.Type() != object.Map {
		return
	}
	namespace := cmp.Or(provider.Field("remoteNamespace").Text(), "default")
	w.each(Edge{
		To:       Name{GroupKind: secretKind, Namespace: namespace, Name: "*"},
		Path:     "spec.provider.kubernetes.remoteNamespace",
		Strength: Hints,
	})
}
