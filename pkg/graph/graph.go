// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// maxUsers is how many users a Graph tells apart. The uses of further ones count, but nobody is told whose they are: so a million Pods take no
// more memory than the names that they hold.
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
	// idle are users that use nothing at present: a Deployment at zero, a suspended CronJob, an object that is unused itself.
	idle      map[int32]bool
	selectors map[string][]*selection
	// patterns are the targets that only a comparison finds, by kind, and aggregations the ClusterRoles that take others in.
	patterns     map[schema.GroupKind][]*target
	aggregations aggregations
	mentions     mentions
	watched      map[key]*watch
	bytes        int64
}

// target is what is known of an object that something names.
type target struct {
	name Name
	// live is true when something that runs names it, or a user that is not told apart.
	live bool
	// read and hinted are true when users that are not told apart name it so.
	read, hinted bool
	users        []user
}

type user struct {
	id       int32
	path     string
	optional bool
	strength Strength
}

// User is one that names an object.
type User struct {
	Name
	// Path is where the reference stands.
	Path     string
	Optional bool
	Strength Strength
	// Idle is true when the user uses nothing at present.
	Idle bool
}

// Evidence is one reference to an object that is watched.
type Evidence struct {
	// From holds the reference itself; it may be a Pod of the workload that the Graph counts as the user.
	From Name
	Edge
}

// New returns an empty Graph. clusterScoped are the kinds whose objects have no namespace, whatever the reference says.
func New(table *Table, clusterScoped map[schema.GroupKind]bool) *Graph {
	return &Graph{
		table: table, clusterScoped: clusterScoped, targets: map[key]*target{}, present: map[key]struct{}{},
		ids: map[key]int32{}, idle: map[int32]bool{}, selectors: map[string][]*selection{},
		patterns: map[schema.GroupKind][]*target{}, watched: map[key]*watch{},
	}
}

// watch holds what names an object.
type watch struct {
	name  Name
	found []Evidence
}

// Watch keeps all references to an object, as evidence. It must be called before objects pass.
func (g *Graph) Watch(name Name) {
	name = g.normal(name)
	g.watched[name.key()] = &watch{name: name}
}

// Evidence are the references to an object that is watched.
func (g *Graph) Evidence(name Name) []Evidence {
	w := g.watched[g.normal(name).key()]
	if w == nil {
		return nil
	}
	return slices.Concat(w.found, g.aggregations.evidence(w.name))
}

// witness keeps a reference to an object that is watched.
func (g *Graph) witness(from Name, edge Edge) {
	if len(g.watched) == 0 {
		return
	}
	if !edge.To.isPattern() {
		if w := g.watched[edge.To.key()]; w != nil {
			w.found = append(w.found, Evidence{From: clonedName(from), Edge: cloned(edge)})
		}
		return
	}
	for _, w := range g.watched {
		if edge.To.matches(w.name) {
			w.found = append(w.found, Evidence{From: clonedName(from), Edge: cloned(edge)})
		}
	}
}

// Bytes is about how much memory the Graph takes.
func (g *Graph) Bytes() int64 { return g.bytes + g.mentions.bytes + g.aggregations.bytes }

