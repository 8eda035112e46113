// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package egress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// ownService is a name of the API server's in most clusters.
const ownService = "kubernetes.default.svc"

// Guard is the one rule by which hosts are called that users name.
type Guard struct {
	// Allowed are the hosts that the operator's flag names. They may be anywhere but where no host is.
	Allowed Hosts
	// Namespace, unless it is empty, limits private addresses to those of Services in that namespace. It is for Cleaners
	// whose authors have fewer rights than the operator, which may reach more of the network than they do.
	Namespace string

	// apiServer is the host of the API server.
	apiServer string
	lookup    func(ctx context.Context, network, host string) ([]netip.Addr, error)
	canonical func(ctx context.Context, host string) (string, error)
}

// NewGuard allows hosts besides the usual ones. apiServer is the API server's address.
func NewGuard(allowed Hosts, apiServer string) Guard {
	return Guard{
		Allowed:   allowed,
		apiServer: serverName(apiServer),
		lookup:    net.DefaultResolver.LookupNetIP,
		canonical: net.DefaultResolver.LookupCNAME,
	}
}

// WithLookup is the guard with another DNS, for tests, in which some names are aliases of others.
func (g Guard) WithLookup(
	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error),
	aliases map[string]string,
) Guard {
	g.lookup = lookup
	g.canonical = func(_ context.Context, host string) (string, error) {
		return cmp.Or(aliases[strings.TrimSuffix(strings.TrimSuffix(host, "."), ".cluster.local")], host), nil
	}
	return g
}

// Host returns what judges the addresses to which a host's name leads: nil for one that may be connected to.
func (g Guard) Host(ctx context.Context, host string) (check func(netip.Addr) error, err error) {
	name := nameOf(host)
	if g.Allowed[name] {
		return onlyHosts, nil
	}
	own, err := g.own(ctx, isAddress(name))
	if err != nil {
		return nil, err
	}
	in := ServiceNamespace(name)
	private := g.Namespace == "" || in == g.Namespace && g.isService(ctx, name)
	foreign := !private && in != "" && in != g.Namespace // whatever addresses Services have in this cluster
	return func(ip netip.Addr) error {
		switch {
		case !IsHost(ip):
			return ErrNotAHost
		case isLoopback(ip), slices.ContainsFunc(meanings(ip), func(at netip.Addr) bool { return slices.Contains(own, at) }):
			return ErrOwnMachine
		case foreign, !private && isPrivate(ip):
			return ErrPrivate
		}
		return nil
	}, nil
}

// Dial connects to a host by a dialer, if the address that it connects to is one that may be.
func (g Guard) Dial(ctx context.Context, dialer net.Dialer, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, ErrNotAHost
	}
	check, err := g.Host(ctx, host)
	if err != nil {
		return nil, err
	}
	dialer.Control = func(_, at string, _ syscall.RawConn) error {
		ip, err := netip.ParseAddrPort(at)
		if err != nil {
			return ErrNotAHost
		}
		return check(ip.Addr())
	}
	if isShort(host) { // as in Addresses
		connection, err := dialer.DialContext(ctx, network, net.JoinHostPort(host+".cluster.local.", port))
		var dns *net.DNSError
		if err == nil || !errors.As(err, &dns) || !dns.IsNotFound {
			return connection, err
		}
	}
	return dialer.DialContext(ctx, network, address)
}

func onlyHosts(ip netip.Addr) error {
	if !IsHost(ip) {
		return ErrNotAHost
	}
	return nil
}

// isService reports whether a Service's name is that of the Service itself. One of the type ExternalName is another
// name for any host, also for one whose name begins like the Service's.
func (g Guard) isService(ctx context.Context, name string) bool {
	short, domain := strings.TrimSuffix(name, ".cluster.local"), ".cluster.local"
	canonical, err := g.canonical(ctx, short+domain+".")
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound { // the cluster's domain is another
		domain = g.domain(ctx)
		canonical, err = g.canonical(ctx, short)
	}
	return err == nil && (nameOf(canonical) == short || nameOf(canonical) == short+domain)
}

