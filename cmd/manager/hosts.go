// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/inputs"
)

// hosts is a flag of comma-separated hosts.
type hosts []string

// String implements flag.Value.
func (h *hosts) String() string { return strings.Join(*h, ",") }

// Set implements flag.Value.
func (h *hosts) Set(list string) (err error) {
	*h, err = inputs.ParseHosts(list)
	return err
}
