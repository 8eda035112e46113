// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/schedule"
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

// isElsewhere reports whether a list of names is that of a variable, which only the kubelet knows.
func (f *janitorFlags) isElsewhere(j *job, d *manifest.Document, at, name, value string) bool {
	if !listFlag.MatchString(name) || !strings.Contains(value, "$(") {
		return false
	}
	f.unknown = true
	j.lost(d, at, fmt.Sprintf("%s is not carried over: %s stands for a value that is kept elsewhere", name, value),
		"write the text itself, and import again: "+unknownFlags)
	return true
}

var listFlag = regexp.MustCompile(`^--(include|exclude)-(resources|namespaces)$`)

// readSchedule reads when a CronJob runs kube-janitor.
func (f *janitorFlags) readSchedule(j *job, d *manifest.Document) {
	text := func(field string) string {
		if _, node := d.Find(field); node != nil {
			return manifest.Meant(node).Value
		}
		return ""
	}
	f.hasInterval = true
	const field = "spec.schedule"
	if parsed := text(field); parsed != "" {
		if _, err := schedule.Parse(parsed, text("spec.timeZone")); err != nil {
			j.lost(d, field, "is not carried over: "+err.Error(), "the Cleaners look every 10 minutes: change "+field)
		} else {
			f.schedule, f.timeZone = parsed, text("spec.timeZone")
		}
	}
	if f.suspended = text("spec.suspend") == "true"; f.suspended {
		j.differs(d, "spec.suspend", "is true, so the Cleaners are suspended, too",
			"remove spec.suspend from the Cleaners that are to run")
	}
}

// plan lets a Cleaner run when the CronJob runs kube-janitor.
func (f *janitorFlags) plan(c *v1alpha1.Cleaner) {
	c.Spec.Schedule = cmp.Or(f.schedule, c.Spec.Schedule)
	if f.timeZone != "" {
		c.Spec.TimeZone = &f.timeZone
	}
	if f.suspended {
		c.Spec.Suspend = &f.suspended
	}
}
