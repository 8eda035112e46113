// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// The page on the commands. What is generated stands between these lines.
const (
	commandsPage = "../../docs/reference/commands.md"
	commandsHead = "<!-- begin of the commands -->\n"
	commandsEnd  = "<!-- end of the commands -->\n"
	codesHead    = "| Code | Meaning |\n|---|---|\n"
	codesEnd     = "<!-- end of the codes -->\n"
)

// TestCommandsAreDocumented: go test ./pkg/cli -run TestCommandsAreDocumented -update writes the page.
func TestCommandsAreDocumented(t *testing.T) {
	root := command(terminal.New(genericiooptions.IOStreams{Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}}, terminal.Options{Getenv: func(string) string { return "" }}))
	var commands, table strings.Builder
	describe(&commands, root.Commands())
	for _, row := range codes.Table() {
		fmt.Fprintf(&table, "| `%s` | %s |\n", row[0], cell(row[1]))
	}
	raw, err := os.ReadFile(commandsPage)
	if err != nil {
		t.Fatal(err)
	}
	want := between(t, string(raw), commandsHead, commandsEnd, commands.String())
	want = between(t, want, codesHead, codesEnd, table.String()+"\n")
	if *update {
		if err := os.WriteFile(commandsPage, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(raw) != want {
		t.Errorf("%s differs from the help texts; to write it: go test ./pkg/cli -run TestCommandsAreDocumented -update", commandsPage)
	}
}

// describe writes a section on each command and its subcommands, but for those that cobra adds.
func describe(w *strings.Builder, commands []*cobra.Command) {
	for _, cmd := range commands {
		if cmd.Name() == "help" || cmd.Name() == "codes" || cmd.Name() == "completion" || cmd.Hidden {
			continue
		}
		if cmd.HasSubCommands() {
			describe(w, cmd.Commands())
			continue
		}
		path := strings.Replace(cmd.CommandPath(), "kubectl-cleaner", terminal.Program, 1)
		use := strings.TrimSpace(strings.TrimPrefix(cmd.Use, cmd.Name()))
		fmt.Fprintf(w, "## %s\n\n%s.\n\n```\n%s\n```\n\n", path, cmd.Short, strings.TrimSpace(path+" "+use)+"\n\n"+cmd.Long)
		if cmd.Example != "" {
			fmt.Fprintf(w, "```sh\n%s\n```\n\n", strings.TrimSpace(strings.ReplaceAll("\n"+cmd.Example, "\n  ", "\n")))
		}
		rows := 0
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			if rows++; rows == 1 {
				w.WriteString("| Flag | Default | Meaning |\n|---|---|---|\n")
			}
			w.WriteString(flagRow(f))
		})
		if rows > 0 {
			w.WriteString("\n")
		}
	}
}

func flagRow(f *pflag.Flag) string {
	name, standard := "`--"+f.Name+"`", ""
	if f.Shorthand != "" {
		name = "`-" + f.Shorthand + "`, " + name
	}
	switch {
	case f.DefValue == "", f.DefValue == "false", f.DefValue == "[]":
	case f.DefValue == "0" && f.NoOptDefVal != "": // it can be left out, but not be set to 0
	default:
		standard = "`" + f.DefValue + "`"
	}
	return fmt.Sprintf("| %s | %s | %s |\n", name, standard, cell(f.Usage))
}

// cell is a text in a table of Markdown.
func cell(text string) string { return strings.NewReplacer("|", `\|`, "*", `\*`).Replace(text) }

// between replaces what stands between two marks.
func between(t *testing.T, text, before, after, with string) string {
	t.Helper()
	head, rest, found := strings.Cut(text, before)
	_, tail, ended := strings.Cut(rest, after)
	if !found || !ended {
		t.Fatalf("%s lacks %q, or %q after it", commandsPage, before, after)
	}
	return head + before + with + after + tail
}
