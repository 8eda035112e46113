// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The image has nothing but the programs. Without authorities of its own, the manager could not send a message to Slack,
// or keep copies in S3.
func TestAuthoritiesWithoutASystem(t *testing.T) {
	if os.Getenv("LIST_AUTHORITIES") != "" {
		listAuthorities()
		return
	}
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run", "^TestAuthoritiesWithoutASystem$")
	cmd.Env = append(os.Environ(), "LIST_AUTHORITIES=1", "SSL_CERT_FILE="+t.TempDir()+"/none", "SSL_CERT_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"ISRG Root X1", "DigiCert Global Root G2", "GTS Root R1"} { // of Slack, S3, Google and many more
		if !strings.Contains(string(out), name) {
			t.Errorf("%s is not trusted on a system without authorities; trusted are:\n%s", name, out)
		}
	}
}

func listAuthorities() {
	pool, err := x509.SystemCertPool()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, subject := range pool.Subjects() { //nolint:staticcheck // it lacks a system's authorities, of which there are none here
		fmt.Printf("%q\n", subject)
	}
}
