// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"errors"
	"net"
)

// dial connects to a host. Its name is looked up once, and nothing is connected to but what was looked at: no answer
// that changes leads elsewhere. All addresses must be such as may be asked.
func (m *Metrics) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	found, err := m.guard.Addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	}
	check, err := m.guard.Host(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, ip := range found {
		if err := check(ip); err != nil {
			return nil, err
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
