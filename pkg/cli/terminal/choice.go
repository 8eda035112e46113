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

// Allowed are the values.
func (c *Choice) Allowed() []string { return c.allowed }

// Set implements pflag.Value. A value may be written in any case.
func (c *Choice) Set(text string) error {
	i := slices.IndexFunc(c.allowed, func(allowed string) bool { return strings.EqualFold(allowed, text) })
	if i < 0 {
		return fmt.Errorf("write %s", OrList(c.allowed))
	}
	*c.value = c.allowed[i]
	return nil
}
