// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAuthorities(t *testing.T) {
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
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	good := file("ca.pem", certificate)
	pool, err := Authorities(good)
	if err != nil || pool == nil {
		t.Fatalf("the authorities are %v, %v", pool, err)
	}
	if pool, err = Authorities(""); pool != nil || err != nil { // the system's
		t.Fatalf("the authorities are %v, %v", pool, err)
	}
	for path, want := range map[string]string{
		filepath.Join(directory, "absent"): "--notify-ca-file: open ", file("bad.pem", "no"): "bad.pem holds no certificate in PEM",
		file("key.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"):             "key.pem holds no certificate in PEM",
		file("one.pem", certificate+"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"): "not all of the 2 certificates in " + directory + "/one.pem can be read",
		file("cut.pem", certificate+certificate[:len(certificate)/2]):                                 "not all of the 2 certificates in ",
	} {
		if _, err = Authorities(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
