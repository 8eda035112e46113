// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
)

// names are what the DNS of these tests says.
var names = map[string]string{
	"api.example.com": "192.0.2.1", "hook.team-a.svc": "10.96.0.20", "alias.team-a.svc": "10.96.0.30", "hook.team-b.svc": "10.96.0.30", "kubernetes.default.svc": "10.96.0.1",
	"relay.example.com": "10.1.2.3", "public.example.com": "198.51.100.7", "cloud.example.com": "169.254.169.254", "cloud.team-a.svc": "fd00:ec2::254",
	"likeness.team-a.svc": "10.1.2.3", "open.team-b.svc": "198.51.100.8", "sixtofour.example.com": "2002:a9fe:a9fe::1", "localhost": "127.0.0.1",
}

func lookup(_ context.Context, _, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	if names[host] == "" {
		return nil, &net.DNSError{Name: host, IsNotFound: true}
	}
	return []netip.Addr{netip.MustParseAddr(names[host])}, nil
}

func newGuard(namespace string, allowed ...string) Guard {
	hosts := Hosts{}
	for _, host := range allowed {
		hosts[host] = true
	}
	g := NewGuard(hosts, "https://api.example.com:6443").WithLookup(lookup, map[string]string{
		"alias.team-a.svc": "hook.team-b.svc.cluster.local.", "likeness.team-a.svc": "likeness.team-a.svc.10-1-2-3.example.",
	})
	g.Namespace = namespace
	return g
}

// One table for who may call what. team-a is a Cleaner that names an account, with a Secret of that namespace.
func TestWhoMayCallWhat(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]struct{ operator, teamA, byFlag error }{
		"public.example.com":     {},
		"relay.example.com":      {teamA: ErrPrivate},
		"10.1.2.3":               {teamA: ErrPrivate},
		"::ffff:10.1.2.3":        {teamA: ErrPrivate},
		"64:ff9b::a01:203":       {teamA: ErrPrivate},
		"2002:a01:203::1":        {teamA: ErrPrivate},
		"hook.team-a.svc":        {},
		"hook.team-b.svc":        {teamA: ErrPrivate},
		"open.team-b.svc":        {teamA: ErrPrivate}, // also where Services have addresses of the internet
		"34.118.227.9":           {teamA: ErrPrivate}, // a Service on GKE
		"alias.team-a.svc":       {teamA: ErrPrivate}, // an ExternalName
		"likeness.team-a.svc":    {teamA: ErrPrivate}, // one that begins like the Service's own name
		"cloud.team-a.svc":       {ErrNotAHost, ErrNotAHost, ErrNotAHost},
		"cloud.example.com":      {ErrNotAHost, ErrNotAHost, ErrNotAHost},
		"sixtofour.example.com":  {ErrNotAHost, ErrNotAHost, ErrNotAHost},
		"168.63.129.16":          {ErrNotAHost, ErrNotAHost, ErrNotAHost},
		"127.0.0.1":              {ErrOwnMachine, ErrOwnMachine, nil},
		"localhost":              {ErrOwnMachine, ErrOwnMachine, nil},
		"64:ff9b::7f00:1":        {ErrOwnMachine, ErrOwnMachine, nil},
		"api.example.com":        {ErrOwnMachine, ErrOwnMachine, nil},
		"10.96.0.1":              {ErrOwnMachine, ErrOwnMachine, nil},
		"kubernetes.default.svc": {ErrOwnMachine, ErrOwnMachine, nil},
	} {
		for who, one := range map[string]struct {
			guard Guard
			want  error
		}{"operator": {newGuard(""), want.operator}, "team-a": {newGuard("team-a"), want.teamA}, "by flag": {newGuard("team-a", nameOf(host)), want.byFlag}} {
			if got := judge(t, one.guard, host); !errors.Is(got, one.want) || one.want == nil && got != nil {
				t.Errorf("%s, %s: %v, want %v", host, who, got, one.want)
			}
			// A proxy looks the name up once more, but what is known here counts.
			if got := one.guard.Proxied(t.Context(), host); !errors.Is(got, one.want) || one.want == nil && got != nil {
				t.Errorf("%s, %s, through a proxy: %v, want %v", host, who, got, one.want)
			}
		}
	}
}

// TestServicesOfAnotherDomain: not every cluster calls its domain cluster.local.
func TestServicesOfAnotherDomain(t *testing.T) {
	t.Parallel()
	canonical := map[string]string{
		"hook.team-a.svc": "hook.team-a.svc.example.net.", "alias.team-a.svc": "alias.team-a.svc.10-1-2-3.example.", ownService: ownService + ".example.net.",
	}
	g := newGuard("team-a")
	g.canonical = func(_ context.Context, host string) (string, error) {
		if name := canonical[host]; name != "" {
			return name, nil
		}
		return "", &net.DNSError{Name: host, IsNotFound: true}
	}
	for host, want := range map[string]bool{"hook.team-a.svc": true, "alias.team-a.svc": false, "none.team-a.svc": false} {
		if got := g.isService(t.Context(), host); got != want {
			t.Errorf("%s is a Service: %t", host, got)
		}
	}
	delete(canonical, ownService) // then nobody knows the domain
	if g.isService(t.Context(), "hook.team-a.svc") {
		t.Error("a name of a domain that is not known is a Service")
	}
}

func judge(t *testing.T, g Guard, host string) error {
	t.Helper()
	found, err := g.Addresses(t.Context(), host)
	if err != nil {
		t.Fatal(err)
	}
	check, err := g.Host(t.Context(), host)
	if err != nil {
		t.Fatal(err)
	}
	return check(found[0])
}

