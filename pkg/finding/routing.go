// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

var (
	ingresses = schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}
	// scalable are kinds that an autoscaler of the cluster scales as a rule. Others are absent only when nobody serves them.
	scalable = []schema.GroupKind{deployments, statefulSets, replicaSets, controllers, {Group: "argoproj.io", Kind: "Rollout"}}
)

// routingRows are of what is of no use without what it leads to.
func routingRows() []*row {
	return []*row{
		{
			kind: ingresses, typ: v1alpha1.FindingUnused, actionable: true, body: true, reads: []schema.GroupKind{services, ingressClasses},
			means: "none of its backends exists, or its class does not", look: lookIngress,
		},
		{
			kind: autoscalers, typ: v1alpha1.FindingUnused, actionable: true, body: true, reads: scalable,
			means: "what it scales does not exist", look: lookAutoscaler,
		},
	}
}

// lookIngress looks at an Ingress. One backend is enough, and a resource may be anything.
func lookIngress(_ *Finder, o object.Object) *candidate {
	spec := raw(o).Field("spec")
	backends := []object.JSON{spec.Field("defaultBackend")}
	for rule := range spec.Field("rules").Elements() {
		for path := range rule.At("http", "paths").Elements() {
			backends = append(backends, path.Field("backend"))
		}
	}
	var names []graph.Name
	for _, backend := range backends {
		if backend.Field("resource").Type() == object.Map {
			return nil
		}
		if name := backend.At("service", "name").Text(); name != "" {
			names = append(names, graph.Name{GroupKind: services, Namespace: o.Namespace, Name: name})
		}
	}
	class := graph.Name{GroupKind: ingressClasses, Name: spec.Field("ingressClassName").Text()}
	return &candidate{decide: func(f *Finder, found Finding) *Finding { return f.judgeIngress(found, names, class) }}
}

func (f *Finder) judgeIngress(found Finding, backends []graph.Name, class graph.Name) *Finding {
	if class.Name != "" && f.isAbsent(class) {
		// Some controllers look at the name only.
		found.Confidence, found.Absent = v1alpha1.ConfidenceWeak, []graph.Name{class}
		found.Reason = "its " + class.String() + " does not exist"
		return &found
	}
	for _, name := range backends {
		if f.graph.IsPresent(name) {
			return nil
		}
	}
	found.Unknown = f.unreadOf(services)
	switch {
	case len(found.Unknown) > 0:
		found.Reason = "nobody can tell whether its backends exist"
	case len(backends) == 0:
		found.Confidence, found.Reason = v1alpha1.ConfidenceLikely, "it has no backend"
	default:
		found.Confidence, found.Absent = v1alpha1.ConfidenceCertain, backends
		found.Reason = "none of its backends exists: " + namesOf(backends)
	}
	return &found
}

// namesOf names objects for people: the first, and how many more.
func namesOf(names []graph.Name) string {
	users := make([]graph.User, 0, len(names))
	for _, name := range names {
		users = append(users, graph.User{Name: name})
	}
	return usersOf(users)
}

// lookAutoscaler looks at what an autoscaler scales. Of a kind that is not read here, nobody says that it is absent.
func lookAutoscaler(_ *Finder, o object.Object) *candidate {
	target := targetOf(o, raw(o).At("spec", "scaleTargetRef"))
	return &candidate{decide: func(f *Finder, found Finding) *Finding {
		return f.unusedWithout(found, "it scales "+target.String(), target)
	}}
}
