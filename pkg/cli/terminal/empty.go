// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"
)

// NotEmpty lets the flags refuse an empty value, for example of a variable of the shell that is not set. It would be
// ignored, and the command would reach further than its user thinks.
func NotEmpty(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		flag := flags.Lookup(name)
		value := notEmpty{flag.Value}
		flag.Value = value
		if list, ok := value.Value.(pflag.SliceValue); ok {
			flag.Value = notEmptyList{value, list}
			flag.DefValue = "" // pflag knows no more that [] is no default to show
		}
	}
}

type notEmpty struct{ pflag.Value }

// Set implements pflag.Value.
func (v notEmpty) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("it is empty; give a value, or leave the flag out")
	}
	return v.Value.Set(text)
}

type notEmptyList struct {
	notEmpty
	pflag.SliceValue
}
