// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package recipes

import (
	"strings"
	"testing"
	"testing/fstest"
)

const goodReadme = "# one\nGroup: unused\n\n## Finds\nWhat nobody uses. In\nall namespaces.\n\n## May also select\nA\n\n## Needs\nB\n\n## Let it act\nC\n"

// The README of a recipe has one form, because the plugin and the docs read it.
func TestRead(t *testing.T) {
	read := func(readme string) ([]Recipe, error) {
		return Read(fstest.MapFS{"one/cleaner.yaml": {Data: []byte("kind: Cleaner\n")}, "one/README.md": {Data: []byte(readme)}})
	}
	all, err := read(goodReadme)
	if err != nil {
		t.Fatal(err)
	}
	want := Recipe{
		Name: "one", Group: "unused", Finds: "What nobody uses. In\nall namespaces.", AlsoSelects: "A", Needs: "B", Act: "C",
		Cleaner: "kind: Cleaner\n", Readme: goodReadme,
	}
	if len(all) != 1 || all[0] != want || all[0].Summary() != "What nobody uses" {
		t.Errorf("got %+v", all)
	}
	for name, c := range map[string]struct{ from, to, want string }{
		"another name":      {"# one", "# two", `one/README.md: its first line is not "# one"`},
		"no group":          {"Group: unused\n", "", `below the title stands no line such as "Group: unused"`},
		"unknown group":     {"unused", "useless", "with one of unused, unhealthy, finished, time, cost, operate"},
		"a section missing": {"\n## Let it act\nC\n", "", `the section "Let it act" is missing`},
		"an empty section":  {"## Needs\nB\n", "## Needs\n", `section 3 must be "Needs", and have text; it is "Needs"`},
		"another order":     {"## Finds", "## Needs", `section 1 must be "Finds", and have text; it is "Needs"`},
		"one section more":  {"C\n", "C\n\n## More\nD\n", "there are more sections"},
	} {
		if _, err := read(strings.Replace(goodReadme, c.from, c.to, 1)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// What is embedded can be read.
func TestAll(t *testing.T) {
	if all, err := All(); err != nil || len(all) == 0 {
		t.Errorf("%d recipes, %v", len(all), err)
	}
}
