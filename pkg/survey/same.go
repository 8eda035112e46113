// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"iter"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// likeness is what a finding says that does not say much.
type likeness struct {
	kind                       object.Kind
	typ                        v1alpha1.FindingType
	confidence                 v1alpha1.FindingConfidence
	reason, managed, protected string
	since                      time.Time
}

// foundSize is about what is kept of a finding besides its texts, and sameSize of one that says the same as others.
const foundSize, sameSize = 640, 128

// add takes what was found. Most findings say the same, of very many objects, and a run keeps them to its end.
func (f *Findings) add(all iter.Seq[*finding.Finding]) {
	same := map[likeness]*finding.Finding{}
	for one := range all {
		key := findingKey{one.UID, one.Type}
		says := likeness{one.Kind, one.Type, one.Confidence, one.Reason, one.Managed, one.Protected, one.Since}
		isPlain := len(one.Unknown)+len(one.Marks) == 0
		if f.bytes += sameSize; isPlain && same[says] != nil {
			f.found[key] = same[says]
			continue
		}
		copied := finding.Finding{
			Kind: one.Kind, Type: one.Type, Confidence: one.Confidence, Reason: one.Reason, Managed: one.Managed,
			Protected: one.Protected, Since: one.Since, Unknown: one.Unknown, Marks: one.Marks,
		}
		f.found[key] = &copied
		if f.bytes += foundSize + len(one.Reason); isPlain {
			same[says] = &copied
		}
	}
}
