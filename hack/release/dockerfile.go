// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
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
	built      = regexp.MustCompile(`(?m)^ *go build .* -o /out/((?: \./cmd/[a-z-]+)+)$`)
	copied     = regexp.MustCompile(`(?m)^COPY --from=builder /out/ /$`)
	user       = regexp.MustCompile(`(?m)^USER (\S+)$`)
	entrypoint = regexp.MustCompile(`(?m)^ENTRYPOINT (\[.*\])$`)
)

// readRecipe understands the Dockerfile of this repository, and refuses any other.
func readRecipe(dockerfile string) (recipe, error) {
	b, u, e := built.FindStringSubmatch(
		dockerfile,
	), user.FindStringSubmatch(
		dockerfile,
	), entrypoint.FindStringSubmatch(
		dockerfile,
	)
	if b == nil || u == nil || e == nil || !copied.MatchString(dockerfile) ||
		strings.Count(dockerfile, "\nCOPY --from=") != 1 {
		return recipe{}, errors.New(
			"the Dockerfile has changed in a way that hack/release/dockerfile.go does not understand: change both together",
		)
	}
	r := recipe{commands: strings.Fields(b[1]), user: u[1]}
	return r, json.Unmarshal([]byte(e[1]), &r.entrypoint)
}