// domain is that of the cluster's Services, with a dot before it, as the API server's own Service shows it. Empty if
// it does not.
func (g Guard) domain(ctx context.Context) string {
	canonical, err := g.canonical(ctx, ownService)
	if err != nil {
		return ""
	}
	domain, _ := strings.CutPrefix(nameOf(canonical), ownService)
	return domain
}

// Proxied judges a host that a proxy connects to, which looks its name up itself: by what the name shows, and by the
// addresses that are found here, if any. What the proxy finds is for the proxy to judge.
func (g Guard) Proxied(ctx context.Context, host string) error {
	name := nameOf(host)
	if slices.Contains(metadataNames, name) {
		return ErrNotAHost
	}
	if err := g.Allowed.CheckName(host); err != nil {
		return err
	}
	found, err := g.Addresses(ctx, host)
	if err != nil { // where a proxy is needed, names of the internet are often not known; but it may know a Service
		if in := ServiceNamespace(name); g.Namespace != "" && in != "" && in != g.Namespace && !g.Allowed[name] {
			return ErrPrivate
		}
		return nil
	}
	check, err := g.Host(ctx, host)
	if err != nil {
		return err
	}
	for _, ip := range found {
		if err := check(ip); err != nil {
			return err
		}
	}
	return nil
}

// isShort reports whether a host may be the name of a Service without the cluster's domain.
func isShort(host string) bool { return strings.HasSuffix(strings.ToLower(host), ".svc") }

// Addresses looks a host up. A Service is looked for by its whole name first: with the search domains of a Pod,
// NAME.NAMESPACE.svc may be a Pod in a namespace of the name svc.
func (g Guard) Addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if isShort(host) {
		found, err := g.lookup(ctx, "ip", host+".cluster.local.")
		var dns *net.DNSError
		if err == nil || !errors.As(err, &dns) || !dns.IsNotFound {
			return found, err
		}
	}
	return g.lookup(ctx, "ip", host) // the cluster's domain is another
}

// own are the addresses of the API server and of this machine. withoutDNS is of a host that needs no DNS: then the
// address of the API server that a Pod is given, which is that of its Service, is enough when the DNS does not answer.
func (g Guard) own(ctx context.Context, withoutDNS bool) ([]netip.Addr, error) {
	var all []netip.Addr
	for _, name := range []string{g.apiServer, ownService} {
		if name == "" {
			continue
		}
		found, err := g.lookup(ctx, "ip", name)
		mayLack := name == ownService && isDNS(err, withoutDNS && isAddress(g.apiServer))
		if err != nil && !mayLack {
			return nil, fmt.Errorf("finding out which address is the API server's: %w", err)
		}
		all = append(all, found...)
	}
	interfaces, err := machine()
	all = append(all, interfaces...)
	for i := range all {
		all[i] = Plain(all[i])
	}
	return all, err
}

// machine are the addresses of this machine.
func machine() ([]netip.Addr, error) {
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("finding out the addresses of this machine: %w", err)
	}
	var all []netip.Addr
	for _, address := range interfaces {
		if prefix, err := netip.ParsePrefix(address.String()); err == nil {
			all = append(all, prefix.Addr())
		}
	}
	return all, nil
}

// isDNS reports whether the DNS does not know a name or, if that counts, does not answer.
func isDNS(err error, silent bool) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && (dns.IsNotFound || silent)
}

// isAddress reports whether a host is an address, which needs no DNS.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// serverName is the host of an API server, as a client's configuration names it.
func serverName(server string) string {
	if server != "" && !strings.Contains(server, "://") {
		server = "https://" + server
	}
	at, err := url.Parse(server)
	if err != nil {
		return ""
	}
	return at.Hostname()
}