// A proxy may know names that are not known here, but nobody's metadata service.
func TestProxied(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]error{
		"only.the.proxy.knows.example.com": nil, "metadata.google.internal": ErrNotAHost, "METADATA.google.internal.": ErrNotAHost, "metadata": ErrNotAHost, "2852039166": ErrNotAHost,
	} {
		if got := newGuard("", "metadata").Proxied(t.Context(), host); !errors.Is(got, want) || want == nil && got != nil {
			t.Errorf("%s: %v, want %v", host, got, want)
		}
	}
}

// A tenant reaches no Service of another namespace through a proxy, also if it cannot be looked up here.
func TestProxiedServices(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]error{"hook.other.svc": ErrPrivate, "hook.other.svc.cluster.local": ErrPrivate, "hook.shop.svc": nil, "relay.other.svc": nil} {
		if got := newGuard("shop", "relay.other.svc").Proxied(t.Context(), host); !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", host, got, want)
		}
	}
	if err := newGuard("").Proxied(t.Context(), "hook.other.svc"); err != nil {
		t.Errorf("a Cleaner without an account: %v", err)
	}
}

// Without knowing which address is the API server's, nothing is called.
func TestUnknownAPIServer(t *testing.T) {
	t.Parallel()
	g := NewGuard(nil, "https://unknown.example.com").WithLookup(lookup, nil)
	if _, err := g.Host(t.Context(), "public.example.com"); err == nil {
		t.Error("there is no error")
	}
}

// The address that is connected to counts, whatever its name was, and however it is written.
func TestDial(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	dial := func(g Guard, host string) error {
		connection, err := g.Dial(t.Context(), net.Dialer{}, "tcp", net.JoinHostPort(host, port))
		if err == nil {
			_ = connection.Close()
		}
		return err
	}
	for host, want := range map[string]error{
		"127.0.0.1": ErrOwnMachine, "localhost": ErrOwnMachine, "127.1.2.3": ErrOwnMachine, "::ffff:127.0.0.1": ErrOwnMachine, "::1": ErrOwnMachine, "64:ff9b::7f00:1": ErrOwnMachine,
		"169.254.169.254": ErrNotAHost, "::ffff:169.254.169.254": ErrNotAHost, "0.0.0.0": ErrNotAHost, "::": ErrNotAHost, "224.0.0.1": ErrNotAHost, "fe80::1": ErrNotAHost,
		"fd00:ec2::254": ErrNotAHost, "2002:a9fe:a9fe::1": ErrNotAHost,
	} {
		if err := dial(newGuard(""), host); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", host, err, want)
		}
		if allowed := newGuard("", nameOf(host)); errors.Is(want, ErrNotAHost) {
			if err := dial(allowed, host); !errors.Is(err, want) {
				t.Errorf("%s is no host, whatever a flag says: %v", host, err)
			}
		}
	}
	for _, host := range []string{"10.1.2.3", "64:ff9b::a01:203"} {
		if err := dial(newGuard("team-a"), host); !errors.Is(err, ErrPrivate) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if err := dial(newGuard("team-a", "127.0.0.1"), "127.0.0.1"); err != nil {
		t.Error(err)
	}
}

// A host that is an address needs no DNS: what is wrong with it is said also where the DNS does not answer.
func TestAddressesNeedNoDNS(t *testing.T) {
	t.Parallel()
	silent := func(_ context.Context, _, host string) ([]netip.Addr, error) {
		if ip, err := netip.ParseAddr(host); err == nil {
			return []netip.Addr{ip}, nil
		}
		return nil, &net.DNSError{Name: host, IsTimeout: true}
	}
	for host, want := range map[string]struct{ operator, teamA error }{
		"1.2.3.4":            {},
		"172.31.255.1":       {teamA: ErrPrivate},
		"169.254.169.254":    {ErrNotAHost, ErrNotAHost},
		"127.0.0.1":          {ErrOwnMachine, ErrOwnMachine},
		"10.96.0.1":          {ErrOwnMachine, ErrOwnMachine},
		"::ffff:10.96.0.1":   {ErrOwnMachine, ErrOwnMachine},
		"[64:ff9b::a60:1]":   {ErrOwnMachine, ErrOwnMachine},
		"public.example.com": {&net.DNSError{}, &net.DNSError{}},
	} {
		for namespace, want := range map[string]error{"": want.operator, "team-a": want.teamA} {
			g := NewGuard(nil, "https://10.96.0.1:443").WithLookup(silent, nil)
			g.Namespace = namespace
			err := connects(t, g, host)
			var dns *net.DNSError
			if unknown := errors.As(want, &dns); unknown && !errors.As(err, &dns) || !unknown && !errors.Is(err, want) {
				t.Errorf("%s from %q: %v, want %v", host, namespace, err, want)
			}
		}
	}
	// The API server may have any address where its own is a name.
	g := NewGuard(nil, "https://api.example.com:6443").WithLookup(silent, nil)
	if _, err := g.Host(t.Context(), "1.2.3.4"); err == nil {
		t.Error("the API server's address is not known")
	}
}

// connects is why a host may not be connected to.
func connects(t *testing.T, g Guard, host string) error {
	t.Helper()
	check, err := g.Host(t.Context(), host)
	if err != nil {
		return err
	}
	return check(netip.MustParseAddr(nameOf(host)))
}
