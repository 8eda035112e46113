// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

var (
	shellBlock = regexp.MustCompile("(?ms)^ *```(?:sh|console)\\n(.*?)^ *```$")
	anyBlock   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	codeSpan   = regexp.MustCompile("`(kubectl cleaner [^`]*)`")
	shellWord  = regexp.MustCompile(`'[^']*'|"[^"]*"|[;|&()<>\n]|#[^\n]*|[^\s;|&()<>'"]+`)
)

// documentedCommands returns the arguments of each call of kubectl cleaner in the blocks of a page, and in the code between its words.
func documentedCommands(page string) (calls [][]string) {
	prose := shellBlock.ReplaceAllStringFunc(page, func(block string) string {
		calls = append(calls, callsOf(shellBlock.FindStringSubmatch(block)[1])...)
		return ""
	})
	for _, span := range codeSpan.FindAllStringSubmatch(anyBlock.ReplaceAllString(prose, ""), -1) {
		calls = append(calls, callsOf(span[1])...)
	}
	return calls
}

// commandsOf returns the arguments of each call of kubectl cleaner in a document. In a text without Markdown, such as the notes of the chart,
// a command is a line.
func commandsOf(name, text string) (calls [][]string) {
	if filepath.Ext(name) != ".txt" {
		return documentedCommands(text)
	}
	for line := range strings.Lines(text) {
		calls = append(calls, callsOf(line)...)
	}
	return calls
}

// callsOf returns the arguments of each call of kubectl cleaner in a script.
func callsOf(script string) (calls [][]string) {
	var words []string
	end := func() {
		if len(words) > 1 && words[0] == "kubectl" && words[1] == "cleaner" {
			calls = append(calls, words[2:])
		}
		words = nil
	}
	for _, word := range shellWord.FindAllString(strings.ReplaceAll(script, "\\\n", " "), -1) {
		switch {
		case strings.ContainsAny(word[:1], ";|&()<>\n#"):
			end()
		case word != "$":
			words = append(words, strings.Trim(word, `'"`))
		}
	}
	end()
	return calls
}

// documents are the texts that show commands: the pages, the notes of the chart and of the recipes.
func documents(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{
		"*.md", "docs/*.md", "docs/*/*.md", "charts/*/README.md", "charts/*/templates/NOTES.txt",
		"config/recipes/*/README.md", "config/recipes/*/cleaner.yaml", "config/samples/*",
	} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files: %v", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	return files
}

// refusal is why there is no such call of kubectl cleaner. It is nil when there is one.
func refusal(args []string) error {
	root := command(terminal.New(genericiooptions.IOStreams{Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}}, terminal.Options{Getenv: func(string) string { return "" }}))
	root.InitDefaultHelpCmd()
	found, rest, err := root.Find(args)
	if err == nil && len(args) > 0 && found == root && !strings.HasPrefix(args[0], "-") {
		err = onlyCommands(root, args)
	}
	if err == nil {
		err = found.ParseFlags(rest)
	}
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err == nil && len(rest) > 0 { // prose names a command without what it takes
		err = found.ValidateArgs(found.Flags().Args())
	}
	return err
}

// The commands and flags that the documents show exist.
func TestDocumentedCommands(t *testing.T) {
	checked := 0
	for _, name := range documents(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		calls := commandsOf(name, string(text))
		if filepath.Base(name) == "NOTES.txt" && len(calls) < 2 {
			t.Errorf("only %d commands were found in %s", len(calls), name)
		}
		for _, args := range calls {
			checked++
			if err := refusal(args); err != nil {
				t.Errorf("%s shows kubectl cleaner %s: %v", name, strings.Join(args, " "), err)
			}
		}
	}
	if checked < 200 {
		t.Errorf("only %d commands were found", checked)
	}
}
