// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package egress guards the connections to hosts that users name: services that are notified, and sources of metrics. A host is
// judged by the very address that is connected to, whatever its name was looked up to before.
package egress

import (
	"errors"
	"net/netip"
	"syscall"
)

// ErrNotAHost is of an address that is none of a host, or link-local, where clouds serve credentials to their machines.
var ErrNotAHost = errors.New("the address is link-local or none of a host, to which nothing is sent")

// HostsOnly is the Control of a net.Dialer that connects to nothing but hosts.
func HostsOnly(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !IsHost(at.Addr()) {
		return ErrNotAHost
	}
	return nil
}

// IsHost reports whether an address is one of a host, which may be this one.
func IsHost(ip netip.Addr) bool {
	ip = Plain(ip)
	return ip.IsValid() && !ip.IsLinkLocalUnicast() && !ip.IsMulticast() && !ip.IsUnspecified()
}

// Plain is the IPv4 address that is written as an IPv6 one, be it mapped (::ffff:0:0/96), compatible (::/96) or translated by NAT64
// (64:ff9b::/96). Any other address is itself, without its zone.
func Plain(ip netip.Addr) netip.Addr {
	ip = ip.WithZone("").Unmap()
	if !ip.Is6() || ip.IsLoopback() || ip.IsUnspecified() {
		return ip
	}
	bytes := ip.As16()
	for _, prefix := range []netip.Prefix{netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b::/96")} {
		if prefix.Contains(ip) {
			return netip.AddrFrom4([4]byte(bytes[12:]))
		}
	}
	return ip
}
