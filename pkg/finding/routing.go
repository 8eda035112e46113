// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

var (
	ingresses = schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}
	// scalable are kinds that an autoscaler of the cluster scales as a rule. Others are absent only when nobody serves
	// them.
	scalable = []schema.GroupKind{deployments, statefulSets, replicaSets, controllers, rollouts}
)

// routingRows are of what is of no use without what it leads to.
func routingRows() []*row {
	return []*row{
		{
			kind:       ingresses,
			typ:        v1alpha1.FindingUnused,
			actionable: true,
			body:       true,
			reads:      []schema.GroupKind{services, ingressClasses},
			means:      "none of its backends exists, or its class does not",
			look:       lookIngress,
		},
		{
			kind: autoscalers, typ: v1alpha1.FindingUnused, actionable: true, body: true, reads: scalable,
			means: "what it scales does not exist", look: lookAutoscaler,
		},
	}
}

// answers are the ends of annotations with which a controller answers by itself, or joins several Ingresses: the
// backends need not exist.
var answers = []string{
	"-redirect",
	"/redirect-to",
	"/mergeable-ingress-type",
	"/default-backend",
	"/server-snippet",
	"/server-snippets",
	"/location-snippets",
	"/configuration-snippet",
	"/skipper-routes",
	"/skipper-filter",
	"/svc-namespace", // of APISIX: the backends are in another namespace
}

// answersItself reports whether an Ingress may be of use without a Service. For AWS, the port says that what looks like
// one is an annotation.
func answersItself(o *object.Parts) bool {
	for name := range o.At("metadata", "annotations").Fields() {
		isEnd := func(end string) bool { return strings.HasSuffix(name.String(), end) }
		if !isEnd("ssl-redirect") && slices.ContainsFunc(answers, isEnd) { // from HTTP to HTTPS, and then to the backend
			return true
		}
	}
	isAction := func(backend object.JSON) bool {
		return backend.At("service", "port", "name").Text() == "use-annotation"
	}
	return slices.ContainsFunc(backendsOf(o), isAction)
}

// otherPurposes are the beginnings of annotations for cert-manager and external-dns, for which an Ingress is a list of
// hosts, and for Kong, whose plugins may answer by themselves. They need no backend.
var otherPurposes = []string{
	"cert-manager.io/",
	"acme.cert-manager.io/",
	"kubernetes.io/tls-acme",
	"external-dns.alpha.kubernetes.io/",
	"konghq.com/plugins",
}

// otherPurposeOf is an annotation that says that an Ingress does something else than route. Empty when it has none.
func otherPurposeOf(o *object.Parts) string {
	for name := range o.At("metadata", "annotations").Fields() {
		if slices.ContainsFunc(otherPurposes, func(begin string) bool { return strings.HasPrefix(name.String(), begin) }) {
			return name.String()
		}
	}
	return ""
}

func backendsOf(o *object.Parts) []object.JSON {
	spec := o.At("spec")
	backends := []object.JSON{spec.Field("defaultBackend")}
	for rule := range spec.Field("rules").Elements() {
		for path := range rule.At("http", "paths").Elements() {
			backends = append(backends, path.Field("backend"))
		}
	}
	return backends
}

// lookIngress looks at an Ingress. One backend is enough, and a resource may be anything.
func lookIngress(f *Finder, o *object.Parts) *candidate {
	if answersItself(o) {
		return nil
	}
	var names []graph.Name
	for _, backend := range backendsOf(o) {
		if backend.Field("resource").Type() == object.Map {
			return nil
		}
		if name := backend.At("service", "name").Text(); name != "" {
			names = append(names, graph.Name{GroupKind: services, Namespace: o.Namespace, Name: name})
		}
	}
	class := graph.Name{GroupKind: ingressClasses, Name: o.At("spec", "ingressClassName").Text()}
	purpose := otherPurposeOf(o)
	f.bytes += int64(96 * len(names))
	return &candidate{decide: func(f *Finder, found Finding) *Finding {
		judged := f.judgeIngress(found, names, class)
		if judged == nil || judged.Confidence != v1alpha1.ConfidenceCertain {
			return judged
		}
		switch use := f.graph.Use(nameOf(&found)); {
		case purpose != "":
			judged.Confidence = v1alpha1.ConfidenceWeak
			judged.Reason += "; but it may be there for what reads its annotation " + purpose
		case use.IsUsed(): // cert-manager adds the backends of its challenges
			judged.Confidence = v1alpha1.ConfidenceWeak
			judged.Reason += "; but it may be there for " + usersOf(use.Users)
		}
		return judged
	}}
}

func (f *Finder) judgeIngress(found Finding, backends []graph.Name, class graph.Name) *Finding {
	if class.Name != "" && f.isAbsent(class) {
		// Some controllers look at the name only.
		found.Confidence = v1alpha1.ConfidenceWeak
		found.Reason = "its " + class.String() + " does not exist"
		return &found
	}
	if slices.ContainsFunc(backends, f.graph.IsPresent) {
		if found.Unknown = f.whyUnsure(class); class.Name == "" || len(found.Unknown) == 0 {
			return nil
		}
		found.Reason = "it is unknown whether its " + class.String() + " exists"
		return &found
	}
	found.Unknown = f.unreadOf(services)
	switch {
	case len(found.Unknown) > 0:
		found.Reason = "it is unknown whether its backends exist"
	case len(backends) == 0: // the default backend of its controller, or a certificate, may be what it is for
		found.Confidence, found.Reason = v1alpha1.ConfidenceWeak, "it has no backend"
	default:
		found.Confidence = v1alpha1.ConfidenceCertain
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
func lookAutoscaler(_ *Finder, o *object.Parts) *candidate {
	target := targetOf(o, o.At("spec", "scaleTargetRef"))
	return &candidate{decide: func(f *Finder, found Finding) *Finding {
		if _, served := f.served[target.GroupKind]; !served { // it may be served again tomorrow
			found.Unknown = []Unread{{Err: errors.New("nobody serves the kind")}}
			found.Reason = "it scales " + target.String() + ", and nobody serves that kind"
			return &found
		}
		return f.unusedWithout(found, "it scales "+target.String(), target)
	}}
}
