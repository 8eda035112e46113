// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"regexp"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// kindPattern is a kind as Kyverno's documents name it. Each part is a pattern with wildcards.
type kindPattern struct{ group, version, kind, subresource string }

var versionOnly = regexp.MustCompile(`^(\*|v\d+((alpha|beta)\d+)?)$`)

// parseKindPattern takes a name like "Pod", "v1/Pod", "apps/v1/Deployment" or "Pod/status" apart, as ParseKindSelector
// in Kyverno 1.15 does. What that one cannot read, such as a version "v10", names a kind here: then more is excluded.
func parseKindPattern(text string) kindPattern {
	of := strings.Split(text, "/")
	of = append(of[:len(of)-1], strings.Split(of[len(of)-1], ".")...)
	k := kindPattern{group: "*", version: "*", kind: of[0]}
	isVersion := versionOnly.MatchString(of[0])
	switch {
	case len(of) == 2 && of[0] == "*" && strings.ToLower(of[1]) == of[1], len(of) == 2 && !isVersion: // "*/*", "Pod/binding"
		k.subresource = of[1]
	case len(of) == 2:
		k.version, k.kind = of[0], of[1]
	case len(of) == 3 && isVersion:
		k.version, k.kind, k.subresource = of[0], of[1], of[2]
	case len(of) == 3:
		k.group, k.version, k.kind = of[0], of[1], of[2]
	case len(of) == 4:
		k.group, k.version, k.kind, k.subresource = of[0], of[1], of[2], of[3]
	}
	return k
}

// isOf reports whether the pattern is that of a selector's kind, whatever the version and the subresource.
func (k *kindPattern) isOf(s *v1alpha1.ResourceSelector) bool {
	return isLike(k.group, s.Group) && isLike(k.kind, s.Kind)
}

// isLike reports whether a text is one of a pattern with wildcards.
func isLike(pattern, text string) bool {
	of := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern))
	return regexp.MustCompile("^" + of + "$").MatchString(text)
}
