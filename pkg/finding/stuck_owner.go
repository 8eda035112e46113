// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
)

// owner is who may remove a finalizer: what is known of it in words, and the workloads that may be its controller.
type owner struct {
	text          string
	dead, running []graph.Name
}

// ownerOf says whose finalizer it is, by its domain, and whether that lives.
func (f *Finder) ownerOf(finalizer string) owner {
	domain := domainOf(finalizer)
	if known, ok := f.owners[domain]; ok {
		return known
	}
	found := owner{text: "it is of " + domain}
	if !strings.Contains(domain, ".") {
		found.text = "it is unknown which controller owns this finalizer"
	} else if !f.servesGroupOf(domain) {
		found.text += ", of which the cluster serves no kind"
	}
	fitting := f.controllersOf(domain)
	var words []string
	for i, name := range fitting {
		state := "which runs"
		if f.workloads[name].isAvailable {
			found.running = append(found.running, name)
		} else {
			state = "which has no available Pod"
			found.dead = append(found.dead, name)
		}
		words = append(words, name.String()+", "+state)
		if i == 2 { // more say nothing
			break
		}
	}
	switch {
	case len(words) > 0:
		found.text = fmt.Sprintf("its controller may be %s", strings.Join(words, ", or "))
	case len(f.lacking(workloadKinds...)) > 0:
		found.text += ", and it is unknown whether its controller runs"
	default:
		found.text += ", and no controller was found that may own it"
	}
	f.owners[domain] = found
	return found
}

// domainOf is the domain of a finalizer: before its slash, or, in the older form, behind its name and a dot.
func domainOf(finalizer string) string {
	domain, _, found := strings.Cut(finalizer, "/")
	if !found {
		if _, after, dotted := strings.Cut(finalizer, "."); dotted {
			domain = after
		}
	}
	return domain
}

// servesGroupOf reports whether the cluster serves a kind of the domain, or of one above or below it.
func (f *Finder) servesGroupOf(domain string) bool {
	for _, kind := range f.Served {
		if kind.Group != "" && (isBelow(domain, kind.Group) || isBelow(kind.Group, domain)) {
			return true
		}
	}
	return false
}

// isBelow reports whether a domain is part of another.
func isBelow(domain, of string) bool {
	return domain == of || strings.HasSuffix(domain, "."+of)
}

// controllersOf are the workloads whose names fit a domain best, in the order of their names.
func (f *Finder) controllersOf(domain string) (best []graph.Name) {
	words := wordsOf(domain)
	least := 0
	for name, w := range f.workloads {
		switch rank := fits(name.Name, w.also, words); {
		case rank == 0 || least > 0 && rank > least:
		case rank == least:
			best = append(best, name)
		default:
			least, best = rank, []graph.Name{name}
		}
	}
	slices.SortFunc(best, byName)
	return best
}

func byName(a, b graph.Name) int { return cmp.Compare(a.String(), b.String()) }

// commonWords say nothing of whose a domain is.
var commonWords = []string{
	"k8s", "x-k8s", "kubernetes", "toolkit", "cluster", "operator", "operators", "controller", "controllers", "finalizer",
	"finalizers", "app", "apps", "core", "api", "internal", "services", "resources",
}

// wordsOf are the parts of a domain that may be in the name of a controller, the last one first: it says most of whose
// it is.
func wordsOf(domain string) []string {
	words := strings.Split(strings.ToLower(domain), ".")
	if len(words) > 1 {
		words = words[:len(words)-1]
	}
	slices.Reverse(words)
	return slices.DeleteFunc(words, func(word string) bool { return word == "" || slices.Contains(commonWords, word) })
}

// fits says how well the names of a workload fit the words of a domain. 1 is best, and 0 not at all: a word alone may
// stand in the name of anything, so the name must be it, or say that the workload is a controller.
func fits(name string, also, words []string) int {
	has := func(word string) bool { return strings.Contains("-"+name+"-", "-"+word+"-") }
	ends := func(end string) bool { return strings.HasSuffix(name, end) }
	switch controls := ends("-operator") || ends("-controller") || ends("-manager"); {
	case len(words) == 0:
		return 0
	case controls && has(words[0]):
		return 1
	case name == words[0]:
		return 2
	case controls && slices.ContainsFunc(words[1:], has):
		return 3
	case slices.Contains(also, words[0]):
		return 4
	}
	return 0
}
