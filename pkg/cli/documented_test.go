// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

var (
	shellBlock = regexp.MustCompile("(?ms)^ *```(?:sh|console)\\n(.*?)^ *```$")
	shellWord  = regexp.MustCompile(`'[^']*'|"[^"]*"|[;|&()<>\n]|#[^\n]*|[^\s;|&()<>'"]+`)
)

// documentedCommands returns the arguments of each call of kubectl cleaner in a block of a page.
func documentedCommands(page string) (calls [][]string) {
	for _, block := range shellBlock.FindAllStringSubmatch(page, -1) {
		var words []string
		end := func() {
			if len(words) > 1 && words[0] == "kubectl" && words[1] == "cleaner" {
				calls = append(calls, words[2:])
			}
			words = nil
		}
		for _, word := range shellWord.FindAllString(strings.ReplaceAll(block[1], "\\\n", " "), -1) {
			switch {
			case strings.ContainsAny(word[:1], ";|&()<>\n#"):
				end()
			case word != "$":
				words = append(words, strings.Trim(word, `'"`))
			}
		}
		end()
	}
	return calls
}

// The commands and flags that the pages show exist.
func TestDocumentedCommands(t *testing.T) {
	pages := []string{"../../README.md"}
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range documentedCommands(string(text)) {
			checked++
			root := command(terminal.New(genericiooptions.IOStreams{Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}}, terminal.Options{Getenv: func(string) string { return "" }}))
			found, rest, err := root.Find(args)
			if err == nil {
				err = found.ParseFlags(rest)
			}
			if err == nil {
				err = found.ValidateArgs(found.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s shows kubectl cleaner %s: %v", page, strings.Join(args, " "), err)
			}
		}
	}
	if checked < 15 {
		t.Errorf("only %d commands were found", checked)
	}
}
