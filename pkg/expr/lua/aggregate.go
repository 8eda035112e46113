// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"context"
	"hash/maphash"
	"strings"

	gopher "github.com/yuin/gopher-lua"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Selected is one object that an aggregated evaluate chose.
type Selected struct {
	// Index is the object's place in what Aggregate was given.
	Index int
	// Message is at most 1 KiB, cut between characters, without control characters.
	Message string
}

// Aggregate calls evaluate once over all objects. Order is that of the script. An object that is chosen twice stands
// where it was chosen first, with all that is said of it. Entries are matched by identity, never by content: an object
// that was not given, or whose identity the script altered, fails the whole call, because nothing that such a script
// says can be trusted. It fails with ErrBeyondPart where data might make a difference that Secrets are without.
func (s *Session) Aggregate(ctx context.Context, objects *Collection) ([]Selected, error) {
	if err := s.open(ctx, object.Object{}); err != nil {
		return nil, err
	}
	s.box.forced = make(map[*gopher.LTable]*lazy)
	list, err := s.give(objects)
	if err != nil {
		return nil, err
	}
	var watched partly
	if objects.WithoutData {
		s.box.partly = &watched
	}
	selected, err := s.choose(ctx, objects, list)
	if watched.beyond {
		return nil, ErrBeyondPart
	}
	return selected, err
}

// choose calls evaluate over the list of the objects.
func (s *Session) choose(ctx context.Context, objects *Collection, list *gopher.LTable) ([]Selected, error) {
	result, err := s.run(ctx, call{
		function: "evaluate", global: "resources", argument: list, limit: s.options.AggregateTimeout,
		example: "function evaluate() return {resources={}} end",
	})
	if err != nil {
		return nil, err
	}
	// The interpreter's registers hold on to tables of the last call, and here those are many.
	defer s.discard()
	given := given{box: s.box, objects: objects}
	return given.selected(result)
}

// give makes the list of all objects.
func (s *Session) give(objects *Collection) (*gopher.LTable, error) {
	roots := make([]lazy, objects.Len())
	list := s.box.state.CreateTable(len(roots), 0)
	for i := range roots {
		if err := s.initRoot(&roots[i], objects.Object(i)); err != nil {
			return nil, err
		}
		roots[i].number = int32(i)
		list.Append(&roots[i].LTable)
	}
	return list, nil
}

// maxEntries bounds the result's entries beyond one for each object. Duplicates are allowed, but not without end.
const maxEntries = 100_000

// given is what a script got: how to recognise it in a result.
type given struct {
	box     *sandbox
	objects *Collection
	// byName are the indices by the hash of the identity without UID. It is made when a script returns a table of its own.
	byName map[uint64]int
	seed   maphash.Seed
}

func (g *given) selected(result gopher.LValue) ([]Selected, error) {
	if result == gopher.LNil {
		return nil, nil
	}
	table, ok := result.(*gopher.LTable)
	if !ok {
		return nil, faultf("evaluate returned %s; return a table such as {resources={{resource=obj}}}", described(result))
	}
	field := said(table, "resources")
	if field == gopher.LNil {
		return nil, nil
	}
	g.box.plain(field)
	list, ok := field.(*gopher.LTable)
	if !ok {
		return nil, faultf("evaluate returned resources that is %s; it must be a list", described(field))
	}
	return g.entries(list)
}

func (g *given) entries(list *gopher.LTable) ([]Selected, error) {
	length := list.MaxN()
	if key, _ := list.Next(gopher.LNil); length == 0 && key != gopher.LNil {
		return nil, faultf(
			"evaluate returned resources with the key %s; it must be a list, filled with table.insert",
			key.String(),
		)
	}
	if length > maxEntries+g.objects.Len() {
		return nil, faultf("evaluate returned %d resources; it was given %d", length, g.objects.Len())
	}
	var chosen []Selected
	places := make([]int32, g.objects.Len()) // in chosen, from 1 on
	for i := 1; i <= length; i++ {
		value := list.RawGetInt(i)
		if value == gopher.LNil {
			continue
		}
		index, message, err := g.entry(value, i)
		if err != nil {
			return nil, err
		}
		if place := places[index]; place > 0 {
			first := &chosen[place-1]
			first.Message = joined(first.Message, message)
			continue
		}
		chosen = append(chosen, Selected{Index: index, Message: message})
		places[index] = int32(len(chosen))
	}
	return chosen, nil
}

// joined is what two entries say of one object.
func joined(first, second string) string {
	const between = "; "
	switch {
	case first == "":
		return second
	case len(first)+len(between) >= messageLimit,
		strings.Contains(between+first+between, between+second+between),
		second == "":
		return first
	}
	return clean(first + between + second)
}

func (g *given) entry(value gopher.LValue, place int) (int, string, error) {
	g.box.plain(value)
	entry, ok := value.(*gopher.LTable)
	if !ok {
		return 0, "", faultf("resources[%d] is %s; write {resource=obj, message=\"why\"}", place, described(value))
	}
	field := said(entry, "resource")
	resource, ok := field.(*gopher.LTable)
	if !ok {
		return 0, "", faultf("resources[%d].resource is %s; write {resource=obj, message=\"why\"}", place, described(field))
	}
	index, fault := g.find(resource)
	if fault != "" {
		return 0, "", faultf("resources[%d].resource %s", place, fault)
	}
	message, err := readMessage(entry, "evaluate returned a message")
	return index, message, err
}

// find returns the index of a table that came back, or what is wrong with it.
func (g *given) find(table *gopher.LTable) (int, string) {
	now := g.box.identify(table)
	if index, ok := g.rootIndex(table); ok {
		if was := identityOf(g.objects.Object(index)); now != was {
			return 0, "was " + was.String() + ", but the script made it " + now.String() + "; return objects as they were given"
		}
		return index, ""
	}
	if now.name == "" {
		return 0, "has no metadata.name; return an object of resources"
	}
	index, ok := g.named(now)
	if !ok {
		return 0, "is " + now.String() + ", which was never selected; return objects of resources only"
	}
	return index, ""
}

// rootIndex is the index of a table that is an object which the script was given, whatever it did to it.
func (g *given) rootIndex(table *gopher.LTable) (int, bool) {
	l := g.box.lazy(table)
	if l == nil {
		l = g.box.forced[table]
	}
	if l == nil || l.kind == nil {
		return 0, false
	}
	return int(l.number), true
}

// named finds an object by its identity. An empty UID stands for any.
func (g *given) named(wanted identity) (int, bool) {
	if g.byName == nil {
		g.seed = maphash.MakeSeed()
		g.byName = make(map[uint64]int, g.objects.Len())
		for i := range g.objects.Len() {
			g.byName[g.hash(identityOf(g.objects.Object(i)))] = i
		}
	}
	index, ok := g.byName[g.hash(wanted)]
	if !ok {
		return 0, false
	}
	// Another identity of the same hash is not it.
	found := identityOf(g.objects.Object(index))
	return index, found.withoutUID() == wanted.withoutUID() && (wanted.uid == "" || wanted.uid == found.uid)
}

func (g *given) hash(i identity) uint64 { return maphash.Comparable(g.seed, i.withoutUID()) }
