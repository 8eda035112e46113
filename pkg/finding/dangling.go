// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	gatewayGroup  = "gateway.networking.k8s.io"
	webhooksGroup = "admissionregistration.k8s.io"
)

var (
	validatingWebhooks = schema.GroupKind{Group: webhooksGroup, Kind: "ValidatingWebhookConfiguration"}
	mutatingWebhooks   = schema.GroupKind{Group: webhooksGroup, Kind: "MutatingWebhookConfiguration"}
)

// danglingRows are of what names something that does not exist. That asks for a repair, and never for a deletion.
func danglingRows() []*row {
	var all []*row
	add := func(crosses bool, targets []schema.GroupKind, kinds ...schema.GroupKind) {
		for _, kind := range kinds {
			all = append(all, &row{
				kind: kind, typ: v1alpha1.FindingDangling, body: true, ofStock: true, crosses: crosses, reads: targets,
				means: "it names something that it needs and that does not exist: " + kindsOf(targets),
				look:  lookNames(crosses, targets), judge: judgeDangling,
			})
		}
	}
	inputs := []schema.GroupKind{configMaps, secrets, claims, accounts, priorityClasses, runtimeClasses}
	add(false, inputs, pods, deployments, statefulSets, daemonSets, replicaSets, controllers, jobs, cronJobs)
	add(false, []schema.GroupKind{services, secrets}, ingresses)
	gateway := schema.GroupKind{Group: gatewayGroup, Kind: "Gateway"}
	add(true, []schema.GroupKind{{Group: gatewayGroup, Kind: "GatewayClass"}, secrets}, gateway)
	for _, kind := range []string{"HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"} {
		add(true, []schema.GroupKind{gateway, services}, schema.GroupKind{Group: gatewayGroup, Kind: kind})
	}
	toServices := len(all)
	add(true, []schema.GroupKind{services}, validatingWebhooks, mutatingWebhooks,
		schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"})
	for _, r := range all[toServices:] {
		r.reads = []schema.GroupKind{services, endpointSlices}
		r.means = "the Service that it calls does not exist, or has no endpoint; API requests that call the webhook fail, " +
			"unless its failurePolicy is Ignore"
		if r.kind.Kind == "APIService" {
			r.means = "the Service that it calls does not exist, or has no endpoint; requests to its part of the API fail"
		}
		r.look, r.judge = lookCalls, nil
	}
	return all
}

func kindsOf(kinds []schema.GroupKind) (text string) {
	for i, kind := range kinds {
		if i > 0 {
			text += ", "
		}
		text += kind.Kind
	}
	return text
}

// namesIn are the objects of some kinds that an object needs. What is optional is not needed, and what was learned from
// a schema may be yet to be made.
func namesIn(f *Finder, o *object.Parts, crosses bool, kinds []schema.GroupKind) (found []graph.User) {
	known := map[graph.Name]bool{}
	f.Table.Edges(o.Object, func(edge graph.Edge) {
		name := edge.To
		if kind, served := f.served[name.GroupKind]; served && !kind.Namespaced {
			name.Namespace = ""
		}
		if strings.ContainsAny(name.Name+name.Namespace, "*#") { // it stands for several objects, which need not exist
			return
		}
		if edge.Optional || edge.Strength != graph.Names || !slices.Contains(kinds, name.GroupKind) {
			return
		}
		if !crosses && name.Namespace != "" &&
			name.Namespace != o.Namespace { // those that passed may be of one namespace only
			return
		}
		if !known[name] {
			known[name] = true
			found = append(found, graph.User{Name: name, Path: edge.Path, Strength: edge.Strength})
		}
	})
	return found
}

func lookNames(crosses bool, kinds []schema.GroupKind) func(*Finder, *object.Parts) *candidate {
	return func(f *Finder, o *object.Parts) *candidate {
		if isOwned(o) || o.Kind.GroupKind() == pods && hasEnded(o) || o.Kind.GroupKind() == jobs && hasRun(o) ||
			o.Kind.GroupKind() == ingresses && answersItself(o) {
			return nil
		}
		isMade := f.mountsSecretsStore(o)
		names := slices.DeleteFunc(
			namesIn(f, o, crosses, kinds),
			func(user graph.User) bool {
				return f.graph.IsPresent(user.Name) || isMade && user.GroupKind == secrets
			},
		)
		if len(names) == 0 {
			return nil
		}
		return &candidate{names: names}
	}
}

// mountsSecretsStore reports whether a Pod mounts a volume of the CSI secrets store. The driver makes Secrets when a
// Pod mounts the volume, and deletes them after the last one.
func (f *Finder) mountsSecretsStore(o *object.Parts) (mounts bool) {
	f.Table.EachTemplate(o, func(_, spec object.JSON) {
		for volume := range spec.Field("volumes").Elements() {
			mounts = mounts || volume.At("csi", "driver").Text() == "secrets-store.csi.k8s.io"
		}
	})
	return mounts
}

// hasRun reports whether a Job needs its inputs no more.
func hasRun(job *object.Parts) bool {
	return conditionOf(job, "Complete").Field("status").Text() == "True" ||
		conditionOf(job, "Failed").Field("status").Text() == "True"
}

// judgeDangling finds what names something that is proved absent.
func judgeDangling(f *Finder, c *candidate) *Finding {
	found := c.finding()
	for _, user := range c.names {
		if f.isAbsent(user.Name) {
			found.Users = append(found.Users, user)
		}
	}
	if len(found.Users) == 0 {
		return nil
	}
	first := found.Users[0]
	found.Confidence = v1alpha1.ConfidenceCertain
	found.Reason = first.Path + " names " + usersOf(found.Users) + ", which does not exist"
	if len(found.Users) > 1 {
		found.Reason = first.Path + " and others name what does not exist: " + usersOf(found.Users)
	}
	return &found
}

// lookCalls looks at who calls Services. A Service without endpoints does not answer either.
func lookCalls(f *Finder, o *object.Parts) *candidate {
	called := namesIn(f, o, true, []schema.GroupKind{services})
	if len(called) == 0 {
		return nil
	}
	return &candidate{
		names:  called,
		decide: func(f *Finder, found Finding) *Finding { return f.judgeCalls(found, called) },
	}
}

func (f *Finder) judgeCalls(found Finding, called []graph.User) *Finding {
	silent := len(f.unreadOf(endpointSlices)) == 0
	for _, user := range called {
		switch {
		case f.isAbsent(user.Name):
			found.Users = append(found.Users, user)
			found.Reason = user.Path + " names " + user.String() + ", which does not exist"
		case silent && f.graph.IsPresent(user.Name) && !f.hasEndpoint(user.Namespace, user.Name.Name):
			found.Users = append(found.Users, user)
			if found.Reason == "" {
				found.Reason = user.Path + " names " + user.String() + ", which has no endpoint"
			}
		}
	}
	if len(found.Users) == 0 {
		return nil
	}
	found.Confidence = v1alpha1.ConfidenceCertain
	return &found
}
