// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"embed"
	"fmt"
)

// The references of the kinds that we know: one file for each theme.
//
//go:embed references/*.yaml
var builtIn embed.FS

// BuiltIn is the table of the kinds that we know.
func BuiltIn() (*Table, error) {
	sources, err := BuiltInSources()
	if err != nil {
		return nil, err
	}
	return NewTable(sources)
}

// BuiltInSources are what BuiltIn is made from. Together with Sources that were learned or declared they make a larger table.
func BuiltInSources() ([]Source, error) {
	files, err := builtIn.ReadDir("references")
	if err != nil {
		return nil, fmt.Errorf("reading the built-in references: %w", err)
	}
	var all []Source
	for _, file := range files {
		text, err := builtIn.ReadFile("references/" + file.Name())
		if err != nil {
			return nil, fmt.Errorf("reading the built-in references: %w", err)
		}
		sources, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		all = append(all, sources...)
	}
	return all, nil
}
