// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table prints rows in columns. Rows that are printed together are as wide as the widest of them; later ones are no
// narrower.
type Table struct {
	Out    io.Writer
	Paint  Paint
	Header []string
	Widths []int
	rows   [][]Cell
	headed bool
}

// Cell is one word of a row, and how to colour it.
type Cell struct {
	Text string
	In   func(string) string // nil: as it is
}

// Add adds a row, which Flush prints.
func (t *Table) Add(row []Cell) {
	for i := range row {
		if row[i].Text = OneLine(row[i].Text); row[i].Text == "" {
			row[i].Text = "-"
		}
	}
	t.rows = append(t.rows, row)
}

// Flush prints the rows that were added since the last time, below the header.
func (t *Table) Flush() {
	if len(t.rows) == 0 {
		return
	}
	if !t.headed {
		header := make([]Cell, len(t.Header))
		for i, title := range t.Header {
			header[i] = Cell{title, t.Paint.Bold}
		}
		t.rows = append([][]Cell{header}, t.rows...)
		t.headed = true
		if t.Widths == nil {
			t.Widths = make([]int, len(t.Header))
		}
	}
	for _, row := range t.rows {
		for i, c := range row[:len(row)-1] { // nothing stands after the last one, so that it may be a sentence
			t.Widths[i] = max(t.Widths[i], utf8.RuneCountInString(c.Text))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, c := range row {
			text := c.Text
			if c.In != nil {
				text = c.In(text)
			}
			line.WriteString(text)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", t.Widths[i]-utf8.RuneCountInString(c.Text)+3))
			}
		}
		fmt.Fprintln(t.Out, line.String())
	}
	t.rows = nil
}
