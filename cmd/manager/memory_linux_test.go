// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// TestSlim: most of the program's file is code that ran once. How much of it comes back with what is used depends on the kernel.
func TestSlim(t *testing.T) {
	before := mappedFiles(t)
	slim()
	if after := mappedFiles(t); after >= before {
		t.Errorf("%d bytes of files are mapped, before it were %d", after, before)
	}
}

// mappedFiles is how much of files this process has in memory, in bytes.
func mappedFiles(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssFile:")
	size, _, _ := strings.Cut(strings.TrimSpace(rest), " kB")
	quantity, err := resource.ParseQuantity(size + "Ki")
	if err != nil {
		t.Fatal(err)
	}
	return quantity.Value()
}
