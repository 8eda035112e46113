// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"slices"
)

// User is one that names an object.
type User struct {
	Name
	// Path is where the reference stands.
	Path     string
	Strength Strength
	// Idle is true when the user uses nothing at present.
	Idle bool
}

// Use is what is known of the use of an object.
type Use struct {
	// Live is true when something that runs uses it.
	Live bool
	// Read is true when somebody may read it by its name, through the API, or names what only a pattern gives. A user that
	// is idle counts, too: what this object is does not depend on which of the two is judged first.
	Read bool
	// Hinted is true when something may choose it: by its labels, or as one of all objects of its kind.
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
		use.Read = use.Read || user.Strength == Reads
		use.Hinted = use.Hinted || user.Strength == Hints
	}
	slices.SortFunc(
		use.Users,
		func(a, b User) int { return cmp.Or(cmp.Compare(a.String(), b.String()), cmp.Compare(a.Path, b.Path)) },
	)
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
		users = append(
			users,
			User{Name: g.users[u.id], Path: u.path, Strength: u.strength, Idle: g.idle[u.id]},
		)
	}
	slices.SortFunc(users, func(a, b User) int { return cmp.Compare(a.String(), b.String()) })
	return users
}

// Absent passes on each object that something names and that did not pass, with who names it, in the order of their
// names. Whether it exists is known only when all objects of its kind passed. A pattern names no object that could be
// absent.
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
