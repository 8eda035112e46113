// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// parseFlags reads the command line. Its error says of each mistake what to write instead, which package flag does not.
func parseFlags(fs *flag.FlagSet, args []string) error {
	var problems []error
	fs.VisitAll(func(f *flag.Flag) { f.Value = &lenient{f.Value, f.Name, &problems} })
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		err = reworded(fs, err.Error())
	case fs.NArg() > 0:
		err = notAFlag(fs.Arg(0))
	}
	return errors.Join(append(problems, err)...)
}

// lenient takes any text, and takes down what is wrong with it: so the parsing goes on, and all such mistakes are
// reported at once.
type lenient struct {
	flag.Value
	name     string
	problems *[]error
}

// Set implements flag.Value.
func (l *lenient) Set(text string) error {
	if err := l.Value.Set(text); err != nil {
		*l.problems = append(*l.problems, fmt.Errorf("--%s is %s: %s", l.name, cmp.Or(text, "empty"), wayOut(l.Value, err)))
	}
	return nil
}

// IsBoolFlag is how package flag finds out that a flag needs no value.
func (l *lenient) IsBoolFlag() bool {
	value, ok := l.Value.(interface{ IsBoolFlag() bool })
	return ok && value.IsBoolFlag()
}

// wayOut says what to write. Of its own types, package flag only says "parse error".
func wayOut(value flag.Value, err error) string {
	if own, ok := value.(flag.Getter); ok {
		switch own.Get().(type) {
		case time.Duration:
			return "write a duration such as 5s, 10m or 1h"
		case int:
			return "write a whole number such as 20"
		case float64:
			return "write a number such as 50 or 2.5"
		case bool:
			return "write true or false"
		}
	}
	return err.Error()
}

// reworded is what package flag says of an argument, which it does not say in any other way.
func reworded(fs *flag.FlagSet, text string) error {
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		return noSuchFlag(fs, name)
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return fmt.Errorf("--%s needs a value; see --help", name)
	}
	if arg, ok := strings.CutPrefix(text, "bad flag syntax: "); ok {
		return notAFlag(arg)
	}
	return fmt.Errorf("%s; see --help", text)
}

func notAFlag(arg string) error { return fmt.Errorf("%q is not a flag; see --help", arg) }

func noSuchFlag(fs *flag.FlagSet, name string) error {
	var names []string
	fs.VisitAll(func(f *flag.Flag) {
		if _, idle := unused[f.Name]; !idle {
			names = append(names, f.Name)
		}
	})
	if near := suggest.Nearest(name, names); near != "" {
		return fmt.Errorf("there is no flag --%s; did you mean --%s?", name, near)
	}
	return fmt.Errorf("there is no flag --%s; see --help", name)
}
