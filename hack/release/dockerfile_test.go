// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The image has what the Dockerfile says: without script-runner beside it, the manager would run scripts in another way.
func TestRecipeOfTheDockerfile(t *testing.T) {
	t.Parallel()
	r, err := readRecipe(dockerfile(t))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.commands, []string{"./cmd/manager", "./cmd/script-runner"}) || r.user != "65532:65532" || !slices.Equal(r.entrypoint, []string{"/manager"}) {
		t.Errorf("the recipe is %+v", r)
	}
}

func TestOtherDockerfilesAreRefused(t *testing.T) {
	t.Parallel()
	text := dockerfile(t)
	for from, to := range map[string]string{
		"FROM scratch": "FROM alpine", "script-runner /": "script-runner /bin/", "ENTRYPOINT [": "CMD [", "USER ": "#",
		"ENTRYPOINT": "COPY --from=other / /\nENTRYPOINT", "bin/linux-${TARGETARCH}/manager": "elsewhere/manager",
	} {
		if _, err := readRecipe(strings.Replace(text, from, to, 1)); err == nil || !strings.Contains(err.Error(), "hack/release/dockerfile.go") {
			t.Errorf("with %s instead of %s the error is %v", to, from, err)
		}
	}
}

func dockerfile(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
