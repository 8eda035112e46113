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

// StaysLost is why nobody may write to a Cleaner while the API server does not keep all of its fields.
const StaysLost = "the API server would now store the Cleaner without these fields, and they would stay lost"

// Intact refuses what must not be done while the API server does not keep all fields of Cleaners. Who may not read that
// is not refused: the operator knows.
func (c *Client) Intact(ctx context.Context, hint string) error {
	lacks, err := c.Lacks(ctx)
	if err == nil && lacks != "" && !schema.IsUnread(lacks) {
		return terminal.Fail(codes.RunNotReady, errors.New(lacks), hint)
	}
	if err != nil {
		return RequestError("looking which fields of Cleaners the API server keeps", err)
	}
	return nil
}

// Dropped says which fields of Cleaners the API server is known not to keep. It is empty when it keeps them all, and
// when it is unknown.
func (c *Client) Dropped(ctx context.Context) string {
	lacks, err := c.Lacks(ctx)
	if err != nil || schema.IsUnread(lacks) {
		return ""
	}
	return lacks
}

// Lacks says which fields of Cleaners the API server does not keep. It is empty when it keeps them all.
func (c *Client) Lacks(ctx context.Context) (string, error) {
	connections, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		return "", err
	}
	defer connections.CloseIdleConnections()
	served, err := schema.NewServed(c.Config, connections, clock.RealClock{})
	if err != nil {
		return "", err
	}
	return served.Check(ctx)
}
