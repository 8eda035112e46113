// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"path"
	"regexp"
	"testing"
)

// TestRegexpOfGlob: what -o cleaner writes leaves out what --exclude did.
func TestRegexpOfGlob(t *testing.T) {
	t.Parallel()
	texts := []string{"", "a", "b", "ab", "kube-system", "kube.system", "a-b", "a]b", "a^", "-", "^", "]", "*", "a*", "a/b", `a\b`, "[", "x+y", "ä"}
	for _, glob := range []string{
		"*", "?", "kube-*", "kube.*", "[ab]", "[^ab]*", "[a-c]?", `a\*`, `[\]^]`, `[\-a]`, "a^", "x+y", "[a^]", "[[]", "?*", `\?`, "a*b", "[^-]",
	} {
		re := regexp.MustCompile("^" + regexpOf(glob) + "$")
		for _, text := range texts {
			if want, err := path.Match(glob, text); err == nil && re.MatchString(text) != want {
				t.Errorf("%s and %q: %s says %t", glob, text, re, !want)
			}
		}
	}
}
