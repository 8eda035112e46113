// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package initialize

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/config/recipes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
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
	Name        string   `json:"name"`
	Group       string   `json:"group"`
	Finds       string   `json:"finds"`
	AlsoSelects string   `json:"mayAlsoSelect"`
	Needs       string   `json:"needs"`
	Act         string   `json:"letItAct"`
	Kinds       []string `json:"kinds"`
}

// print lists the recipes of the group that are about all words.
func (o *options) print(known []recipe, words []string) error {
	asked := strings.Join(words, " ")
	words = wordsOf(words)
	of := slices.DeleteFunc(
		slices.Clone(known),
		func(r recipe) bool { return o.group != "all" && r.Group != o.group },
	)
	shown, all := search(of, words)
	if len(shown) == 0 {
		return none(known, asked, o.group)
	}
	if !all {
		o.Note("no recipe is about all of %s; these are about some of it", terminal.Quoted(asked))
	}
	switch o.output {
	case "json":
		all := make([]listed, len(shown))
		for i, r := range shown {
			all[i] = listed{
				Name:        r.Name,
				Group:       r.Group,
				Finds:       flat(r.Finds),
				AlsoSelects: flat(r.AlsoSelects),
				Needs:       flat(r.Needs),
				Act:         flat(r.Act),
				Kinds:       r.kindNames(),
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

func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
