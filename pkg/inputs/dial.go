// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/egress"
)

// ownService is a name of the API server's in most clusters.
const ownService = "kubernetes.default.svc"

// errNotAllowed is of an address behind an allowed name that is not one to ask for metrics.
var errNotAllowed = errors.New("the host's name leads to this machine or to the API server")

// dial connects to a host. Its name is looked up once, and nothing is connected to but what was looked at: no answer that changes
// leads elsewhere. A host that the operator's flag names may be anywhere but where no host is.
func (m *Metrics) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	found, err := m.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	}
	name, err := hostName(host)
	if err != nil {
		return nil, err
	}
	var refused []netip.Addr
	if !m.allowed[name] {
		if refused, err = m.notAsked(ctx); err != nil {
			return nil, err
		}
	}
	for _, ip := range found {
		if !egress.IsHost(ip) {
			return nil, egress.ErrNotAHost
		}
		if plain := egress.Plain(ip); !m.allowed[name] && (plain.IsLoopback() || slices.Contains(refused, plain)) {
			return nil, errNotAllowed
		}
	}
	var errs []error
	for _, ip := range found {
		connection, err := m.connect(ctx, network, net.JoinHostPort(ip.String(), port))
		if err == nil {
			return connection, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// addresses looks a host up. A Service is looked for by its whole name first: with the search domains of a Pod, NAME.NAMESPACE.svc may
// be a Pod in a namespace of the name svc.
func (m *Metrics) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if strings.HasSuffix(host, ".svc") {
		found, err := m.lookup(ctx, "ip", host+".cluster.local.")
		var dns *net.DNSError
		if err == nil || !errors.As(err, &dns) || !dns.IsNotFound {
			return found, err
		}
	}
	return m.lookup(ctx, "ip", host) // the cluster's domain is another
}

// notAsked are the addresses of the API server and of this machine.
func (m *Metrics) notAsked(ctx context.Context) ([]netip.Addr, error) {
	server, err := m.lookup(ctx, "ip", m.apiServer)
	if err != nil {
		return nil, fmt.Errorf("finding out which address is the API server's: %w", err)
	}
	service, err := m.lookup(ctx, "ip", ownService)
	var dns *net.DNSError
	if err != nil && (!errors.As(err, &dns) || !dns.IsNotFound) {
		return nil, fmt.Errorf("finding out which address is the API server's: %w", err)
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("finding out the addresses of this machine: %w", err)
	}
	all := slices.Concat(server, service)
	for _, address := range own {
		if prefix, err := netip.ParsePrefix(address.String()); err == nil {
			all = append(all, prefix.Addr())
		}
	}
	for i := range all {
		all[i] = egress.Plain(all[i])
	}
	return all, nil
}

// serverName is the host of an API server, as a client's configuration names it.
func serverName(server string) string {
	if !strings.Contains(server, "://") {
		server = "https://" + server
	}
	at, err := url.Parse(server)
	if err != nil {
		return ""
	}
	return at.Hostname()
}
