// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"fmt"
	"slices"
	"strings"
)

// Choice is a flag with a few allowed values.
type Choice struct {
	value   *string
	allowed []string
}

// NewChoice returns the flag; the first value is the default.
func NewChoice(value *string, allowed ...string) *Choice {
	*value = allowed[0]
	return &Choice{value, allowed}
}

// String implements pflag.Value.
func (c *Choice) String() string { return *c.value }

// Type implements pflag.Value.
func (c *Choice) Type() string { return strings.Join(c.allowed, "|") }

// Set implements pflag.Value.
func (c *Choice) Set(text string) error {
	if !slices.Contains(c.allowed, text) {
		return fmt.Errorf("write %s", OrList(c.allowed))
	}
	*c.value = text
	return nil
}
