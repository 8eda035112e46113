// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package initialize

import (
	"cmp"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/kubecleaner/kubecleaner/config/recipes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// none says that no recipe is about the words, with the nearest word that recipes have in their names.
func none(known []recipe, asked, group string) error {
	var texts []string
	for i := range known {
		r := &known[i]
		for term := range terms(strings.Join(append(r.kindNames(), r.Name, keywords[r.Name]), " ")) {
			texts = append(texts, term)
		}
	}
	slices.Sort(texts)
	hint := "to see all: kubectl cleaner init --list"
	for _, word := range wordsOf([]string{asked}) {
		near := suggest.Nearest(word, texts)
		if len(word) < minMistyped || len(near) < minMistyped || len(withWords(known, []string{word})) > 0 {
			continue
		}
		hint = "did you mean " + terminal.Quoted(near) + "?"
	}
	about := "about " + terminal.Quoted(asked)
	if group != "all" {
		about = strings.TrimSpace(map[bool]string{true: about}[asked != ""] + " in the group " + group)
	}
	return terminal.Fail(codes.RecipeNotFound, errors.New("there is no recipe "+about), hint)
}

// nearest are the recipes of which the name, or its first words but not the first one alone, is nearest to a text.
// Dashes do not count.
func nearest(known []recipe, text string) []string {
	named := map[string][]string{}
	for _, r := range known {
		words := strings.Split(r.Name, "-")
		for n := min(2, len(words)); n <= len(words); n++ {
			plain := strings.Join(words[:n], "")
			named[plain] = append(named[plain], r.Name)
		}
	}
	return named[suggest.Nearest(strings.ReplaceAll(text, "-", ""), slices.Sorted(maps.Keys(named)))]
}

// minMistyped is how long a word must be to be taken for a mistyped one: of shorter ones, each is near another.
const minMistyped = 5

// wordsOf are the words of a question that say what is looked for.
func wordsOf(question []string) (words []string) {
	isBreak := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }
	all := strings.FieldsFunc(strings.ToLower(strings.Join(question, " ")), isBreak)
	for _, word := range all {
		isNumber := strings.Trim(word, "0123456789") == ""
		if !slices.Contains(words, word) && !isNumber && !slices.Contains(passing, word) {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return all
	}
	return words
}

// withWords are the recipes that are about all words.
func withWords(known []recipe, words []string) []recipe {
	if found, all := search(known, words); all {
		return found
	}
	return nil
}

// search are the recipes that are about the most of the words, the nearest first in each group and the nearest group
// first, and whether they are about all of them: in what they find or, if there are none, in all that is said of them.
func search(known []recipe, words []string) (found []recipe, all bool) {
	found, most := about(known, words, (*recipe).text)
	if most < len(words) {
		whole := func(r *recipe) string { return r.text() + " " + r.Readme }
		if wider, more := about(known, words, whole); more > most {
			found, most = wider, more
		}
	}
	return found, most == len(words)
}

// about are the recipes in whose texts the most of the words stand, and how many these are.
func about(known []recipe, words []string, textOf func(*recipe) string) (found []recipe, most int) {
	if len(words) == 0 {
		return known, 0
	}
	points := map[string]int{}
	for i := range known {
		n, worth := known[i].has(words, terms(textOf(&known[i])))
		if n > most {
			found, most = nil, n
		}
		if n == most && n > 0 {
			found = append(found, known[i])
			points[known[i].Name] = worth
		}
	}
	best := map[string]int{}
	for _, r := range found {
		best[r.Group] = max(best[r.Group], points[r.Name])
	}
	place := func(r recipe) int { return slices.Index(recipes.Groups, r.Group) }
	slices.SortStableFunc(found, func(a, b recipe) int {
		return cmp.Or(best[b.Group]-best[a.Group], place(a)-place(b), points[b.Name]-points[a.Name])
	})
	return found, most
}

// has counts the words that a recipe is about. A word in its name is worth more than one in its text.
func (r *recipe) has(words []string, in map[string]bool) (n, worth int) {
	name := terms(r.Name + " " + keywords[r.Name])
	for _, word := range words {
		stems := stemsOf(word)
		switch {
		case stands(stems, name):
			n, worth = n+1, worth+3
		case slices.ContainsFunc(stems, r.hasKind):
			n, worth = n+1, worth+2
		case stands(stems, in):
			n, worth = n+1, worth+1
		}
	}
	return n, worth
}

// stands reports whether a term begins with one of the stems. Two letters are a whole word: "pr" is not in "prune".
func stands(stems []string, in map[string]bool) bool {
	for _, stem := range stems {
		if in[stem] {
			return true
		}
		for term := range in {
			if len(stem) > 2 && strings.HasPrefix(term, stem) {
				return true
			}
		}
	}
	return false
}

// stemsOf are a word, what the recipes call it, and both without an ending.
func stemsOf(word string) []string {
	stems := []string{word}
	if other := meant[word]; other != "" {
		stems = append(stems, other)
	}
	for _, of := range slices.Clone(stems) {
		for _, ending := range []string{"s", "es", "ing", "ed", "ly"} {
			if stem := strings.TrimSuffix(of, ending); stem != of && len(stem) > 1 {
				stems = append(stems, stem)
			}
		}
		if stem := strings.TrimSuffix(of, "ies"); stem != of {
			stems = append(stems, stem+"y")
		}
	}
	return stems
}

var termPart = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

// terms are the words of a text, and the parts of those that are written as ConfigMap is.
func terms(text string) map[string]bool {
	found := map[string]bool{}
	isBreak := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }
	for _, word := range strings.FieldsFunc(text, isBreak) {
		found[strings.ToLower(word)] = true
		for _, part := range termPart.FindAllString(word, -1) {
			found[strings.ToLower(part)] = true
		}
	}
	return found
}

// text is what words are looked for in first.
func (r *recipe) text() string {
	return strings.Join(append(r.kindNames(), r.Name, r.Group, flat(r.Finds), keywords[r.Name]), " ")
}

func (r *recipe) kindNames() (names []string) {
	for _, kind := range r.kinds {
		names = append(names, kind.Kind)
	}
	return slices.Compact(names)
}

func (r *recipe) hasKind(name string) bool {
	return slices.ContainsFunc(r.kinds, func(kind object.Kind) bool {
		group, _, _ := strings.Cut(kind.Group, ".")
		return isCalled(kind, name) || name == "rbac" && group == name
	})
}

// isCalled reports whether users call a kind so: by its name, its plural, or a short name of kubectl.
func isCalled(kind object.Kind, name string) bool {
	return strings.EqualFold(name, kind.Resource) || terminal.IsCalled(kind.GroupKind(), name)
}
