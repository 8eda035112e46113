// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// manyAlike is from how many objects on those that were left alone for the same reason are one row.
const manyAlike = 4

// alike is what the objects of one row have in common.
type alike struct {
	api, kind, namespace string
	outcome              v1alpha1.OutcomeResult
	reason, message      string
	change               string
}

func alikeOf(o *v1alpha1.ObjectOutcome) alike {
	return alike{o.APIVersion, o.Kind, o.Namespace, o.Outcome, o.Reason, o.Message, o.Change}
}

// together makes one row of objects that were left alone for the same reason, named by their number. Each object that
// was touched or reported keeps its own. sizes are those of the rows of several.
func together(objects []v1alpha1.ObjectOutcome) (rows []v1alpha1.ObjectOutcome, sizes map[alike]int) {
	sizes = map[alike]int{}
	for i := range objects {
		switch o := &objects[i]; o.Outcome {
		case v1alpha1.OutcomeMatched, v1alpha1.OutcomeDeleted, v1alpha1.OutcomeTerminating, v1alpha1.OutcomeTransformed:
		default:
			sizes[alikeOf(o)]++
		}
	}
	shown := map[alike]bool{}
	for _, o := range objects {
		k := alikeOf(&o)
		switch {
		case sizes[k] < manyAlike:
			delete(sizes, k)
		case shown[k]:
			continue
		default:
			shown[k] = true
			o.Name = terminal.Grouped(int64(sizes[k]), "object")
		}
		rows = append(rows, o)
	}
	return rows, sizes
}
