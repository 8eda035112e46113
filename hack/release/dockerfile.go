// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"strings"
)

// recipe is what the Dockerfile says about the image.
type recipe struct {
	// commands are the packages whose programs are in the root of the image.
	commands   []string
	user       string
	entrypoint []string
}

var (
	copied     = regexp.MustCompile(`(?m)^COPY ((?:bin/linux-\$\{TARGETARCH\}/[a-z-]+ )+)/$`)
	user       = regexp.MustCompile(`(?m)^USER (\S+)$`)
	entrypoint = regexp.MustCompile(`(?m)^ENTRYPOINT (\[.*\])$`)
)

// readRecipe understands the Dockerfile of this repository, and refuses any other.
func readRecipe(dockerfile string) (recipe, error) {
	c, u := copied.FindStringSubmatch(dockerfile), user.FindStringSubmatch(dockerfile)
	e := entrypoint.FindStringSubmatch(dockerfile)
	once := strings.Count(dockerfile, "\nCOPY ") == 1 && strings.Count(dockerfile, "\nFROM scratch\n") == 1
	if c == nil || u == nil || e == nil || !once {
		return recipe{}, errors.New(
			"the Dockerfile has changed in a way that hack/release/dockerfile.go does not understand: change both together",
		)
	}
	r := recipe{user: u[1]}
	for _, program := range strings.Fields(c[1]) {
		r.commands = append(r.commands, "./cmd/"+path.Base(program))
	}
	return r, json.Unmarshal([]byte(e[1]), &r.entrypoint)
}
