// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Chart writes the parts of charts/kubecleaner that are also in config, and the page of its values: make chart. Run it
// in the root of the repository.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	chart := filepath.Join("charts", "kubecleaner")
	if err := errors.Join(
		write("config", chart),
		writeValues(chart, filepath.Join("docs", "reference", "chart-values.md")),
	); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

// write generates all files into the chart. It removes generated templates first, so that none outlives its source.
func write(config, chart string) error {
	files, err := generate(config)
	if err != nil {
		return err
	}
	for _, dir := range []string{"files", filepath.Join("templates", "generated")} {
		if err := os.RemoveAll(filepath.Join(chart, dir)); err != nil {
			return err
		}
	}
	for name, text := range files {
		path := filepath.Join(chart, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeValues writes the reference page of the chart's values.
func writeValues(chart, page string) error {
	values, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return err
	}
	text, err := valuesPage(values)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

// generate returns the text of each generated file by its path in the chart.
func generate(config string) (map[string]string, error) {
	files := map[string]string{}
	for _, s := range sources {
		text, err := s.template(config)
		if err != nil {
			return nil, err
		}
		files["templates/generated/"+s.name+".yaml"] = text
	}
	for name, c := range copies {
		text, err := c(config)
		if err != nil {
			return nil, err
		}
		files["files/"+name] = text
	}
	return files, nil
}
