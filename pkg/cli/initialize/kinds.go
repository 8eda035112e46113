// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package initialize

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/cli/kinds"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// noKind says that a recipe does not have a kind, and which one may have been meant: one of its own, or else one of
// Kubernetes.
func noKind(r *recipe, wanted string) error {
	names := r.kindNames()
	if near := suggest.Nearest(wanted, names); near != "" {
		return fmt.Errorf("--kind %s: it has no such kind; did you mean %q?", wanted, near)
	}
	kind, has := wanted, "it has "
	known, err := kinds.New()
	if err != nil {
		return err
	}
	near := known.Meant(wanted)
	if near != "" && !strings.HasPrefix(strings.ToLower(wanted), strings.ToLower(near)) { // it may be a plural
		kind, has = near, fmt.Sprintf("did you mean %q? It does not have that kind either: ", near)
	}
	message := fmt.Sprintf("--kind %s: the recipe has no selector of this kind; %s%s",
		wanted, has, strings.Join(names, ", "))
	if other := otherWith(r, kind); other != "" {
		message += "; the recipe " + other + " has it"
	}
	return errors.New(message)
}

// otherWith is a recipe of the same group that has a kind. Empty when there is none.
func otherWith(than *recipe, kind string) string {
	known, err := read()
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(known, func(r recipe) bool { return r.Group == than.Group && r.hasKind(kind) })
	if i < 0 {
		return ""
	}
	return known[i].Name
}
