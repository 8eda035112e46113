// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"time"
)

// NewHTTP is a server for the handler that a slow client cannot hold. How long an answer may take the handler says.
func NewHTTP(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: writeIn, IdleTimeout: time.Minute,
		MaxHeaderBytes: 64 << 10,
	}
}
