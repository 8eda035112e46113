// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"os"

	"k8s.io/client-go/util/cert"
)

// Authorities are those that notifications trust: the system's, and those in the file of --notify-ca-file (PEM).
// Without a file it is nil, which stands for the system's. A certificate in the file that cannot be read is an error.
func Authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--notify-ca-file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("reading the system's certificates: %w", err)
	}
	found, err := cert.ParseCertsPEM(pem) // it leaves out what is not PEM
	wanted := bytes.Count(pem, []byte("-----BEGIN CERTIFICATE-----"))
	switch {
	case wanted == 0:
		return nil, fmt.Errorf("--notify-ca-file: %s holds no certificate in PEM", file)
	case err != nil || len(found) != wanted:
		return nil, fmt.Errorf("--notify-ca-file: not all of the %d certificates in %s can be read", wanted, file)
	}
	for _, one := range found {
		pool.AddCert(one)
	}
	return pool, nil
}
