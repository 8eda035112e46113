// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"context"

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

// Aggregate calls evaluate once over all objects. Order is that of the script; of an object chosen twice the first entry
// counts. Entries are matched by identity, never by content: an object that was not given, or whose identity the script
// altered, fails the whole call, because nothing that such a script says can be trusted.
func (s *Session) Aggregate(ctx context.Context, objects []object.Object) ([]Selected, error) {
	if err := s.open(ctx, ""); err != nil {
		return nil, err
	}
	list, given, err := s.give(objects)
	if err != nil {
		return nil, err
	}
	result, err := s.run(ctx, call{
		function: "evaluate", global: "resources", argument: list, limit: s.options.AggregateTimeout,
		example: "function evaluate() return {resources={}} end",
	})
	if err != nil {
		return nil, err
	}
	return given.selected(result)
}

// maxEntries bounds the result's entries beyond one for each object. Duplicates are allowed, but not without end.
const maxEntries = 100_000

// given is what a script got: how to recognise it in a result.
type given struct {
	identities []identity
	byTable    map[*gopher.LTable]int
	byName     map[identity]int
}

func (s *Session) give(objects []object.Object) (*gopher.LTable, *given, error) {
	in := importer{state: s.box.state}
	list := s.box.state.CreateTable(len(objects), 0)
	all := &given{
		identities: make([]identity, len(objects)),
		byTable:    make(map[*gopher.LTable]int, len(objects)), byName: make(map[identity]int, len(objects)),
	}
	for i, o := range objects {
		value, err := o.Value()
		if err != nil {
			return nil, nil, err
		}
		table := in.object(value, 1)
		list.Append(table)
		all.identities[i] = identify(table)
		all.byTable[table] = i
		all.byName[all.identities[i].withoutUID()] = i
	}
	return list, all, nil
}

func (g *given) selected(result gopher.LValue) ([]Selected, error) {
	if result == gopher.LNil {
		return nil, nil
	}
	table, ok := result.(*gopher.LTable)
	if !ok {
		return nil, faultf("evaluate returned %s; return a table such as {resources={{resource=obj}}}", described(result))
	}
	field := table.RawGetString("resources")
	if field == gopher.LNil {
		return nil, nil
	}
	list, ok := field.(*gopher.LTable)
	if !ok {
		return nil, faultf("evaluate returned resources that is %s; it must be a list", described(field))
	}
	return g.entries(list)
}

func (g *given) entries(list *gopher.LTable) ([]Selected, error) {
	length := list.MaxN()
	if key, _ := list.Next(gopher.LNil); length == 0 && key != gopher.LNil {
		return nil, faultf("evaluate returned resources with the key %s; it must be a list, filled with table.insert", key.String())
	}
	if length > maxEntries+len(g.identities) {
		return nil, faultf("evaluate returned %d resources; it was given %d", length, len(g.identities))
	}
	var chosen []Selected
	seen := make(map[int]bool)
	for i := 1; i <= length; i++ {
		value := list.RawGetInt(i)
		if value == gopher.LNil {
			continue
		}
		index, message, err := g.entry(value, i)
		if err != nil {
			return nil, err
		}
		if seen[index] {
			continue
		}
		seen[index] = true
		chosen = append(chosen, Selected{Index: index, Message: message})
	}
	return chosen, nil
}

func (g *given) entry(value gopher.LValue, place int) (int, string, error) {
	entry, ok := value.(*gopher.LTable)
	if !ok {
		return 0, "", faultf("resources[%d] is %s; write {resource=obj, message=\"why\"}", place, described(value))
	}
	resource, ok := entry.RawGetString("resource").(*gopher.LTable)
	if !ok {
		return 0, "", faultf("resources[%d].resource is %s; write {resource=obj, message=\"why\"}", place,
			described(entry.RawGetString("resource")))
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
	now := identify(table)
	if index, ok := g.byTable[table]; ok {
		if was := g.identities[index]; now != was {
			return 0, "was " + was.String() + ", but the script made it " + now.String() + "; return objects as they were given"
		}
		return index, ""
	}
	if now.name == "" {
		return 0, "has no metadata.name; return an object of resources"
	}
	index, ok := g.byName[now.withoutUID()]
	if !ok || now.uid != "" && now.uid != g.identities[index].uid {
		return 0, "is " + now.String() + ", which was never selected; return objects of resources only"
	}
	return index, ""
}
