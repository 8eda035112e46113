// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package egress says which addresses outside the API server may be called for users: services that are notified, and
// sources of metrics. A host is judged by the very address that is connected to, whatever its name was looked up to
// before.
package egress

import (
	"errors"
	"net/netip"
	"strings"
)

var (
	// ErrNotAHost is of an address that is none of a host, or where clouds serve credentials to their machines.
	ErrNotAHost = errors.New(
		"nothing is sent to this address: it is link-local, a cloud's metadata service, or not the address of a single host",
	)
	// ErrOwnMachine is of a host that is the machine that connects to it, or the API server.
	ErrOwnMachine = errors.New("the address is this machine's own, or the API server's")
	// ErrPrivate is of a private address to which a Cleaner with limited rights may not lead.
	ErrPrivate = errors.New("the address is a private one")
)

// nowhere are addresses of no host, and those where clouds serve credentials and settings to their machines: link-local
// ones on most, others on Azure (168.63.129.16), Alibaba (100.100.100.200), Oracle (192.0.0.192, fd00:c1::), AWS
// (fd00:ec2::), Google (fd20:ce::) and Scaleway (fd00:42::).
var nowhere = prefixes(
	"0.0.0.0/8",
	"169.254.0.0/16",
	"fe80::/10",
	"224.0.0.0/4",
	"ff00::/8",
	"::/128",
	"255.255.255.255/32",
	"168.63.129.16/32",
	"100.100.100.200/32",
	"192.0.0.192/32",
	"fd00:ec2::/32",
	"fd20:ce::/32",
	"fd00:42::42/128",
	"fd00:c1::a9fe:a9fe/128",
)

// private are addresses that are not of the internet, besides those for which netip has a name. 34.118.224.0/20 is
// where GKE puts Services by default.
var private = prefixes(
	"100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4", "fec0::/10", "34.118.224.0/20",
)

// metadataNames are the names of clouds' metadata services, for proxies, which look names up themselves.
var metadataNames = []string{
	"metadata.google.internal",
	"metadata.goog",
	"metadata",
	"metadata.azure.internal",
	"instance-data.ec2.internal",
	"instance-data",
}

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func within(ip netip.Addr, of []netip.Prefix) bool {
	for _, prefix := range of {
		if prefix.Contains(ip) {
			return true
		}
	}
	return false
}

// IsHost reports whether an address is one of a host, which may be this one.
func IsHost(ip netip.Addr) bool {
	for _, at := range meanings(ip) {
		if !at.IsValid() || within(at, nowhere) {
			return false
		}
	}
	return true
}

func isLoopback(ip netip.Addr) bool {
	for _, at := range meanings(ip) {
		if at.IsLoopback() {
			return true
		}
	}
	return false
}

func isPrivate(ip netip.Addr) bool {
	for _, at := range meanings(ip) {
		if at.IsPrivate() || at.IsLoopback() || within(at, private) {
			return true
		}
	}
	return false
}

// Plain is the IPv4 address that is written as an IPv6 one, be it mapped (::ffff:0:0/96), compatible (::/96) or
// translated by NAT64 (64:ff9b::/96). Any other address is itself, without its zone.
func Plain(ip netip.Addr) netip.Addr { return meanings(ip)[0] }

// embedding is how a prefix of IPv6 addresses holds an IPv4 address: in which bytes. Its packets leave the network of
// IPv6 at a gateway, for that address.
type embedding struct {
	prefix netip.Prefix
	bytes  [][4]int
	// only is true where the address means nothing but the IPv4 one.
	only bool
	// flipped is true where the bits of the address are inverted.
	flipped bool
}

var embeddings = []embedding{
	{prefix: netip.MustParsePrefix("::/96"), bytes: [][4]int{{12, 13, 14, 15}}, only: true},
	{prefix: netip.MustParsePrefix("64:ff9b::/96"), bytes: [][4]int{{12, 13, 14, 15}}, only: true},
	{prefix: netip.MustParsePrefix("::ffff:0:0:0/96"), bytes: [][4]int{{12, 13, 14, 15}}},          // SIIT
	{prefix: netip.MustParsePrefix("2002::/16"), bytes: [][4]int{{2, 3, 4, 5}}},                    // 6to4
	{prefix: netip.MustParsePrefix("2001::/32"), bytes: [][4]int{{12, 13, 14, 15}}, flipped: true}, // Teredo
	// NAT64 of a network of one's own (RFC 8215), whose prefix may have any of these lengths (RFC 6052): 48, 56, 64 and 96
	// bits.
	{
		prefix: netip.MustParsePrefix("64:ff9b:1::/48"),
		bytes:  [][4]int{{6, 7, 9, 10}, {7, 9, 10, 11}, {9, 10, 11, 12}, {12, 13, 14, 15}},
	},
}

// meanings are the addresses at which a packet may arrive that is sent to an address. There is at least one.
func meanings(ip netip.Addr) []netip.Addr {
	ip = ip.WithZone("").Unmap()
	all := []netip.Addr{ip}
	if !ip.Is6() || ip.IsLoopback() || ip.IsUnspecified() {
		return all
	}
	raw := ip.As16()
	for _, e := range embeddings {
		if !e.prefix.Contains(ip) {
			continue
		}
		if e.only {
			all = nil
		}
		for _, at := range e.bytes {
			inner := [4]byte{raw[at[0]], raw[at[1]], raw[at[2]], raw[at[3]]}
			if e.flipped {
				inner = [4]byte{^inner[0], ^inner[1], ^inner[2], ^inner[3]}
			}
			if len(e.bytes) > 1 && inner[0] == 0 { // with a prefix of this length, it would be no address
				continue
			}
			all = append(all, netip.AddrFrom4(inner))
		}
	}
	return all
}

// ServiceNamespace is the namespace of the Service that a host names, or that a Pod behind it does: NAME.NAMESPACE.svc.
// It is empty when the host is no name of a Service.
func ServiceNamespace(host string) string {
	labels := strings.Split(strings.TrimSuffix(nameOf(host), ".cluster.local"), ".")
	i := len(labels) - 1
	if i < 2 || i > 3 || labels[i] != "svc" {
		return ""
	}
	for _, label := range labels {
		if label == "" {
			return ""
		}
	}
	return labels[i-1]
}
