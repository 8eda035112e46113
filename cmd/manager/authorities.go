// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/x509"
	"fmt"
	"os"
)

// notifyAuthorities are the authorities that notifications trust: the system's, and those of --notify-ca-file.
func (o *options) notifyAuthorities() (*x509.CertPool, error) {
	if o.notifyCAFile == "" {
		return nil, nil // the system's
	}
	pem, err := os.ReadFile(o.notifyCAFile)
	if err != nil {
		return nil, fmt.Errorf("--notify-ca-file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("reading the system's certificates: %w", err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("--notify-ca-file: %s holds no certificate in PEM", o.notifyCAFile)
	}
	return pool, nil
}
