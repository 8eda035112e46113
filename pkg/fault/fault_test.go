// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"
)

func TestPanicIsAnError(t *testing.T) {
	for name, test := range map[string]struct {
		do   func() error
		want string // how the error ends; empty when there is none
		own  bool   // do returned it
	}{
		"nothing":          {func() error { return nil }, "", true},
		"an error":         {func() error { return io.EOF }, "EOF", true},
		"text":             {func() error { panic("no idea") }, Words + ": no idea", false},                                                    //nolint:forbidigo // what is tried
		"an error's panic": {func() error { panic(io.EOF) }, Words + ": EOF", false},                                                           //nolint:forbidigo // what is tried
		"nil":              {func() error { panic(nil) }, Words + ": panic called with nil argument", false},                                   //nolint:forbidigo // what is tried
		"of the runtime":   {func() error { var m map[string]int; m["a"] = 1; return nil }, Words + ": assignment to entry in nil map", false}, //nolint:staticcheck // what is tried
		"one of do's own":  {func() error { return Caught(func() error { panic("within") }) }, Words + ": within", true},                       //nolint:forbidigo // what is tried
		"after an error":   {func() (err error) { defer func() { panic(err) }(); return errors.New("first") }, Words + ": first", false},       //nolint:forbidigo // what is tried
	} {
		for by, call := range map[string]func(context.Context, func() error) error{
			"Caught": func(_ context.Context, do func() error) error { return Caught(do) },
			"Logged": Logged,
		} {
			t.Run(name+" "+by, func(t *testing.T) {
				var log strings.Builder
				logger := funcr.New(func(prefix, args string) { log.WriteString(prefix + args) }, funcr.Options{})
				err := call(klog.NewContext(t.Context(), logger), test.do)
				if test.want == "" && err != nil || test.want != "" && (err == nil || err.Error() != test.want) {
					t.Fatalf("the error is %v, want %q", err, test.want)
				}
				var caught *Error
				if errors.As(err, &caught) && !strings.Contains(string(caught.Stack), "fault_test.go") {
					t.Errorf("the stack does not say where: %s", caught.Stack)
				}
				if !test.own && errors.Is(err, io.EOF) {
					t.Error("a fault reads as the value it panicked with")
				}
				logged := strings.Contains(log.String(), "Recovered from a panic") && strings.Contains(log.String(), "fault_test.go")
				if want := by == "Logged" && !test.own; logged != want || !want && log.Len() > 0 {
					t.Errorf("the log is %q", log.String())
				}
			})
		}
	}
}
