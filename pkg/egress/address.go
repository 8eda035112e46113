// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package egress

import (
	"net/url"
	"strings"
)

// IsOrigin reports whether text is the address of a server, and of nothing on it.
func IsOrigin(text string) bool {
	address, err := url.Parse(text)
	return err == nil && IsHTTPAddress(text) && strings.Trim(address.Path, "/") == "" &&
		!strings.ContainsFunc(address.Host, func(r rune) bool { return r > '~' || strings.ContainsRune("<>()|'\"&*_`", r) })
}

// IsHTTPAddress reports whether text is an address with a host, and nothing that a collector would not look at.
func IsHTTPAddress(text string) bool {
	address, err := url.Parse(text)
	return err == nil && (address.Scheme == "http" || address.Scheme == "https") && address.Hostname() != "" &&
		address.User == nil &&
		address.RawQuery == "" &&
		address.Fragment == ""
}
