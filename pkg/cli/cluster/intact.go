// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/schema"
)

// Intact refuses what must not be done while the API server does not keep all fields of Cleaners. Who may not read that is not refused: the
// operator knows.
func (c *Client) Intact(ctx context.Context, hint string) error {
	connections, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		return err
	}
	served, err := schema.NewServed(c.Config, connections, clock.RealClock{})
	if err != nil {
		return err
	}
	lacks, err := served.Check(ctx)
	connections.CloseIdleConnections()
	if err == nil && lacks != "" && !schema.IsUnread(lacks) {
		return terminal.Fail(codes.RunNotReady, errors.New(lacks), hint)
	}
	if err != nil {
		return RequestError("looking which fields of Cleaners the API server keeps", err)
	}
	return nil
}
