// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// maxUsers is how many users a Graph keeps apart. The uses of further ones count, but nobody learns whose they are: so
// a million Pods take no more memory than the names that they hold.
const maxUsers = 50_000

// Graph holds what objects that passed name, and which objects passed. It is for one goroutine.
type Graph struct {
	table *Table
	// clusterScoped are the kinds whose objects have no namespace.
	clusterScoped map[schema.GroupKind]bool
	targets       map[key]*target
	present       map[key]struct{}
	// users are who holds references, and ids are their places in it.
	users []Name
	ids   map[key]int32
	// idle are users that use nothing at present: a Deployment at zero, a suspended CronJob, an object that is unused
	// itself.
	idle      map[int32]bool
	selectors map[string][]*selection
	// patterns are the targets that only a comparison finds, by their places, and aggregations the ClusterRoles that take
	// others in.
	patterns     map[Name][]*target
	aggregations aggregations
	parameters   parameters
	inCustom     customSelectors
	mentions     mentions
	annotations  mentions
	given        given
	watched      map[key]*watch
	bytes        int64
}

// target is what is known of an object that something names.
type target struct {
	name Name
	// live is true when something that runs names it, or a user that is not kept apart.
	live bool
	// read and hinted are true when users that are not kept apart name it so.
	read, hinted bool
	users        []user
}

type user struct {
	id       int32
	path     string
	strength Strength
}

// New returns an empty Graph. clusterScoped are the kinds whose objects have no namespace, whatever the reference says.
func New(table *Table, clusterScoped map[schema.GroupKind]bool) *Graph {
	return &Graph{
		table: table, clusterScoped: clusterScoped, targets: map[key]*target{}, present: map[key]struct{}{},
		ids: map[key]int32{}, idle: map[int32]bool{}, selectors: map[string][]*selection{},
		patterns: map[Name][]*target{}, watched: map[key]*watch{},
	}
}

// Bytes is about how much memory the Graph takes.
func (g *Graph) Bytes() int64 {
	return g.bytes + g.mentions.bytes + g.annotations.bytes + g.aggregations.bytes + g.given.bytes
}

// Saw takes note that there is an object, which may be chosen by its labels.
func (g *Graph) Saw(o object.Object) {
	name := NameOf(o)
	g.see(name)
	if s := g.table.sources[name.GroupKind]; s != nil && s.isCustom {
		g.see(customName(name.Namespace, name.Name))
		g.see(groupName(name.Namespace, name.Group))
	}
	g.choose(o)
	g.selectedBy(o)
}

func (g *Graph) see(name Name) {
	k := name.key()
	if _, ok := g.present[k]; !ok {
		g.present[k] = struct{}{}
		g.bytes += 24
	}
}

// IsPresent reports whether an object passed. That it did not proves nothing, unless all objects of its kind did.
func (g *Graph) IsPresent(name Name) bool {
	_, ok := g.present[g.normal(name).key()]
	return ok
}

// NameOf names an object.
func NameOf(o object.Object) Name {
	return Name{GroupKind: o.Kind.GroupKind(), Namespace: o.Namespace, Name: o.Name}
}

// normal is the name without a namespace where the kind has none.
func (g *Graph) normal(name Name) Name {
	if g.clusterScoped[name.GroupKind] {
		name.Namespace = ""
	}
	return name
}

// Add takes the references of an object, which is counted as a use of its controller's, if it has one.
func (g *Graph) Add(o *object.Parts) {
	use := useOf(o)
	if use.none {
		return
	}
	g.addLabels(o, use)
	g.bytes += g.parameters.add(o)
	s := g.table.sources[o.Kind.GroupKind()]
	isCustom := s != nil && s.isCustom
	if isCustom {
		g.addGiven(o.Object)
		g.bytes += g.inCustom.add(o)
	}
	others := g.table.otherNamespaces(o, isCustom)
	id := int32(-1)
	if g.aggregations.add(o.Object) {
		id = g.user(use.by)
	}
	add := func(edge Edge) {
		edge.To = g.normal(edge.To)
		if edge.To == NameOf(o.Object) {
			return // nothing uses itself
		}
		if id < 0 {
			id = g.user(use.by)
		}
		g.name(edge, id, use.live)
		g.witness(NameOf(o.Object), edge)
	}
	eachAnchor(o, add)
	g.table.read(o.Object, add, func(at, text object.JSON) {
		if text == nil { // it has too many variables
			for _, namespace := range append([]string{o.Namespace}, others...) {
				g.mentions.addAny(namespace)
			}
			return
		}
		g.mentions.addText(o, others, use.by, text)
		g.witnessText(o, others, use.by, at, text)
	})
	if use.idle {
		g.SetIdle(use.by)
	}
}

// maxUsersOf is how many users of one object a Graph keeps apart.
const maxUsersOf = 1000

// name takes one reference.
func (g *Graph) name(edge Edge, id int32, live bool) {
	t := g.target(edge.To)
	t.live = t.live || live && edge.Strength.isUse()
	// One user names an object in two ways: the stronger one counts.
	if i := slices.IndexFunc(t.users, func(u user) bool { return u.id == id }); i >= 0 {
		if u := &t.users[i]; edge.Strength.rank() > u.strength.rank() {
			u.path, u.strength = edge.Path, edge.Strength
		}
		return
	}
	if id == anonymous || len(t.users) >= maxUsersOf {
		t.live = t.live || edge.Strength.isUse()
		t.read = t.read || edge.Strength == Reads
		t.hinted = t.hinted || edge.Strength == Hints
		return
	}
	t.users = append(t.users, user{id, edge.Path, edge.Strength})
	g.bytes += int64(48 + len(edge.Path))
}

// target is what is known of what a reference names.
func (g *Graph) target(name Name) *target {
	k := name.key()
	if t := g.targets[k]; t != nil {
		return t
	}
	if name.mustCompare() && len(g.patterns[name.place()]) >= maxCompared {
		return g.target(Name{GroupKind: name.GroupKind, Namespace: name.place().Namespace, Name: "*"})
	}
	t := &target{name: clonedName(name)}
	g.targets[k] = t
	g.bytes += int64(160 + len(name.Namespace) + len(name.Name))
	if name.mustCompare() {
		g.patterns[t.name.place()] = append(g.patterns[t.name.place()], t)
		g.bytes += 160
	}
	return t
}

// anonymous is the id of users that are not kept apart.
const anonymous = int32(1<<31 - 1)

func (g *Graph) user(name Name) int32 {
	k := name.key()
	id, ok := g.ids[k]
	if ok {
		return id
	}
	if len(g.users) >= maxUsers {
		return anonymous
	}
	id = int32(len(g.users))
	name = clonedName(name)
	g.users, g.ids[k] = append(g.users, name), id
	g.bytes += int64(112 + len(name.Namespace) + len(name.Name))
	return id
}

// SetIdle takes note that a user uses nothing at present.
func (g *Graph) SetIdle(name Name) {
	if id, ok := g.ids[name.key()]; ok {
		g.idle[id] = true
	}
}

// SetAwake takes note of all users that look idle and are not, because something scales them up when they are needed.
func (g *Graph) SetAwake(isAwake func(Name) bool) {
	for id := range g.idle {
		if isAwake(g.users[id]) {
			delete(g.idle, id)
		}
	}
}
