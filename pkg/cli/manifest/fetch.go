// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// fetchTimeout bounds the reading of one address.
const fetchTimeout = 30 * time.Second

// isAddress reports whether a path is one of the web.
func isAddress(path string) bool {
	return strings.HasPrefix(path, "https://") || strings.HasPrefix(path, "http://")
}

// fetch reads a file from the web. What decides on deletes must not be changed on its way: it takes https only, also
// where it is sent on to.
func fetch(s *terminal.Session, address string) ([]byte, error) {
	if strings.HasPrefix(address, "http://") {
		return nil, fmt.Errorf(
			"reading %s: anybody on the way could change it; write https://, or download it first",
			address,
		)
	}
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", address, err)
	}
	client := http.Client{}
	if s.HTTP != nil {
		client = *s.HTTP
	}
	client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if next.URL.Scheme != "https" || len(via) >= 5 {
			return errors.New("it is sent on too often, or to an address without https")
		}
		return nil
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", address, errors.Unwrap(err))
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("reading %s: the server answers %s", address, response.Status)
	}
	return readAll(response.Body, address)
}
