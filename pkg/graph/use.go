// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// uses says how the references of an object count.
type uses struct {
	// by is who uses what the object names: its controller, if it has one.
	by Name
	// live is true for what runs: what it names is used at present.
	live bool
	// idle is true for what runs nothing at present, and names what it will need when it does.
	idle bool
	// none is true for what has ended: what made it is a user itself.
	none bool
}

var (
	podKind         = schema.GroupKind{Kind: "Pod"}
	replicaSetKind  = schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}
	statefulSetKind = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	// virtualMachineKind is KubeVirt's.
	virtualMachineKind = schema.GroupKind{Group: "kubevirt.io", Kind: "VirtualMachine"}
)

// useOf says how the references of an object count. Templates count as users: what is scaled to zero, or runs at night,
// needs its inputs too.
func useOf(o *object.Parts) uses {
	use := uses{by: NameOf(o.Object)}
	owner, owned := Controller(o)
	if owned {
		use.by = owner
	}
	// What an owner has at zero says nothing of what else it has, nor of what it names itself. A ReplicaSet is kept for a
	// rollback.
	switch o.Kind.GroupKind() {
	case podKind:
		phase := o.At("status", "phase").Text()
		use.none = phase == string(corev1.PodSucceeded) || phase == string(corev1.PodFailed)
		use.live = !use.none
	case replicaSetKind:
		use.idle = !owned && o.At("spec", "replicas").String() == "0"
	case schema.GroupKind{Group: "apps", Kind: "Deployment"},
		statefulSetKind,
		schema.GroupKind{Kind: "ReplicationController"},
		schema.GroupKind{Group: "argoproj.io", Kind: "Rollout"}:
		use.idle = !owned && isStopped(o, "replicas", "0")
	case schema.GroupKind{Group: "batch", Kind: "CronJob"}:
		use.idle = !owned && isStopped(o, "suspend", "true")
	}
	return use
}

// isStopped reports whether a field of the spec says that the workload runs nothing, and no tool wrote it for a while.
func isStopped(o *object.Parts, field, value string) bool {
	return o.At("spec", field).String() == value && !IsPaused(o)
}

// Controller is the controller that owns the object, if one does.
func Controller(o *object.Parts) (Name, bool) {
	owners := o.At("metadata", "ownerReferences")
	for owner := range owners.Elements() {
		if owner.Field("controller").String() != "true" {
			continue
		}
		gk := schema.GroupKind{Group: groupOf(owner.Field("apiVersion").Text()), Kind: owner.Field("kind").Text()}
		return Name{GroupKind: gk, Namespace: o.Namespace, Name: owner.Field("name").Text()}, true
	}
	return Name{}, false
}

// selection is a label selector of an object, and which Pods and templates matched it.
type selection struct {
	by       Name
	selector labels.Selector
	// live is true when something that runs matched. Until then, the workloads whose templates matched are kept.
	live  bool
	users []int32
	// lacking is a label that something that did not match lacks.
	lacking string
}

// Select takes the label selector with which an object selects Pods of its namespace. It must be called before the Pods
// pass.
func (g *Graph) Select(by Name, selector labels.Selector) {
	if s := g.selection(by); s != nil {
		s.selector = selector
		return
	}
	g.selectors[by.Namespace] = append(g.selectors[by.Namespace], &selection{by: clonedName(by), selector: selector})
	g.bytes += int64(512 + sizeOf(selector))
}

func (g *Graph) selection(by Name) *selection {
	for _, s := range g.selectors[by.Namespace] {
		if s.by == by {
			return s
		}
	}
	return nil
}

// SelectsAny reports whether the selector of an object matched a Pod or a template that passed.
func (g *Graph) SelectsAny(by Name) bool {
	s := g.selection(by)
	return s != nil && (s.live || len(s.users) > 0)
}

