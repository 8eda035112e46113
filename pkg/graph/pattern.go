// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import "strings"

// A Name that stands for several objects has "*" for any text, in its namespace or its name, or "#" for a number at the
// end of its name. No real name has either. Those in common use are found without a comparison: see each.

// isPattern reports whether the name stands for several objects.
func (n Name) isPattern() bool {
	return strings.ContainsAny(n.Name, "*#") || strings.Contains(n.Namespace, "*")
}

// mustCompare reports whether each does not find the pattern by itself.
func (n Name) mustCompare() bool {
	name := strings.TrimSuffix(n.Name, "#")
	return !isPlain(n.Namespace) || !isPlain(name) || name != n.Name && n.Namespace == "*"
}

func isPlain(text string) bool { return text == "*" || !strings.ContainsAny(text, "*#") }

// each visits all targets that stand for an object: the one of its name, and the patterns that match it.
func (g *Graph) each(name Name, visit func(*target)) {
	find := func(namespace, n string) {
		if t := g.targets[Name{name.GroupKind, namespace, n}.key()]; t != nil {
			visit(t)
		}
	}
	find(name.Namespace, name.Name)
	find(name.Namespace, "*")
	if name.Namespace != "" {
		find("*", name.Name)
		find("*", "*")
	}
	if base := withoutNumber(name.Name); base != name.Name {
		find(name.Namespace, base+"#")
	}
	for _, namespace := range []string{name.Namespace, "*"} {
		for _, t := range g.patterns[Name{GroupKind: name.GroupKind, Namespace: namespace}] {
			if t.name.matches(name) {
				visit(t)
			}
		}
	}
}

// maxCompared is how many patterns of a kind and a namespace are compared with each object. Beyond it, they count as a
// pattern for any name in the namespace.
const maxCompared = 1000

// place is where a pattern is kept: its kind, and its namespace, which is "*" if that is a pattern, too.
func (n Name) place() Name {
	if !isPlain(n.Namespace) {
		return Name{GroupKind: n.GroupKind, Namespace: "*"}
	}
	return Name{GroupKind: n.GroupKind, Namespace: n.Namespace}
}

// matches reports whether a name that may be a pattern stands for an object.
func (n Name) matches(object Name) bool {
	if n.GroupKind != object.GroupKind || !like(n.Namespace, object.Namespace) {
		return false
	}
	if base, ok := strings.CutSuffix(n.Name, "#"); ok {
		without := withoutNumber(object.Name)
		return without != object.Name && like(base, without)
	}
	return like(n.Name, object.Name)
}

// like compares a text with a pattern.
func like(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(text, first) || !strings.HasSuffix(text[len(first):], last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = after
	}
	return true
}

// withoutNumber is the name without the digits at its end.
func withoutNumber(name string) string { return strings.TrimRight(name, "0123456789") }

// variables are how texts refer to what is known only later: in classes of storage, in workflows and in templates.
var variables = []struct{ begin, end string }{{"${", "}"}, {"$(", ")"}, {"{{", "}}"}}

// withoutVariables puts "*" in the place of each variable of a name, and of what no name can hold, but a pattern may.
func withoutVariables(text string) string {
	if !strings.ContainsAny(text, "${*#") {
		return text
	}
	text = strings.ReplaceAll(text, "#", "*")
	for _, v := range variables {
		for {
			before, rest, found := strings.Cut(text, v.begin)
			if !found {
				break
			}
			_, after, _ := strings.Cut(rest, v.end)
			text = before + "*" + after
		}
	}
	return text
}
