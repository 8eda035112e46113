// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package recipes carries the recipes in the binary: Cleaners that answer questions that people ask, each in a
// directory of its own.
package recipes

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed */cleaner.yaml */README.md
var files embed.FS

// Groups are what a recipe can be about, in the order of the docs.
var Groups = []string{"unused", "unhealthy", "finished", "time", "cost", "operate"}

// Recipe is a Cleaner with what its README says of it.
type Recipe struct {
	// Name is the name of the directory, and of the Cleaner.
	Name string
	// Group is one of Groups.
	Group string
	// Finds, AlsoSelects, Needs and Act are the sections of the README, as Markdown.
	Finds, AlsoSelects, Needs, Act string
	// Cleaner is cleaner.yaml as it stands, and Readme README.md.
	Cleaner, Readme string
}

// All returns the recipes, by group and name.
func All() ([]Recipe, error) { return Read(files) }

// Read reads the recipes of a directory.
func Read(dir fs.FS) ([]Recipe, error) {
	cleaners, err := fs.Glob(dir, "*/cleaner.yaml")
	if err != nil {
		return nil, err
	}
	var all []Recipe
	for _, file := range cleaners {
		recipe, err := read(dir, path.Dir(file))
		if err != nil {
			return nil, err
		}
		all = append(all, recipe)
	}
	slices.SortStableFunc(
		all,
		func(a, b Recipe) int { return slices.Index(Groups, a.Group) - slices.Index(Groups, b.Group) },
	)
	return all, nil
}

func read(dir fs.FS, name string) (Recipe, error) {
	cleaner, err := fs.ReadFile(dir, name+"/cleaner.yaml")
	if err != nil {
		return Recipe{}, err
	}
	readme, err := fs.ReadFile(dir, name+"/README.md")
	if err != nil {
		return Recipe{}, err
	}
	recipe, err := parse(string(readme))
	if err == nil && recipe.Name != name {
		err = fmt.Errorf("its first line is not %q", "# "+name)
	}
	if err != nil {
		return Recipe{}, fmt.Errorf("%s/README.md: %w", name, err)
	}
	recipe.Cleaner, recipe.Readme = string(cleaner), string(readme)
	for _, text := range []*string{&recipe.Finds, &recipe.AlsoSelects, &recipe.Needs, &recipe.Act} {
		*text = toRecipe.ReplaceAllString(toPage.ReplaceAllString(*text, "$1 ("+pages+"$2)"), "$1")
	}
	return recipe, nil
}

// pages is where people read the pages of the repository.
const pages = "https://github.com/kubecleaner/kubecleaner/blob/main/"

// toPage is a link to a page of the repository, and toRecipe one to another recipe. In a Cleaner that somebody wrote to
// a file of their own they would lead nowhere; there, the page's address stands, and the name of the recipe.
var (
	toPage   = regexp.MustCompile(`\[([^\]]+)\]\((?:\.\./)+(docs/[^)]+)\)`)
	toRecipe = regexp.MustCompile(`\[([^\]]+)\]\(\.\./[^)]+\)`)
)

// parse reads a README: a title, the group, and the four sections in their order.
func parse(text string) (Recipe, error) {
	head, body, _ := strings.Cut(text, "\n## ")
	title, group, _ := strings.Cut(strings.TrimSpace(head), "\n")
	recipe := Recipe{Name: strings.TrimPrefix(title, "# ")}
	recipe.Group = strings.TrimPrefix(strings.TrimSpace(group), "Group: ")
	if !slices.Contains(Groups, recipe.Group) {
		return recipe, fmt.Errorf(
			"below the title stands no line such as %q, with one of %s",
			"Group: unused",
			strings.Join(Groups, ", "),
		)
	}
	into := []struct {
		heading string
		text    *string
	}{
		{"Finds", &recipe.Finds},
		{"May also select", &recipe.AlsoSelects},
		{"Needs", &recipe.Needs},
		{"Let it act", &recipe.Act},
	}
	sections := strings.Split(body, "\n## ")
	for i, section := range into {
		if i >= len(sections) {
			return recipe, fmt.Errorf("the section %q is missing", section.heading)
		}
		heading, text, _ := strings.Cut(sections[i], "\n")
		if *section.text = strings.TrimSpace(text); heading != section.heading || *section.text == "" {
			return recipe, fmt.Errorf("section %d must be %q, and have text; it is %q", i+1, section.heading, heading)
		}
	}
	if len(sections) > len(into) {
		return recipe, fmt.Errorf("there are more sections than Finds, May also select, Needs and Let it act")
	}
	return recipe, nil
}

// Summary is what the recipe finds, in a sentence.
func (r *Recipe) Summary() string { return sentence(r.Finds) }

// Rights is what the recipe needs, in a sentence.
func (r *Recipe) Rights() string { return sentence(r.Needs) }

// sentence is the first one of a text, without its full stop.
func sentence(text string) string {
	words := strings.Join(strings.Fields(text), " ")
	if end := strings.Index(words, ". "); end > 0 {
		words = words[:end]
	}
	return strings.TrimSuffix(words, ".")
}
