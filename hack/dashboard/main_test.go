// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"testing"
)

func TestDashboardIsUpToDate(t *testing.T) {
	got, err := os.ReadFile("../../config/grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := write(&want); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("config/grafana/dashboard.json is not what hack/dashboard makes: make dashboard")
	}
}