// Saw takes note that there is an object.
func (g *Graph) Saw(o object.Object) {
	k := NameOf(o).key()
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
func (g *Graph) Add(o object.Object) {
	use := useOf(o)
	if use.none {
		return
	}
	g.addLabels(o, use)
	g.mentions.add(o)
	id := int32(-1)
	if g.aggregations.add(o) {
		id = g.user(use.by)
	}
	g.table.Edges(o, func(edge Edge) {
		edge.To = g.normal(edge.To)
		if edge.To == NameOf(o) {
			return // nothing uses itself
		}
		if id < 0 {
			id = g.user(use.by)
		}
		g.name(edge, id, use.live)
		g.witness(NameOf(o), edge)
	})
	if use.idle {
		g.SetIdle(use.by)
	}
}

// maxUsersOf is how many users of one object a Graph tells apart.
const maxUsersOf = 1000

// name takes one reference.
func (g *Graph) name(edge Edge, id int32, live bool) {
	k := edge.To.key()
	t := g.targets[k]
	if t == nil {
		t = &target{name: clonedName(edge.To)}
		g.targets[k] = t
		g.bytes += int64(160 + len(t.name.Namespace) + len(t.name.Name))
		if t.name.mustCompare() {
			g.patterns[t.name.GroupKind] = append(g.patterns[t.name.GroupKind], t)
		}
	}
	t.live = t.live || live && edge.Strength.isUse()
	// One user names an object in two ways: what need not exist in one of them must exist in the other.
	if i := slices.IndexFunc(t.users, func(u user) bool { return u.id == id }); i >= 0 {
		if u := &t.users[i]; edge.Strength.rank() > u.strength.rank() || u.optional && !edge.Optional && edge.Strength == u.strength {
			u.path, u.optional, u.strength = edge.Path, u.optional && edge.Optional, edge.Strength
		}
		return
	}
	if id == anonymous || len(t.users) >= maxUsersOf {
		t.live = t.live || edge.Strength.isUse()
		t.read = t.read || edge.Strength == Reads
		t.hinted = t.hinted || edge.Strength == Hints
		return
	}
	t.users = append(t.users, user{id, edge.Path, edge.Optional, edge.Strength})
	g.bytes += 48
}

// anonymous is the id of users that are not told apart.
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
	id = int32(len(g.users)) //nolint:gosec // less than maxUsers
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

// Use is what is known of the use of an object.
type Use struct {
	// Live is true when something that runs uses it.
	Live bool
	// Read is true when somebody may read it by its name, through the API, or names what only a pattern tells.
	Read bool
	// Hinted is true when something is for all objects of the kind, and so for this one.
	Hinted bool
	Users  []User
}

// IsUsed reports whether anything uses the object, or could at once.
func (u Use) IsUsed() bool {
	return u.Live || slices.ContainsFunc(u.Users, func(user User) bool { return !user.Idle && user.Strength.isUse() })
}

// IsNamed reports whether anything names the object at all, idle or not.
func (u Use) IsNamed() bool {
	return u.Live || slices.ContainsFunc(u.Users, func(user User) bool { return user.Strength.isUse() })
}

// Use says who uses an object.
func (g *Graph) Use(name Name) Use {
	var use Use
	name = g.normal(name)
	g.each(name, func(t *target) {
		use.Live, use.Read, use.Hinted = use.Live || t.live, use.Read || t.read, use.Hinted || t.hinted
		use.Users = append(use.Users, g.usersOf(t)...)
	})
	for _, by := range g.aggregations.of(name) {
		id, ok := g.ids[by.key()]
		use.Users = append(use.Users, User{Name: by, Path: aggregationPath, Strength: Names, Idle: ok && g.idle[id]})
	}
	for _, user := range use.Users {
		use.Read = use.Read || user.Strength == Reads && !user.Idle
		use.Hinted = use.Hinted || user.Strength == Hints && !user.Idle
	}
	slices.SortFunc(use.Users, func(a, b User) int { return cmp.Or(cmp.Compare(a.String(), b.String()), cmp.Compare(a.Path, b.Path)) })
	return use
}

// IsLive reports whether something that runs uses an object. It is Use(name).Live, at less cost.
func (g *Graph) IsLive(name Name) (live bool) {
	g.each(g.normal(name), func(t *target) { live = live || t.live })
	return live
}

func (g *Graph) usersOf(t *target) []User {
	users := make([]User, 0, len(t.users))
	for _, u := range t.users {
		users = append(users, User{Name: g.users[u.id], Path: u.path, Optional: u.optional, Strength: u.strength, Idle: g.idle[u.id]})
	}
	slices.SortFunc(users, func(a, b User) int { return cmp.Compare(a.String(), b.String()) })
	return users
}

// Absent tells each object that something names and that did not pass, with who names it, in the order of their names. Whether it exists is known
// only when all objects of its kind passed. A pattern names no object that could be absent.
func (g *Graph) Absent(each func(name Name, users []User)) {
	var absent []*target
	for k, t := range g.targets {
		if _, ok := g.present[k]; !ok && len(t.users) > 0 && !t.name.isPattern() {
			absent = append(absent, t)
		}
	}
	slices.SortFunc(absent, func(a, b *target) int { return cmp.Compare(a.name.String(), b.name.String()) })
	for _, t := range absent {
		each(t.name, g.usersOf(t))
	}
}
