// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"fmt"
	"time"

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

// alike is what the findings of one row have in common.
type alike struct {
	place
	why string
}

// together are the rows of findings. One row stands for many of which all but the name and the age is the same. Where
// each object is asked for, it has a row of its own.
func (j *job) together(findings []search.Finding) [][]search.Finding {
	if j.output == "wide" || j.limit == 0 {
		return terminal.Alone(findings)
	}
	return terminal.Alike(findings, func(f search.Finding) alike { return alike{placeOf(&f), f.WhyAndManager()} })
}

// addRows adds the rows of findings, but no more than --limit of a place. After the last of a place, a row says how
// many objects there are more.
func (j *job) addRows(table *terminal.Table, findings []search.Finding) {
	rows := j.together(findings)
	total, seen, hidden := map[place]int64{}, map[place]int64{}, map[place]int64{}
	for _, row := range rows {
		total[placeOf(&row[0])]++
	}
	for _, row := range rows {
		p := placeOf(&row[0])
		if seen[p]++; j.limit == 0 || seen[p] <= j.limit {
			table.Add(j.row(table.Paint, row))
			j.shared = j.shared || len(row) > 1
		} else {
			hidden[p] += int64(len(row))
		}
		if seen[p] == total[p] && hidden[p] > 0 {
			table.Add([]terminal.Cell{{Text: p.more(hidden[p])}})
		}
	}
}

// called is what the objects of a row are called.
func called(row []search.Finding) string {
	if len(row) == 1 {
		return row[0].Name
	}
	return terminal.Grouped(int64(len(row)), "object")
}

// ages are those of the objects of a row, from the youngest to the oldest.
func (j *job) ages(row []search.Finding) string {
	var youngest, oldest *time.Time
	for i := range row {
		created := row[i].Created
		if created == nil {
			continue
		}
		if youngest == nil || created.After(*youngest) {
			youngest = created
		}
		if oldest == nil || created.Before(*oldest) {
			oldest = created
		}
	}
	from, to := j.ago(youngest), j.ago(oldest)
	if from == to {
		return from
	}
	return from + " to " + to
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
