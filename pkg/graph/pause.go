// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// pauseMarks are annotations of tools that scale a workload to zero for a while, and keep how many replicas it had, or
// suspend it.
var pauseMarks = []string{
	"previous-suspend",
	"sleepinfo.kube-green.com/replicas-before-sleep",
	"idling.alpha.openshift.io/previous-scale",
	"dev.okteto.com/state-before-sleeping",
}

// otherReplicas are the ends of annotations that hold a number of replicas, and say nothing of a pause.
var otherReplicas = []string{"/desired-replicas", "min-replicas", "max-replicas"}

// isPauseMark reports whether an annotation is one of pauseMarks, or keeps a number of replicas: "previous-replicas",
// "downscaler/original-replicas", "devspace.sh/replicas".
func isPauseMark(name string) bool {
	isOther := func(end string) bool { return strings.HasSuffix(name, end) }
	return slices.Contains(pauseMarks, name) ||
		strings.HasSuffix(name, "replicas") && !slices.ContainsFunc(otherReplicas, isOther)
}

// onDemand are labels of workloads that are started when somebody calls them, and what they must be: Sablier's, and
// those of the functions of OpenFaaS and Fission. Empty for any value.
var onDemand = map[string]string{"sablier.enable": "true", "faas_function": "", "executorType": "newdeploy"}

// IsPaused reports whether a tool scaled the workload to zero, or suspended it, for a while: it is not idle, it sleeps.
func IsPaused(o *object.Parts) bool {
	for name, wanted := range onDemand {
		if value := o.At("metadata", "labels", name).Text(); value != "" && (wanted == "" || value == wanted) {
			return true
		}
	}
	for name := range o.At("metadata", "annotations").Fields() {
		if isPauseMark(name.String()) {
			return true
		}
	}
	return false
}
