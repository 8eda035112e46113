// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// janitorFlags are the arguments of kube-janitor that say what it looks at.
type janitorFlags struct {
	// included and excluded are names of resources; nil when nothing is said.
	included, excluded []string
	// inNamespaces and notInNamespaces are names; nil when nothing is said.
	inNamespaces, notInNamespaces []string
	dryRun                        bool
	// hasInterval is true when something says how often kube-janitor looks. schedule and timeZone are those of a CronJob,
	// which may be suspended.
	hasInterval, suspended bool
	schedule, timeZone     string
	// rulesFile is the rules file that kube-janitor reads, and rulesField where that is said.
	rulesFile, rulesField string
	// unknown is true when a flag may narrow what kube-janitor looks at, and its value is not known.
	unknown bool
	found   *manifest.Document
}

// read reads the arguments of a container that runs kube-janitor.
func (f *janitorFlags) read(j *job, c container) {
	f.found = c.d
	if c.d.Kind() == "CronJob" {
		f.readSchedule(j, c.d)
	}
	f.readEnvironment(j, c.d, c.at, f.readArguments(j, c.d, c.at))
}

// readArguments returns the flags that are given.
func (f *janitorFlags) readArguments(j *job, d *manifest.Document, at string) (given []string) {
	line := commandLine(d, at)
	if text := shellText(line); text != nil {
		f.lose(j, d, text.field, "is not carried over: flags in the text of a shell are not read",
			"write the flags of kube-janitor as a list in args")
		return nil
	}
	line, wrong := afterProgram(line)
	if wrong != nil {
		f.lose(j, d, wrong.field, terminal.Quoted(wrong.text)+" is not carried over: import does not know which flags it gives to kube-janitor",
			"write kube-janitor as the command, and its flags as a list in args")
	}
	return f.readWords(j, d, line)
}

// readWords reads the flags and their values.
func (f *janitorFlags) readWords(j *job, d *manifest.Document, line []word) (given []string) {
	takesNext := false
	for n, w := range line {
		name, value, joined := strings.Cut(w.text, "=")
		name = wholeName(name)
		isFlag := strings.HasPrefix(name, "-")
		if !joined && n+1 < len(line) && !strings.HasPrefix(line[n+1].text, "-") {
			value = line[n+1].text
		}
		switch {
		case strings.HasPrefix(w.text, "@") || !isFlag && !takesNext:
			f.lose(j, d, w.field, terminal.Quoted(w.text)+" is not carried over: perhaps it has flags of kube-janitor",
				"write the flags themselves")
		case isFlag:
			f.take(j, d, w.field, name, value)
			given = append(given, name)
		}
		takesNext = isFlag && !joined && !slices.Contains(switches, name)
	}
	return given
}

// lose says that a flag is not carried over, and that the Cleaners select nothing because of that.
func (f *janitorFlags) lose(j *job, d *manifest.Document, at, message, hint string) {
	f.unknown = true
	j.lost(d, at, message, hint+", and import again: "+unknownFlags)
}

// unknownFlags follows when it is not known at what kube-janitor looks.
const unknownFlags = "the Cleaners select nothing because of their condition flags-not-carried-over"

// janitorVariables are those that kube-janitor reads. Each is the default of a flag.
var janitorVariables = []string{"INCLUDE_RESOURCES", "EXCLUDE_RESOURCES", "INCLUDE_NAMESPACES", "EXCLUDE_NAMESPACES"}

// readEnvironment reads the variables of the flags that are not given.
func (f *janitorFlags) readEnvironment(j *job, d *manifest.Document, at string, given []string) {
	if _, from := d.Find(at + ".envFrom"); from != nil {
		f.lose(j, d, at+".envFrom", "is not carried over: it may set "+strings.Join(janitorVariables, ", "),
			"write those that it sets to env, remove envFrom")
	}
	_, env := d.Find(at + ".env")
	for n := 0; env != nil && n < len(env.Content); n++ {
		entry := manifest.Meant(env.Content[n])
		_, name := manifest.Child(entry, "name")
		if name == nil || !slices.Contains(janitorVariables, name.Value) {
			continue
		}
		flag := "--" + strings.ToLower(strings.ReplaceAll(name.Value, "_", "-"))
		_, from := manifest.Child(entry, "valueFrom")
		field := fmt.Sprintf("%s.env[%d]", at, n)
		switch {
		case slices.Contains(given, flag):
		case from != nil:
			f.lose(j, d, field+".valueFrom", name.Value+" is not carried over: its value is kept elsewhere",
				"write the text itself as its value")
		default:
			text := "" // the kubelet's default
			if _, value := manifest.Child(entry, "value"); value != nil {
				text = value.Value
			}
			f.take(j, d, field, flag, text)
		}
	}
}

