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

var (
	// isJanitor is kube-janitor as a program, a script or a module, and runsIt are programs that run it.
	isJanitor = regexp.MustCompile(`^kube[-_]janitor(\.py)?$`)
	isPython  = regexp.MustCompile(`^python[0-9.]*$`)
	runsIt    = []string{"env", "tini", "dumb-init", "--"}

	pythonOption = regexp.MustCompile(`^-[a-zA-Z]$`)
)

// afterProgram leaves out the words that name the program. Wrong is the word by which it is not known what runs: it may
// give flags of its own to kube-janitor.
func afterProgram(line []word) (flags []word, wrong *word) {
	for i, w := range line {
		name := path.Base(w.text)
		switch {
		case i == 0 && strings.HasPrefix(w.text, "-"):
			return line, nil // the program is that of the image
		case isJanitor.MatchString(name):
			return line[i+1:], nil
		case isPython.MatchString(name):
			return afterPython(line[i+1:], &line[i])
		case !slices.Contains(runsIt, name):
			return visibleFlags(line), &line[i]
		}
	}
	return nil, nil
}

// afterPython leaves out the options of Python, and the script or module that it runs.
func afterPython(line []word, python *word) (flags []word, wrong *word) {
	isModule := false
	for i, w := range line {
		name, _, _ := strings.Cut(path.Base(w.text), ".__main__")
		switch {
		case isJanitor.MatchString(name):
			return line[i+1:], nil
		case isModule || !pythonOption.MatchString(w.text):
			return visibleFlags(line[i:]), &line[i]
		}
		isModule = w.text == "-m"
	}
	return nil, python
}

// visibleFlags are the words from the first flag on.
func visibleFlags(line []word) []word {
	isFlag := func(w word) bool { return strings.HasPrefix(w.text, "-") && w.text != "--" }
	if first := slices.IndexFunc(line, isFlag); first >= 0 {
		return line[first:]
	}
	return nil
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
	f.lose(j, d, at, fmt.Sprintf("%s is not carried over: the value of %s is kept elsewhere", name, value),
		"write the text itself")
	return true
}

// janitorNames are the flags of kube-janitor. switches are those without a value.
var (
	janitorNames = []string{
		"--debug", "--delete-notification", "--deployment-time-annotation", "--dry-run", "--exclude-namespaces",
		"--exclude-resources", "--help", "--include-cluster-resources", "--include-namespaces", "--include-resources",
		"--interval", "--log-format", "--once", "--parallelism", "--quiet", "--resource-context-hook", "--rules-file",
		"--wait-after-delete",
	}
	switches = []string{"--debug", "-d", "--dry-run", "--once", "--quiet", "-q"}
)

// wholeName is the flag that a word means: Python's argparse takes the beginning of one for it, if no other begins so.
func wholeName(name string) string {
	var meant []string
	for _, known := range janitorNames {
		if known == name {
			return name
		}
		if strings.HasPrefix(name, "--") && strings.HasPrefix(known, name) {
			meant = append(meant, known)
		}
	}
	if len(meant) == 1 {
		return meant[0]
	}
	return name
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
