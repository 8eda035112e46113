// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package egress

import (
	"net/netip"
	"testing"
)

// Where clouds serve credentials, and what is no host, however the address is written.
func TestIsHost(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"10.0.0.1": true, "127.0.0.1": true, "8.8.8.8": true, "2001:db8::1": true, "::1": true, "fd00::1": true, "fd00:ec1::254": true, "100.100.100.201": true,
		"169.254.169.254": false, "169.254.170.2": false, "fe80::1": false, "fe80::1%eth0": false, "::ffff:169.254.169.254": false, "::a9fe:a9fe": false,
		"0.0.0.0": false, "0.1.2.3": false, "::": false, "224.0.0.1": false, "ff02::1": false, "255.255.255.255": false,
		// Metadata services that are not link-local.
		"168.63.129.16": false, "100.100.100.200": false, "192.0.0.192": false, "fd00:ec2::254": false, "fd00:ec2::23": false, "fd20:ce::254": false,
		"fd00:42::42": false, "fd00:c1::a9fe:a9fe": false, "::ffff:168.63.129.16": false,
		// NAT64, with the well-known prefix and with those of RFC 8215, of each length.
		"64:ff9b::a9fe:a9fe": false, "64:ff9b::a83f:8110": false, "64:ff9b::a00:1": true, "64:ff9b::808:808": true,
		"64:ff9b:1::a9fe:a9fe": false, "64:ff9b:1:a9fe:a9:fe00::": false, "64:ff9b:1:a9:fe:a9fe::": false, "64:ff9b:1::a9:fea9:fe00:0": false,
		"64:ff9b:1::808:808": true, "64:ff9b:1:808:8:800::": true,
		// 6to4, SIIT and Teredo.
		"2002:a9fe:a9fe::1": false, "2002:6464:64c8::": false, "2002:808:808::1": true, "::ffff:0:a9fe:a9fe": false, "2001::5601:5601": false, "2001:0:808:808::f7f7:f7f7": true,
	} {
		if got := IsHost(netip.MustParseAddr(address)); got != ok {
			t.Errorf("%s: %t", address, got)
		}
	}
	if IsHost(netip.Addr{}) {
		t.Error("no address is a host")
	}
}

func TestIsPrivate(t *testing.T) {
	t.Parallel()
	for address, private := range map[string]bool{
		"10.0.0.1": true, "172.16.0.1": true, "192.168.1.1": true, "100.64.0.1": true, "198.18.0.1": true, "fd12::1": true, "fec0::1": true, "127.0.0.1": true, "::1": true,
		"::ffff:10.0.0.1": true, "64:ff9b::a00:1": true, "2002:a00:1::1": true, "64:ff9b:1::a00:1": true,
		"8.8.8.8": false, "2606:4700::1111": false, "172.32.0.1": false, "100.128.0.1": false, "64:ff9b::808:808": false, "2002:808:808::1": false,
	} {
		if got := isPrivate(netip.MustParseAddr(address)); got != private {
			t.Errorf("%s: %t", address, got)
		}
	}
}

func TestServiceNamespace(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"a.b.svc": "b", "A.B.svc.cluster.local": "b", "pod.a.b.svc": "b", "a.b.svc.": "b",
		"a.svc": "", "a.b": "", "a..svc": "", "x.pod.a.b.svc": "", "a.b.svc.example.com": "", "10.0.0.1": "", "": "",
	} {
		if got := ServiceNamespace(host); got != want {
			t.Errorf("%s: %q", host, got)
		}
	}
}
