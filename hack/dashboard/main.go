// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Dashboard prints the Grafana dashboard, which config/grafana ships: make dashboard.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(dashboard())
}

// The types are as much of Grafana's schema as is needed.
type board struct {
	Title         string            `json:"title"`
	UID           string            `json:"uid"`
	Description   string            `json:"description"`
	Tags          []string          `json:"tags"`
	SchemaVersion int               `json:"schemaVersion"`
	Editable      bool              `json:"editable"`
	Refresh       string            `json:"refresh"`
	Time          map[string]string `json:"time"`
	Templating    templating        `json:"templating"`
	Annotations   annotations       `json:"annotations"`
	Panels        []panel           `json:"panels"`
}

type templating struct {
	List []variable `json:"list"`
}

type annotations struct {
	List []any `json:"list"`
}

type variable struct {
	Name       string  `json:"name"`
	Label      string  `json:"label"`
	Type       string  `json:"type"`
	Query      any     `json:"query"`
	Datasource *source `json:"datasource,omitempty"`
	Refresh    int     `json:"refresh"`
	Multi      bool    `json:"multi"`
	IncludeAll bool    `json:"includeAll"`
	AllValue   string  `json:"allValue,omitempty"`
}

type source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type panel struct {
	ID          int          `json:"id"`
	Type        string       `json:"type"`
	Title       string       `json:"title"`
	Description string       `json:"description,omitempty"`
	GridPos     grid         `json:"gridPos"`
	Datasource  *source      `json:"datasource,omitempty"`
	Panels      []panel      `json:"panels,omitzero"` // those of a row that is collapsed: none here, which must be said
	Targets     []target     `json:"targets,omitempty"`
	FieldConfig *fieldConfig `json:"fieldConfig,omitempty"`
	Options     any          `json:"options,omitempty"`
	// Transformations join the queries of a table by Cleaner.
	Transformations []transformation `json:"transformations,omitempty"`
}

type grid struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

type target struct {
	RefID        string  `json:"refId"`
	Datasource   *source `json:"datasource"`
	Expr         string  `json:"expr"`
	LegendFormat string  `json:"legendFormat,omitempty"`
	Instant      bool    `json:"instant,omitempty"`
	Format       string  `json:"format,omitempty"`
}

type fieldConfig struct {
	Defaults  fieldDefaults `json:"defaults"`
	Overrides []any         `json:"overrides"`
}

type fieldDefaults struct {
	Unit string `json:"unit,omitempty"`
	Min  int    `json:"min"`
}

type transformation struct {
	ID      string         `json:"id"`
	Options map[string]any `json:"options"`
}

var prometheus = &source{Type: "prometheus", UID: "${datasource}"}

// layout puts panels in rows of 24 columns, from left to right.
type layout struct {
	panels []panel
	x, y   int
	height int
}

func (l *layout) add(p panel, width, height int) {
	if l.x+width > 24 {
		l.x, l.y = 0, l.y+l.height
	}
	p.ID = len(l.panels) + 1
	p.GridPos = grid{H: height, W: width, X: l.x, Y: l.y}
	l.panels = append(l.panels, p)
	l.x, l.height = l.x+width, height
}

// row begins a part of the dashboard.
func (l *layout) row(title string) {
	if l.x > 0 {
		l.x, l.y = 0, l.y+l.height
	}
	l.add(panel{Type: "row", Title: title, Panels: []panel{}}, 24, 1)
	l.x, l.y = 0, l.y+1
}

// query is an expression, and what to call each of its series.
type query struct{ expr, legend string }

func targets(queries []query, instant bool) []target {
	var all []target
	for i, q := range queries {
		t := target{
			RefID:        string(rune('A' + i)),
			Datasource:   prometheus,
			Expr:         q.expr,
			LegendFormat: q.legend,
			Instant:      instant,
		}
		if instant {
			t.Format = "table"
		}
		all = append(all, t)
	}
	return all
}

func base(kind, title, description, unit string, queries []query) panel {
	return panel{
		Type: kind, Title: title, Description: description, Datasource: prometheus,
		Targets:     targets(queries, kind == "table"),
		FieldConfig: &fieldConfig{Defaults: fieldDefaults{Unit: unit}, Overrides: []any{}},
	}
}

// stat is one number; graph is a graph over time.
func (l *layout) stat(title, description, expr string) {
	l.add(base("stat", title, description, "short", []query{{expr: expr}}), 6, 4)
}

func (l *layout) graph(title, description, unit string, queries ...query) {
	l.add(base("timeseries", title, description, unit, queries), 12, 8)
}
