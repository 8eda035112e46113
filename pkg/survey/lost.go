// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"fmt"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// Lost says why a candidate that was chosen by a finding of an earlier survey, the first, is not found so by this one.
// Empty when it is, or was not chosen by one. Conditions and scripts saw what the first survey said: where this one
// says something else, they might choose otherwise. Without a first, they were asked again.
func (f *Findings) Lost(c stage.Candidate, first *Findings) string {
	if f == nil || f.selectors[c.Selector].Finding == nil {
		return ""
	}
	asked := f.selectors[c.Selector].Finding.Type
	switch found := f.of(c.Object, c.Selector); {
	case found == nil:
		return fmt.Sprintf("before it acted, the run read everything again, and then the object was not %s any more", asked)
	case len(found.Unknown) > 0:
		return fmt.Sprintf(
			"before it acted, the run read everything again, and then it was not known whether it is %s: %s",
			asked,
			whyUnknown(found),
		)
	case first != nil && first.Protects(c) == "" && f.Protects(c) != "":
		return "before it acted, the run read everything again, and then the object was protected: " + f.Protects(c)
	case first != nil && f.selectors[c.Selector].JudgesFinding() && !saysSame(found, first.of(c.Object, c.Selector)):
		return fmt.Sprintf(
			"before it acted, the run read everything again, and then the object was %s for another reason, or with another confidence",
			asked,
		)
	}
	return ""
}

// saysSame reports whether two surveys found an object so in the same way. The number of kinds searched does not
// matter: it changes whenever somebody installs a kind.
func saysSame(a, b *finding.Finding) bool {
	return b != nil && a.Confidence == b.Confidence && withoutKinds(a) == withoutKinds(b)
}

func withoutKinds(found *finding.Finding) string {
	return strings.Replace(found.Reason, fmt.Sprintf("of %d kinds", found.Searched), "of the kinds", 1)
}
