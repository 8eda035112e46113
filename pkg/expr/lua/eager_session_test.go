// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	gopher "github.com/yuin/gopher-lua"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// eagerSession runs scripts on the eager engine.
type eagerSession struct {
	// Session holds what the scripts' functions are made of: the clock, the random numbers and print.
	*Session
	box *eagerSandbox
}

func newEagerSession(program *Program, options Options) *eagerSession {
	s := &eagerSession{Session: program.NewSession(options)}
	s.box = newEagerSandbox(s.functions())
	return s
}

func (s *eagerSession) begin(o object.Object) { s.random, s.current = nil, o }

func (s *eagerSession) Evaluate(o object.Object) (Match, error) {
	value, err := o.Value()
	if err != nil {
		return Match{}, err
	}
	s.begin(o)
	in := eagerImporter{state: s.box.state}
	result, err := s.box.call(s.program, call{
		function: "evaluate", global: "obj", argument: in.value(value, 1),
		example: "function evaluate() return {matching=true} end",
	})
	if err != nil {
		return Match{}, err
	}
	table, ok := result.(*gopher.LTable)
	if !ok {
		return Match{}, faultf("evaluate returned %s; return a table such as {matching=true, message=\"why\"}", described(result))
	}
	return readMatch(table)
}

func (s *eagerSession) Transform(o object.Object) (map[string]any, string, error) {
	value, err := o.Value()
	if err != nil {
		return nil, "", err
	}
	s.begin(o)
	in := eagerImporter{state: s.box.state, sources: make(map[*gopher.LTable]any)}
	result, err := s.box.call(s.program, call{
		function: "transform", global: "obj", argument: in.value(value, 1),
		example: "function transform() return {resource=obj} end",
	})
	if err != nil || result == gopher.LNil {
		return nil, "", err
	}
	table, ok := result.(*gopher.LTable)
	if !ok {
		return nil, "", faultf("transform returned %s; return {resource=obj}, or nothing to leave the object unchanged",
			described(result))
	}
	message, err := readMessage(table, "transform returned a message")
	if err != nil {
		return nil, "", err
	}
	patch, err := eagerDifference(value, said(table, "resource"), in)
	if err != nil {
		return nil, "", err
	}
	return patch, message, nil
}

func (s *eagerSession) Aggregate(objects []object.Object) ([]Selected, error) {
	s.begin(object.Object{})
	list, all, err := s.give(objects)
	if err != nil {
		return nil, err
	}
	result, err := s.box.call(s.program, call{
		function: "evaluate", global: "resources", argument: list,
		example: "function evaluate() return {resources={}} end",
	})
	if err != nil {
		return nil, err
	}
	return all.selected(result)
}

// eagerGiven is what a script got: how to recognise it in a result.
type eagerGiven struct {
	identities []identity
	byTable    map[*gopher.LTable]int
	byName     map[identity]int
}

func (s *eagerSession) give(objects []object.Object) (*gopher.LTable, *eagerGiven, error) {
	in := eagerImporter{state: s.box.state}
	list := s.box.state.CreateTable(len(objects), 0)
	all := &eagerGiven{
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
		all.identities[i] = eagerIdentify(table)
		all.byTable[table] = i
		all.byName[all.identities[i].withoutUID()] = i
	}
	return list, all, nil
}

func (g *eagerGiven) selected(result gopher.LValue) ([]Selected, error) {
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
	list, ok := field.(*gopher.LTable)
	if !ok {
		return nil, faultf("evaluate returned resources that is %s; it must be a list", described(field))
	}
	return g.entries(list)
}

func (g *eagerGiven) entries(list *gopher.LTable) ([]Selected, error) {
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

func (g *eagerGiven) entry(value gopher.LValue, place int) (int, string, error) {
	entry, ok := value.(*gopher.LTable)
	if !ok {
		return 0, "", faultf("resources[%d] is %s; write {resource=obj, message=\"why\"}", place, described(value))
	}
	resource, ok := said(entry, "resource").(*gopher.LTable)
	if !ok {
		return 0, "", faultf("resources[%d].resource is %s; write {resource=obj, message=\"why\"}", place,
			described(said(entry, "resource")))
	}
	index, fault := g.find(resource)
	if fault != "" {
		return 0, "", faultf("resources[%d].resource %s", place, fault)
	}
	message, err := readMessage(entry, "evaluate returned a message")
	return index, message, err
}

// find returns the index of a table that came back, or what is wrong with it.
func (g *eagerGiven) find(table *gopher.LTable) (int, string) {
	now := eagerIdentify(table)
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

// eagerIdentify reads the identity without metamethods, which a script could have set.
func eagerIdentify(table *gopher.LTable) identity {
	text := func(from *gopher.LTable, key string) string {
		value, _ := from.RawGetString(key).(gopher.LString)
		return string(value)
	}
	found := identity{apiVersion: text(table, "apiVersion"), kind: text(table, "kind")}
	if metadata, ok := table.RawGetString("metadata").(*gopher.LTable); ok {
		found.namespace, found.name = text(metadata, "namespace"), text(metadata, "name")
		found.uid = text(metadata, "uid")
	}
	return found
}
