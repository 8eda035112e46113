// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package graph knows which objects name which. A table says which fields of which kinds hold references; a Graph takes
// the references of objects as they pass, and keeps no more of them than it takes to answer who uses an object. All of
// it is pure.
package graph

import (
	"hash/maphash"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Name names one object. The version is left out: one object is served in several.
type Name struct {
	schema.GroupKind
	// Namespace is empty for what is cluster-scoped.
	Namespace, Name string
}

// String names the object for people: "ConfigMap shop/settings".
func (n Name) String() string {
	if n.Namespace == "" {
		return n.Kind + " " + n.Name
	}
	return n.Kind + " " + n.Namespace + "/" + n.Name
}

// key stands for a Name. Two names with one key would both look used, which is safe.
type key uint64

var seed = maphash.MakeSeed()

func (n Name) key() key {
	return key(maphash.Comparable(seed, n))
}

// groups are those of kinds that references name without them. No other kind of Kubernetes has these names.
var groups = map[string]string{
	"Role": rbacGroup, "ClusterRole": rbacGroup, "StorageClass": "storage.k8s.io", "PriorityClass": "scheduling.k8s.io",
	"RuntimeClass": "node.k8s.io", "IngressClass": "networking.k8s.io", "VolumeSnapshotClass": "snapshot.storage.k8s.io",
}

// kindIn is a kind in its group, which may be left out.
func kindIn(group, kind string) schema.GroupKind {
	if group == "" {
		group = groups[kind]
	}
	return schema.GroupKind{Group: group, Kind: kind}
}

// serviceIn is the Service whose DNS name is the host of a URL, or the text itself: NAME.NAMESPACE.svc, with or without
// the domain of the cluster. Empty when it is none.
func serviceIn(text string) (namespace, name string) {
	_, host, isURL := strings.Cut(text, "://")
	if !isURL {
		host = text
	}
	if end := strings.IndexAny(host, ":/?#"); end >= 0 {
		host = host[:end]
	}
	if labels := strings.SplitN(host, ".", 4); len(labels) > 2 && labels[2] == "svc" {
		return labels[1], labels[0]
	}
	return "", ""
}
