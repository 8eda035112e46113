// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// anchors are kinds that are unused when nothing names them, and the scope of their objects. Some people make one only
// to own other objects: who deletes it deletes all of them.
var anchors = map[schema.GroupKind]struct{ inCluster bool }{
	configMapKind:      {},
	secretKind:         {},
	serviceAccountKind: {},
	roleKind:           {},
	clusterRoleKind:    {inCluster: true},
}

// eachAnchor visits the anchors that own an object. They need not exist: the garbage collector is slower than we.
func eachAnchor(o *object.Parts, visit func(Edge)) {
	for owner := range o.At("metadata", "ownerReferences").Elements() {
		kind := kindIn(groupOf(owner.Field("apiVersion").Text()), owner.Field("kind").Text())
		anchor, is := anchors[kind]
		if !is {
			continue
		}
		to := Name{GroupKind: kind, Namespace: o.Namespace, Name: owner.Field("name").Text()}
		if anchor.inCluster {
			to.Namespace = ""
		}
		visit(Edge{To: to, Path: "metadata.ownerReferences[].name", Optional: true, Strength: Names})
	}
}
