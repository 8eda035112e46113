// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package web embeds the client of the page. Its files are built by `make web` into dist. Without them the Go build
// works all the same, and the page says what is missing.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files are the built files, with index.html at the top.
func Files() (fs.FS, error) { return fs.Sub(dist, "dist") }
