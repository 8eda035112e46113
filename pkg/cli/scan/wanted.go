// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// typesOf finds types of findings by their names in any case. wrong says of each name that there is no such type.
func typesOf(names []string) (types []v1alpha1.FindingType, wrong []string) {
	all := allTypes()
	for _, name := range names {
		i := slices.IndexFunc(all, func(t v1alpha1.FindingType) bool { return strings.EqualFold(string(t), name) })
		if i < 0 {
			wrong = append(wrong, noSuchType(name, all))
			continue
		}
		types = append(types, all[i])
	}
	return types, wrong
}

func noSuchType(text string, all []v1alpha1.FindingType) string {
	names := make([]string, 0, len(all))
	for _, t := range all {
		names = append(names, string(t))
	}
	message := fmt.Sprintf("--type %q is no type of findings; write %s", text, terminal.OrList(names))
	if near := suggest.Nearest(text, names); near != "" {
		message = fmt.Sprintf("--type %q is no type of findings; did you mean %q?", text, near)
	}
	return message
}

// allTypes are all types of findings that there are.
func allTypes() (all []v1alpha1.FindingType) {
	for _, kind := range finding.Kinds() {
		all = append(all, finding.TypesOf(kind)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// completeTypes completes the last of several types of findings.
func completeTypes(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var words []string
	for _, t := range allTypes() {
		words = append(words, string(t))
	}
	return terminal.CompleteLast(begun, words)
}

// wanted are the findings of --kind and --type. Nil for all of the cluster. wrong says what is wrong with --kind.
func (j *job) wanted() (wanted []finding.Want, wrong []string) {
	switch {
	case len(j.kinds) > 0:
		return j.wantedOfKinds()
	case len(j.types) == 0 && j.Namespace == "":
		return nil, nil
	}
	for _, kind := range j.Catalog.Kinds {
		// What is expired or stuck may be of any kind: who asks for that alone means them all.
		isMeant := slices.Contains(finding.Kinds(), kind.GroupKind()) || len(j.types) > 0
		if isMeant && (j.Namespace == "" || kind.Namespaced) {
			wanted = append(wanted, j.wantedOf(kind)...)
		}
	}
	return wanted, nil
}

// wantedOfKinds are the findings of --kind.
func (j *job) wantedOfKinds() (wanted []finding.Want, wrong []string) {
	for _, word := range j.kinds {
		kind, err := j.Kind(word)
		of := j.wantedOf(kind)
		switch {
		case err != nil:
			wrong = append(wrong, noSuchKind("kind", word, err))
		case j.Namespace != "" && !kind.Namespaced:
			wrong = append(wrong,
				fmt.Sprintf("--kind %s: %s has no namespace; leave -n out", word, terminal.WithArticle(kind.Kind)))
		case len(of) == 0:
			wrong = append(wrong, fmt.Sprintf("--kind %s has no findings of type %s; it has %s", word, listed(j.types, "or"),
				cmp.Or(listed(finding.TypesOf(kind.GroupKind()), "and"), "none")))
		}
		wanted = append(wanted, of...)
	}
	return wanted, wrong
}

// wantedOf are the findings of a kind that have the types of --type.
func (j *job) wantedOf(kind object.Kind) (wanted []finding.Want) {
	for _, t := range finding.TypesOf(kind.GroupKind()) {
		if len(j.types) == 0 || slices.Contains(j.types, t) {
			wanted = append(wanted, finding.Want{Kind: kind.GroupKind(), Type: t})
		}
	}
	return wanted
}
