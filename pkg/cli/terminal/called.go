// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// shortNames are what kubectl's users call the kinds that they write most often.
var shortNames = map[string]string{
	"ConfigMap":                "cm",
	"Service":                  "svc",
	"ServiceAccount":           "sa",
	"PersistentVolume":         "pv",
	"PersistentVolumeClaim":    "pvc",
	"Namespace":                "ns",
	"Node":                     "no",
	"Pod":                      "po",
	"ReplicationController":    "rc",
	"Deployment":               "deploy",
	"StatefulSet":              "sts",
	"DaemonSet":                "ds",
	"ReplicaSet":               "rs",
	"CronJob":                  "cj",
	"HorizontalPodAutoscaler":  "hpa",
	"PodDisruptionBudget":      "pdb",
	"Ingress":                  "ing",
	"NetworkPolicy":            "netpol",
	"StorageClass":             "sc",
	"PriorityClass":            "pc",
	"CustomResourceDefinition": "crd crds",
}

// ShortNames are what kubectl's users call a built-in kind besides its name.
func ShortNames(kind string) []string { return strings.Fields(shortNames[kind]) }

// IsCalled reports whether users call a kind so: by its name, its plural, or a short name of kubectl, each also with
// its group, as deployments.apps. It asks no cluster.
func IsCalled(kind schema.GroupKind, word string) bool {
	name, group, hasGroup := strings.Cut(strings.ToLower(word), ".")
	if hasGroup && group != kind.Group {
		return false
	}
	plural, singular := meta.UnsafeGuessKindToResource(kind.WithVersion(""))
	return name == singular.Resource || name == plural.Resource || slices.Contains(ShortNames(kind.Kind), name)
}