func (f *janitorFlags) take( //nolint:cyclop // a flat switch over the flags of kube-janitor
	j *job, d *manifest.Document, at, name, value string,
) {
	list := func() []string {
		return slices.DeleteFunc(strings.Split(value, ","), func(s string) bool { return s == "" })
	}
	included := func() []string {
		if names := list(); !slices.Contains(names, "all") {
			return names
		}
		return nil
	}
	if f.isElsewhere(j, d, at, name, value) {
		return
	}
	switch name {
	case "--include-resources":
		f.included = included()
	case "--exclude-resources":
		f.excluded = list()
	case "--include-namespaces":
		f.inNamespaces = included()
	case "--exclude-namespaces":
		f.notInNamespaces = list()
	case "--dry-run":
		f.dryRun = true
	case "--interval":
		if d.Kind() != "CronJob" {
			f.hasInterval = true
			j.differs(d, at, "kube-janitor looks every "+value+" seconds, and the Cleaners every 10 minutes",
				"change spec.schedule")
		}
	case "--rules-file":
		f.rulesFile, f.rulesField = value, at
	case "--deployment-time-annotation":
		f.lose(j, d, at, "is not carried over: a Cleaner counts a TTL from the creation of an object",
			"write janitor/expires on the objects with that annotation, remove the flag")
	case "--resource-context-hook":
		f.lose(j, d, at, "is not carried over: a Cleaner runs no code of yours but scripts in Lua",
			"write what it looks at as a condition of the rules, remove the flag")
	case "--delete-notification":
		j.differs(d, at, "kube-janitor announces deletions with an Event; a Cleaner reports what it did in its notifications",
			"add notifications, or forSeconds to the finding")
	case "--once", "--debug", "-d", "--quiet", "-q", "--parallelism", "--log-format",
		"--wait-after-delete": // how kube-janitor runs, not what it deletes
	default:
		f.lose(j, d, at, terminal.Quoted(name)+" is not carried over: import does not know what it changes",
			"see what it does in kube-janitor, remove the flag")
	}
}

// limit narrows a Cleaner to the namespaces that kube-janitor looks at.
func (f *janitorFlags) limit(c *v1alpha1.Cleaner) {
	excluded := f.notInNamespaces
	if excluded == nil {
		excluded = []string{"kube-system"} // kube-janitor's default
	}
	const name = "kubernetes.io/metadata.name"
	var within []string
	if f.inNamespaces != nil {
		within = append(within, name+" in ("+strings.Join(f.inNamespaces, ",")+")")
	}
	if len(excluded) > 0 {
		within = append(within, name+" notin ("+strings.Join(excluded, ",")+")")
	}
	selectors := c.Spec.ResourcePolicySet.ResourceSelectors
	for i := range selectors {
		if f.unknown {
			add(&selectors[i], "flags-not-carried-over", "false")
		}
		switch selectors[i].Kind {
		case "Namespace":
			if f.inNamespaces != nil {
				add(&selectors[i], "included", cmp.Or(matchesAny("object.metadata.name", f.inNamespaces), "false"))
			}
			if len(excluded) > 0 {
				add(&selectors[i], "not-excluded", "!("+matchesAny("object.metadata.name", excluded)+")")
			}
		default:
			selectors[i].NamespaceSelector = strings.Join(within, ",")
		}
	}
	if f.dryRun {
		c.Spec.Action = ptr.To(v1alpha1.ActionScan)
		c.Spec.BlastRadiusLimit = nil
	}
}

func add(s *v1alpha1.ResourceSelector, name, expression string) {
	s.MatchConditions = append(s.MatchConditions, v1alpha1.MatchCondition{
		Name:       unused(name, s.MatchConditions),
		Expression: expression,
	})
}

// changeResources is what to do about a resource that kube-janitor leaves out.
const changeResources = "change which resources kube-janitor includes or excludes, and import again"

// leavesOut says why kube-janitor does not look at a resource, before it looks at rules and annotations. Empty when it
// does.
func (f *janitorFlags) leavesOut(plural string) string {
	excluded := f.excluded
	if excluded == nil {
		excluded = []string{"events", "controllerrevisions"} // kube-janitor's default
	}
	switch {
	case slices.Contains(excluded, plural):
		return "kube-janitor excludes " + plural
	case f.included == nil || slices.Contains(f.included, plural):
		return ""
	case len(f.included) == 0:
		return "kube-janitor includes no resources"
	}
	return "kube-janitor looks only at " + strings.Join(f.included, ",")
}
