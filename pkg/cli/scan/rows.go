// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"fmt"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// place is which findings --limit counts together.
type place struct {
	typ                         v1alpha1.FindingType
	apiVersion, kind, namespace string
}

func placeOf(f *search.Finding) place { return place{f.Type, f.APIVersion, f.Kind, f.Namespace} }

// addRows adds a row for each finding, but no more than --limit of a place. After the last of a place, a row says how
// many more there are.
func (j *job) addRows(table *terminal.Table, findings []search.Finding) {
	total, seen := map[place]int64{}, map[place]int64{}
	for i := range findings {
		total[placeOf(&findings[i])]++
	}
	for i := range findings {
		p := placeOf(&findings[i])
		seen[p]++
		if j.limit == 0 || seen[p] <= j.limit {
			table.Add(j.row(table.Paint, &findings[i]))
		}
		if seen[p] == total[p] && j.limit > 0 && total[p] > j.limit {
			table.Add([]terminal.Cell{{Text: p.more(total[p] - j.limit)}})
		}
	}
}

// more says that a place has more findings than are shown.
func (p place) more(n int64) string {
	where := ""
	if p.namespace != "" {
		where = " in " + p.namespace
	}
	return fmt.Sprintf("... %s%s: --limit 0 shows all, and so do -o csv and -o json",
		terminal.Kinds(n, "more "+p.kind), where)
}
