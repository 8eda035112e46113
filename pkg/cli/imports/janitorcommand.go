// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
)

// word is one of the command line of a container, and the field in which it stands.
type word struct{ text, field string }

// commandLine is the command of a container and its arguments: Kubernetes runs them as one line.
func commandLine(d *manifest.Document, at string) (line []word) {
	for _, field := range []string{"command", "args"} {
		_, list := d.Find(at + "." + field)
		for n := 0; list != nil && n < len(list.Content); n++ {
			line = append(line, word{manifest.Meant(list.Content[n]).Value, fmt.Sprintf("%s.%s[%d]", at, field, n)})
		}
	}
	return line
}

// afterProgram leaves out the words that name the program: those before the first flag, such as "/sbin/tini --", and a
// module of Python's.
func afterProgram(line []word) []word {
	if module := slices.IndexFunc(line, func(w word) bool { return w.text == "-m" }); module >= 0 {
		line = line[min(module+2, len(line)):]
	}
	first := slices.IndexFunc(line, func(w word) bool { return strings.HasPrefix(w.text, "-") && w.text != "--" })
	if first < 0 {
		return nil
	}
	return line[first:]
}

// runsText are the options of a shell that runs a text: -c, alone or with others, such as -ec.
var runsText = regexp.MustCompile(`^-[a-z]*c[a-z]*$`)

var shells = []string{"sh", "bash", "ash", "dash", "ksh", "zsh", "busybox"}

// shellText is the text that a shell runs: the word behind -c. Nil when no shell does.
func shellText(line []word) *word {
	isShell := func(w word) bool { return slices.Contains(shells, path.Base(w.text)) }
	for i := slices.IndexFunc(line, isShell); i >= 0 && i+1 < len(line); i++ {
		if runsText.MatchString(line[i].text) {
			return &line[i+1]
		}
	}
	return nil
}
