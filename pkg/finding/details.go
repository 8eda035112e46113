// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// details are what is kept to say more of what was found: who owns the finalizers of a deletion that does not end, and
// which webhooks stand in its way. They change reasons only, and never what is found.
type details struct {
	// explaining are the kinds that are needed to explain something.
	explaining map[schema.GroupKind]bool
	// planned are the kinds of which all objects pass, in all namespaces, and undetailed those that could not be read
	// after all.
	planned, undetailed map[schema.GroupKind]bool
	workloads           map[graph.Name]workload
	// webhooks are those that can refuse an update or a deletion, by their configuration.
	webhooks map[graph.Name][]webhook
	// labelsOf are the labels of namespaces.
	labelsOf map[string]object.JSON
	// owners are what was found out of finalizers.
	owners map[string]owner
}

func newDetails() details {
	return details{
		explaining: map[schema.GroupKind]bool{},
		planned:    map[schema.GroupKind]bool{},
		undetailed: map[schema.GroupKind]bool{},
		workloads:  map[graph.Name]workload{},
		webhooks:   map[graph.Name][]webhook{},
		labelsOf:   map[string]object.JSON{},
		owners:     map[string]owner{},
	}
}

// workload is what may be a controller.
type workload struct {
	isAvailable bool
	// also are other names of it: by its labels, and that of its Helm release.
	also []string
}

var (
	workloadKinds = []schema.GroupKind{deployments, statefulSets, daemonSets}
	webhookKinds  = []schema.GroupKind{mutatingWebhooks, validatingWebhooks}
	// calledKinds are what webhooks call.
	calledKinds = []schema.GroupKind{services, endpointSlices}
	stuckKinds  = slices.Concat(workloadKinds, webhookKinds, calledKinds, []schema.GroupKind{namespaces})
	detailKinds = append(slices.Clone(stuckKinds), drivers)
	// detailedByMetadata are the kinds of which the metadata is enough.
	detailedByMetadata = []schema.GroupKind{namespaces, drivers}
)

// Details are lists to read after all others: only when there is something to explain, and only those of which not all
// has passed already. Whatever becomes of them, what is found stays the same.
func (f *Finder) Details() (lists []List) {
	for _, gk := range detailKinds {
		if kind, served := f.served[gk]; served && f.explaining[gk] && !f.planned[gk] {
			f.planned[gk] = true
			isEnough := slices.Contains(detailedByMetadata, gk)
			lists = append(lists, List{Kind: kind, MetadataOnly: isEnough, Everywhere: true, detailed: true, extra: true})
		}
	}
	return lists
}

// isDetailed reports whether a list that is read anyway has the details of its kind.
func (f *Finder) isDetailed(l List) bool {
	gk := l.Kind.GroupKind()
	explains := slices.ContainsFunc(f.rows, func(r *row) bool {
		return r.typ == v1alpha1.FindingStuck || r.kind == storageClasses && gk == drivers
	})
	isWhole := f.Namespace == "" || !l.Kind.Namespaced || l.Everywhere
	isEnough := !l.MetadataOnly || slices.Contains(detailedByMetadata, gk)
	if !explains || !isWhole || !isEnough || !slices.Contains(detailKinds, gk) {
		return false
	}
	f.planned[gk] = true
	return true
}

// explain takes note that kinds are needed to explain something.
func (f *Finder) explain(kinds ...schema.GroupKind) {
	for _, kind := range kinds {
		f.explaining[kind] = true
	}
}

// lacking are those of the kinds of which not all objects could be read.
func (f *Finder) lacking(kinds ...schema.GroupKind) (lacking []schema.GroupKind) {
	for _, gk := range kinds {
		_, served := f.served[gk]
		if served && (!f.planned[gk] || f.undetailed[gk] || f.unread[gk] != nil || f.elsewhere[gk] != nil) {
			lacking = append(lacking, gk)
		}
	}
	return lacking
}

// detail takes note of an object that may explain why a deletion does not end. Of the other kinds, who passed is
// enough.
func (f *Finder) detail(o *object.Parts) {
	switch gk := o.Kind.GroupKind(); gk {
	case deployments, statefulSets, daemonSets:
		name := graph.Name{GroupKind: gk, Namespace: strings.Clone(o.Namespace), Name: strings.Clone(o.Name)}
		f.workloads[name] = workloadOf(o)
		f.bytes += int64(192 + len(o.Namespace) + len(o.Name))
	case mutatingWebhooks, validatingWebhooks:
		name := graph.Name{GroupKind: gk, Name: strings.Clone(o.Name)}
		f.webhooks[name] = webhooksOf(o)
	case services:
		f.service(o)
	case endpointSlices:
		f.endpointSlice(o)
	case namespaces:
		labels := o.At("metadata", "labels")
		f.labelsOf[strings.Clone(o.Name)] = bytes.Clone(labels)
		f.bytes += int64(64 + len(o.Name) + len(labels))
	}
}

func workloadOf(o *object.Parts) workload {
	available := o.At("status", "availableReplicas")
	if o.Kind.GroupKind() == daemonSets {
		available = o.At("status", "numberAvailable")
	}
	number, _ := strconv.ParseInt(available.String(), 10, 32)
	w := workload{isAvailable: number > 0}
	for _, also := range []string{
		label(o, "app.kubernetes.io/name"), label(o, "app.kubernetes.io/instance"),
		annotation(o, "meta.helm.sh/release-name"),
	} {
		if also != "" && also != o.Name && !slices.Contains(w.also, also) {
			w.also = append(w.also, also)
		}
	}
	return w
}