// Selected is what the selector of an object matched: whether something of it runs, or which workloads it was.
func (g *Graph) Selected(by Name) Use {
	s := g.selection(by)
	if s == nil {
		return Use{}
	}
	use := Use{Live: s.live}
	for _, id := range s.users {
		use.Users = append(use.Users, User{Name: g.users[id], Path: "spec.selector", Strength: Names, Idle: g.idle[id]})
	}
	return use
}

// addLabels compares the labels of a Pod, or of the templates of Pods, with the selectors that matched nothing that
// runs so far. What is cluster-scoped may make Pods in any namespace.
func (g *Graph) addLabels(o *object.Parts, use uses) {
	if o.Namespace != "" {
		g.addLabelsTo(g.selectors[o.Namespace], o, use)
		return
	}
	for _, selectors := range g.selectors {
		g.addLabelsTo(selectors, o, use)
	}
}

func (g *Graph) addLabelsTo(selectors []*selection, o *object.Parts, use uses) {
	if len(selectors) == 0 {
		return
	}
	g.table.EachTemplate(o, func(metadata, _ object.JSON) {
		var set labels.Set
		for _, s := range selectors {
			if s.live {
				continue
			}
			if set == nil {
				set = labelSet(metadata.Field("labels"))
			}
			switch o.Kind.GroupKind() {
			case statefulSetKind:
				setPodLabels(set, s.selector, o.Name)
			case virtualMachineKind:
				set[machineLabel] = o.Name
			}
			if s.selector.Matches(set) {
				g.selected(s, use)
			} else {
				s.lack(set)
			}
		}
	})
}

// podNameLabel and podIndexLabel are what a StatefulSet adds to the labels of each of its Pods. A Service for one of
// them selects by that.
const (
	podNameLabel  = "statefulset.kubernetes.io/pod-name"
	podIndexLabel = "apps.kubernetes.io/pod-index"
	// machineLabel is what KubeVirt adds for each virtual machine.
	machineLabel = "vm.kubevirt.io/name"
)

// setPodLabels gives the labels of a StatefulSet's template those of the Pod that a selector asks for, if it can be one
// of the StatefulSet's.
func setPodLabels(set labels.Set, selector labels.Selector, name string) {
	if pod, asked := selector.RequiresExactMatch(podNameLabel); asked && withoutNumber(pod) == name+"-" {
		set[podNameLabel] = pod
	}
	if index, asked := selector.RequiresExactMatch(podIndexLabel); asked {
		set[podIndexLabel] = index
	}
}

// maxSelected is how many templates that a selector matches are kept apart. With more, it selects something that is not
// idle.
const maxSelected = 16

func (g *Graph) selected(s *selection, use uses) {
	id := anonymous
	if !use.live && len(s.users) < maxSelected {
		id = g.user(use.by)
	}
	switch {
	case id == anonymous:
		s.live = true
	case !slices.Contains(s.users, id):
		s.users = append(s.users, id)
		g.bytes += 4
	}
}

func labelSet(of object.JSON) labels.Set {
	set := labels.Set{}
	for name, value := range of.Fields() {
		set[name.String()] = value.Text()
	}
	return set
}

// SelectorOf reads a LabelSelector from an object. One that is absent selects nothing, and one that is empty
// everything, as the API has it.
func SelectorOf(value object.JSON) (labels.Selector, error) {
	if t := value.Type(); t == object.Absent || t == object.Null {
		return labels.Nothing(), nil
	}
	var selector metav1.LabelSelector
	if err := decode(value, &selector); err != nil {
		return nil, err
	}
	return metav1.LabelSelectorAsSelector(&selector)
}

func cloned(e Edge) Edge {
	e.To = clonedName(e.To)
	return e
}

// clonedName is the name with bytes of its own.
func clonedName(n Name) Name {
	n.Namespace, n.Name, n.Kind, n.Group = strings.Clone(
		n.Namespace,
	), strings.Clone(
		n.Name,
	), strings.Clone(
		n.Kind,
	), strings.Clone(
		n.Group,
	)
	return n
}
