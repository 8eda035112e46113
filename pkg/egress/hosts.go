// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package egress

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Hosts are those that a flag allows besides the usual ones. The zero value allows none.
type Hosts map[string]bool

// String implements flag.Value.
func (h *Hosts) String() string { return strings.Join(slices.Sorted(maps.Keys(*h)), ",") }

// Set reads a comma-separated list. It implements flag.Value.
func (h *Hosts) Set(list string) error {
	hosts := Hosts{}
	var errs []error
	for host := range strings.SplitSeq(list, ",") {
		host = nameOf(host)
		_, notAnAddress := netip.ParseAddr(host)
		switch {
		case host == "":
		case notAnAddress != nil && len(validation.IsDNS1123Subdomain(host)) > 0:
			errs = append(
				errs,
				fmt.Errorf(
					"the host %q is neither a host name nor an IP address: write hosts without scheme and port, with commas between them",
					host,
				),
			)
		default:
			hosts[host] = true
		}
	}
	*h = hosts
	return errors.Join(errs...)
}

// nameOf is a host as it is looked for.
func nameOf(host string) string {
	host = strings.Trim(strings.ToLower(strings.TrimSpace(host)), "[]")
	if ip, err := netip.ParseAddr(host); err == nil {
		return Plain(ip).String()
	}
	return strings.TrimSuffix(host, ".")
}

// CheckName judges a host that somebody else connects to, a proxy, by what its name shows.
func (h Hosts) CheckName(host string) error {
	name := nameOf(host)
	ip, err := netip.ParseAddr(name)
	last := name[strings.LastIndex(name, ".")+1:]
	switch {
	case err == nil && !IsHost(ip):
		return ErrNotAHost
	case h[name]:
		return nil
	case err == nil && isLoopback(ip), last == "localhost":
		return ErrOwnMachine
	case err != nil && last != "" && last[0] >= '0' && last[0] <= '9':
		// such as 2130706433 and 0x7f.1, which some take for an address
		return ErrNotAHost
	}
	return nil
}
