// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/test/testenv"
)

var (
	// update writes the golden files anew: go test ./pkg/cli -update. Read what changed before it is committed.
	update = flag.Bool("update", false, "write the golden files anew")
	// scriptChild is the command that starts a process for scripts.
	scriptChild []string
)

func TestMain(m *testing.M) {
	flag.Parse()
	command, remove, err := testenv.BuildScriptChild(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scriptChild = command
	code := m.Run()
	remove()
	os.Exit(code)
}

// session is what one call of the program printed, and how it exited.
type session struct {
	out, errOut string
	code        int
}

// now is the moment at which all commands of these tests run.
var now = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// call runs the program as a user would, without a terminal and with the environment given as NAME=value.
func call(ctx context.Context, t *testing.T, stdin string, environment []string, args ...string) session {
	t.Helper()
	return callBy(ctx, t, nil, stdin, environment, args...)
}

// callBy is call with a clock by which the program waits.
func callBy(ctx context.Context, t *testing.T, clk clock.WithTicker, stdin string, environment []string, args ...string) session {
	t.Helper()
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(stdin), Out: &out, ErrOut: &errOut}
	code := Execute(ctx, streams, terminal.Options{
		Version: "v1.2.3", Scripts: sandbox.Config{Command: scriptChild}, Now: func() time.Time { return now }, Clock: clk,
		Getenv: func(name string) string {
			for _, variable := range environment {
				if value, ok := strings.CutPrefix(variable, name+"="); ok {
					return value
				}
			}
			return ""
		},
	}, args)
	return session{out.String(), errOut.String(), code}
}

// golden compares a session with a file below testdata/golden.
func golden(t *testing.T, file string, args []string, got session) {
	t.Helper()
	file = filepath.Join("testdata", "golden", file)
	text := fmt.Sprintf("$ kubectl cleaner %s\n%s", strings.Join(args, " "), got.out)
	if got.errOut != "" {
		text += "\nstderr:\n" + got.errOut
	}
	text += fmt.Sprintf("\nexit code %d\n", got.code)
	text = strings.ReplaceAll(text, string(filepath.Separator), "/")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s differs (-want +got); go test -update writes it anew:\n%s", file, diff)
	}
}
