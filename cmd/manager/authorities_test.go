// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNotifyAuthorities(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	directory := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	pool, err := (&options{notifyCAFile: good}).notifyAuthorities()
	if err != nil || pool == nil {
		t.Fatalf("the authorities are %v, %v", pool, err)
	}
	if pool, err = (&options{}).notifyAuthorities(); pool != nil || err != nil { // the system's
		t.Fatalf("the authorities are %v, %v", pool, err)
	}
	for path, want := range map[string]string{
		filepath.Join(directory, "absent"): "--notify-ca-file: open ", file("bad.pem", "no"): "bad.pem holds no certificate in PEM",
	} {
		if _, err = (&options{notifyCAFile: path}).notifyAuthorities(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
