// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table prints rows in columns. Rows that are printed together are as wide as the widest of them; later ones are no narrower.
type table struct {
	w      io.Writer
	paint  paint
	header []string
	widths []int
	rows   [][]cell
	headed bool
}

// cell is one word of a row, and how to colour it.
type cell struct {
	text string
	in   func(string) string // nil: as it is
}

func (t *table) add(row []cell) {
	for i := range row {
		if row[i].text = oneLine(row[i].text); row[i].text == "" {
			row[i].text = "-"
		}
	}
	t.rows = append(t.rows, row)
}

// flush prints the rows that were added since the last time, below the header.
func (t *table) flush() {
	if len(t.rows) == 0 {
		return
	}
	if !t.headed {
		header := make([]cell, len(t.header))
		for i, title := range t.header {
			header[i] = cell{title, t.paint.bold}
		}
		t.rows = append([][]cell{header}, t.rows...)
		t.headed = true
		if t.widths == nil {
			t.widths = make([]int, len(t.header))
		}
	}
	for _, row := range t.rows {
		for i, c := range row {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(c.text))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, c := range row {
			text := c.text
			if c.in != nil {
				text = c.in(text)
			}
			line.WriteString(text)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", t.widths[i]-utf8.RuneCountInString(c.text)+3))
			}
		}
		fmt.Fprintln(t.w, line.String())
	}
	t.rows = nil
}
