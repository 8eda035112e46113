// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package initialize

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/config/recipes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// recipe is one with the kinds that its Cleaner selects.
type recipe struct {
	recipes.Recipe
	cleaner v1alpha1.Cleaner
	kinds   []object.Kind
}

// read reads all recipes of this program.
func read() ([]recipe, error) {
	all, err := recipes.All()
	if err != nil {
		return nil, err
	}
	found := make([]recipe, len(all))
	for i := range all {
		r := recipe{Recipe: all[i]}
		if err := yaml.Unmarshal([]byte(r.Cleaner), &r.cleaner); err != nil {
			return nil, fmt.Errorf("the recipe %s: %w", r.Name, err)
		}
		for _, s := range r.cleaner.Spec.ResourcePolicySet.ResourceSelectors {
			r.kinds = append(r.kinds, kindOf(&s))
		}
		found[i] = r
	}
	return found, nil
}

// listed is what -o json prints of a recipe.
type listed struct {
	Name     string   `json:"name"`
	Group    string   `json:"group"`
	Finds    string   `json:"finds"`
	AlsoHits string   `json:"mayAlsoHit"`
	Needs    string   `json:"needs"`
	Arm      string   `json:"armIt"`
	Kinds    []string `json:"kinds"`
}

// print lists the recipes of the group that are about all words.
func (o *options) print(known []recipe, words []string) error {
	shown := slices.DeleteFunc(
		withWords(known, words),
		func(r recipe) bool { return o.group != "all" && r.Group != o.group },
	)
	if len(shown) == 0 {
		return none(known, words, o.group)
	}
	switch o.output {
	case "json":
		all := make([]listed, len(shown))
		for i, r := range shown {
			all[i] = listed{
				Name:     r.Name,
				Group:    r.Group,
				Finds:    flat(r.Finds),
				AlsoHits: flat(r.AlsoHits),
				Needs:    flat(r.Needs),
				Arm:      flat(r.Arm),
				Kinds:    r.kindNames(),
			}
		}
		return terminal.WriteJSON(o.Out, map[string]any{"recipes": all})
	case "name":
		for _, r := range shown {
			fmt.Fprintln(o.Out, r.Name)
		}
		return nil
	}
	paint := o.Paint(o.Out)
	for i, r := range shown {
		if i == 0 || shown[i-1].Group != r.Group {
			fmt.Fprintf(o.Out, "%s%s\n", map[bool]string{false: "\n"}[i == 0], paint.Bold(strings.ToUpper(r.Group)))
		}
		fmt.Fprintf(o.Out, "  %s\n      %s.\n      needs: %s.\n", paint.Bold(r.Name), r.Summary(), r.Rights())
	}
	fmt.Fprintln(
		o.ErrOut,
		terminal.Counted(len(shown), "recipe")+"; to write one: kubectl cleaner init NAME > cleaner.yaml",
	)
	return nil
}

// none says that no recipe is about the words, with the nearest word that recipes have.
func none(known []recipe, words []string, group string) error {
	var texts []string
	for _, r := range known {
		texts = append(texts, strings.FieldsFunc(r.text(), func(c rune) bool { return c != '-' && (c < 'a' || c > 'z') })...)
	}
	hint := "to see all: kubectl cleaner init --list"
	for _, word := range words {
		if near := suggest.Nearest(word, texts); near != "" && len(withWords(known, []string{word})) == 0 {
			hint = "did you mean " + terminal.Quoted(near) + "?"
		}
	}
	about := "about " + terminal.Quoted(strings.Join(words, " "))
	if group != "all" {
		about = strings.TrimSpace(map[bool]string{true: about}[len(words) > 0] + " in the group " + group)
	}
	return terminal.Fail(codes.RecipeNotFound, errors.New("there is no recipe "+about), hint)
}

// withWords are the recipes that are about all words: in what they find or, if there are none, in all that is said of
// them.
func withWords(known []recipe, words []string) []recipe {
	found := having(known, words, (*recipe).text)
	if len(found) == 0 {
		found = having(known, words, func(r *recipe) string { return strings.ToLower(r.Readme) })
	}
	return found
}

// having are the recipes of which a text has all words, in the singular or plural.
func having(known []recipe, words []string, textOf func(*recipe) string) []recipe {
	return slices.DeleteFunc(slices.Clone(known), func(r recipe) bool {
		text := textOf(&r)
		return slices.ContainsFunc(words, func(word string) bool {
			word = strings.ToLower(word)
			one := strings.TrimSuffix(word, "s")
			return !hasWord(text, word) && !hasWord(text, one) && !r.hasKind(word) && !r.hasKind(one)
		})
	})
}

// hasWord reports whether a text has a word, or a part of one. Two letters are a whole word: "pr" is not in "prune".
func hasWord(text, word string) bool {
	if len(word) > 2 {
		return strings.Contains(text, word)
	}
	isBreak := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }
	return slices.Contains(strings.FieldsFunc(text, isBreak), word)
}

// keywords are words that people look for, and that stand in no description of the recipe.
var keywords = map[string]string{
	"dangling-references":    "missing broken",
	"unused":                 "orphan orphaned",
	"used-only-by-unused":    "orphan orphaned",
	"scale-down-workloads":   "downscale weekend night",
	"scale-down-autoscalers": "downscale weekend night",
	"scale-up-workloads":     "upscale weekend",
	"scale-up-autoscalers":   "upscale weekend",
	"suspend-cronjobs":       "weekend night",
	"resume-cronjobs":        "weekend",
	"stuck-deletions":        "terminating finalizer",
	"ttl-marks":              "expired ttl",
	"pull-request-leftovers": "pr",
	"preview-namespaces":     "pr expired",
}

// text is what words are looked for in.
func (r *recipe) text() string {
	return strings.ToLower(strings.Join(append(r.kindNames(), r.Name, r.Group, flat(r.Finds), keywords[r.Name]), " "))
}

func (r *recipe) kindNames() (names []string) {
	for _, kind := range r.kinds {
		names = append(names, kind.Kind)
	}
	return slices.Compact(names)
}

func (r *recipe) hasKind(name string) bool {
	return slices.ContainsFunc(r.kinds, func(kind object.Kind) bool { return isCalled(kind, name) })
}

// isCalled reports whether users call a kind so: by its name, its plural, or a short name of kubectl.
func isCalled(kind object.Kind, name string) bool {
	name = strings.ToLower(name)
	return name == strings.ToLower(kind.Kind) || name == kind.Resource || slices.Contains(dump.ShortNames(kind.Kind), name)
}

func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
