// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"embed"
	"fmt"
	"slices"
	"sync"
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

// BuiltInSources are what BuiltIn is made from. Together with Sources that were learned or declared they make a larger
// table. They are read once, and nobody may change them.
func BuiltInSources() ([]Source, error) {
	all, err := readBuiltIn()
	return slices.Clip(all), err
}

// readBuiltIn reads the files, which takes as long as the references of a thousand Pods do.
var readBuiltIn = sync.OnceValues(func() ([]Source, error) {
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
		items, err := entries(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		sources, err := decodeSources(items, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		all = append(all, sources...)
	}
	return all, nil
})
