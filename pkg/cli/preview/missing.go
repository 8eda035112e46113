// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// reportMissing says in one line which kinds are missing from the manifests of --from: what would become of their
// objects is not known, nor whether they use others.
func (j *job) reportMissing(ctx context.Context) {
	if j.dump == nil || j.complete {
		return
	}
	lacking, what := j.missing, ""
	if j.lacks || j.unknown > 0 {
		lacking = append(slices.Clone(lacking), j.dump.Lacks()...)
	}
	if len(lacking) == 0 {
		return
	}
	if len(j.missing) > 0 || j.lacks {
		what = "what Cleaners would do with them"
	}
	if j.unknown > 0 {
		use := "whether they use " + terminal.Grouped(j.unknown, "object") + " that may be unused"
		if what != "" {
			use = what + ", and " + use + ","
		}
		what = use
	}
	kinds, resources := namesOf(lacking)
	list := terminal.OrList(kinds)
	if len(kinds) > terminal.MaxNames+1 {
		list = terminal.Shortened(kinds, terminal.MaxNames)
	}
	j.fails(j.Conclude(ctx, &terminal.Failure{
		Exit: codes.ExitPartial,
		Code: codes.DumpPartial,
		Err:  fmt.Errorf("the manifests hold no %s, so %s is not known", list, what),
		Hint: fmt.Sprintf(
			"add what this prints: kubectl get %s -A -o yaml; or, if there are none, say so with --complete",
			strings.Join(resources, ","),
		),
	}))
}

// namesOf are the names of kinds, each once: for people, and for kubectl get.
func namesOf(kinds []object.Kind) (names, resources []string) {
	for _, kind := range kinds {
		resource := kind.Resource
		if kind.Group != "" {
			resource += "." + kind.Group
		}
		names = append(names, kind.GroupKind().String())
		resources = append(resources, resource)
	}
	slices.Sort(names)
	slices.Sort(resources)
	return slices.Compact(names), slices.Compact(resources)
}
