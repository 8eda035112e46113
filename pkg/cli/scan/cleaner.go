// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// printCleaners prints a Cleaner for each kind and type of what was found. Each only reports.
func (j *job) printCleaners(r *Result) {
	groups := groupsOf(r.Findings)
	if len(groups) == 0 {
		return
	}
	fmt.Fprintf(j.Out, "# Cleaners that look for what %s scan found on %s. They only report.\n", terminal.Program, j.Now().UTC().Format("2006-01-02"))
	fmt.Fprint(j.Out, j.Repeated("# Try them:   "+terminal.Program+" preview -f cleaner.yaml\n"+
		"# Use them:   kubectl create -f cleaner.yaml   (unlike apply, it changes no Cleaner that has the same name)\n"))
	fmt.Fprint(j.Out, "# To have one delete, set action: Delete and a blastRadiusLimit; finding.forSeconds lets an object be found for a while first.\n")
	if r.Partial {
		fmt.Fprint(j.Out, "# This is partial: the scan was stopped before its end.\n")
	}
	if j.HasReferences() {
		fmt.Fprint(j.Out, "# The operator does not know the file of --references: without it, these Cleaners also find what only its references use.\n"+
			"# First put it into the ConfigMap "+survey.DeclaredIn+" of the operator's namespace, with the key references.yaml.\n")
	}
	resources := map[string]int{}
	for _, g := range groups {
		resources[g.typ()+g.of[0].Of.Kind.Resource]++
	}
	for _, g := range groups {
		fmt.Fprint(j.Out, "---\n"+j.cleaner(g, resources[g.typ()+g.of[0].Of.Kind.Resource] > 1))
	}
}

// findingGroup are the findings of one type of one kind.
type findingGroup struct {
	kind object.Kind
	of   []search.Finding
}

func (g findingGroup) typ() string { return string(g.of[0].Type) }

// groupsOf puts findings, which are sorted, into groups.
func groupsOf(findings []search.Finding) (groups []findingGroup) {
	for _, f := range findings {
		last := len(groups) - 1
		if last < 0 || groups[last].kind != f.Of.Kind || groups[last].of[0].Type != f.Type {
			groups, last = append(groups, findingGroup{kind: f.Of.Kind}), last+1
		}
		groups[last].of = append(groups[last].of, f)
	}
	return groups
}

// cleaner is the Cleaner of a group. ambiguous is true when another group of the API has a resource of the same name.
func (j *job) cleaner(g findingGroup, ambiguous bool) string {
	cleanerName := kebab(g.typ()) + "-" + g.kind.Resource
	if ambiguous && g.kind.Group != "" {
		cleanerName += "." + g.kind.Group
	}
	if j.Namespace != "" {
		cleanerName += "-" + j.Namespace
	}
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	first := g.of[0]
	line("# %s %s: %d found, for example %s: %s", first.Type, g.kind.Kind, len(g.of),
		terminal.OneLine(first.Ref().String()), terminal.OneLine(first.Why()))
	if in := namespacesOf(g.of); len(in) > 0 && j.Namespace == "" {
		line("# They are in these namespaces: %s. To look at one only, add: namespace: NAME", terminal.OneLine(terminal.Shortened(in, 10)))
	}
	if managed := slices.DeleteFunc(slices.Clone(g.of),
		func(f search.Finding) bool { return f.ManagedBy == "" }); len(managed) > 0 {
		line("# %d of them %s managed, for example by %s. A Cleaner leaves them alone unless finding has includeManaged: true.",
			len(managed), terminal.Plural(int64(len(managed)), "is", "are"), terminal.OneLine(managed[0].ManagedBy))
	}
	if !first.Actionable {
		line("# A Cleaner can report these, and not delete or change them.")
	}
	line("apiVersion: %s\nkind: Cleaner\nmetadata:\n  name: %s\nspec:", v1alpha1.GroupVersion, yamlText(cleanerName))
	line("  schedule: %q\n  action: Scan\n  resourcePolicySet:\n    resourceSelectors:", scheduleOf(cleanerName))
	line("    - group: %q\n      version: %s\n      kind: %s", g.kind.Group, yamlText(g.kind.Version),
		yamlText(g.kind.Kind))
	j.narrow(line, g.kind)
	line("      finding:\n        type: %s", first.Type)
	if j.minConfidence != string(v1alpha1.ConfidenceLikely) {
		line("        minConfidence: %s", j.minConfidence)
	}
	return text.String()
}

// narrow says where to look, and at which labels and names, as the flags do.
func (j *job) narrow(line func(string, ...any), kind object.Kind) {
	excluded, conditions := j.excluded(kind)
	switch {
	case j.Namespace != "":
		line("      namespace: %s", yamlText(j.Namespace))
	case len(excluded) > 0:
		line("      namespaceSelector: %s", yamlText("kubernetes.io/metadata.name notin ("+strings.Join(excluded, ",")+")"))
	}
	var filters []string
	requirements, _ := j.selector.Requirements()
	for _, r := range requirements {
		if more := labelFilters(r); len(more) > 0 {
			filters = append(filters, more...)
		} else {
			conditions = append(conditions, labelCondition(r))
		}
	}
	if len(filters) > 0 {
		line("      labelFilters:")
	}
	for _, filter := range filters {
		line("      - %s", filter)
	}
	if len(conditions) > 0 {
		line("      matchConditions:")
	}
	for i, condition := range conditions {
		line("      - name: scan-%d\n        expression: %+q", i+1, condition)
	}
}

// excluded is what --exclude leaves out of a kind: namespaces, and the rest as conditions.
func (j *job) excluded(kind object.Kind) (namespaces, conditions []string) {
	for _, p := range j.exclude {
		switch {
		case !p.isOf(kind) || p.namespace != "" && !kind.Namespaced:
		case p.name == "" && j.Namespace == "" && !isGlob(p.namespace):
			namespaces = append(namespaces, p.namespace)
		default:
			conditions = append(conditions, p.condition())
		}
	}
	return namespaces, conditions
}

// labelFilters are a requirement of --selector as fields of a Cleaner. None when a condition must say it.
func labelFilters(r labels.Requirement) (filters []string) {
	values := slices.Sorted(maps.Keys(r.Values()))
	add := func(operation v1alpha1.Operation, value string) {
		filters = append(filters, fmt.Sprintf("{key: %s, operation: %s%s}", yamlText(r.Key()), operation, value))
	}
	switch operator := r.Operator(); {
	case operator == selection.Exists:
		add(v1alpha1.OperationHas, "")
	case operator == selection.DoesNotExist:
		add(v1alpha1.OperationDoesNotHave, "")
	case operator == selection.NotEquals || operator == selection.NotIn:
		for _, value := range values {
			add(v1alpha1.OperationDifferent, ", value: "+yamlText(value))
		}
	case len(values) == 1 && operator != selection.GreaterThan && operator != selection.LessThan:
		add(v1alpha1.OperationEqual, ", value: "+yamlText(values[0]))
	}
	return filters
}

// yamlText is a text as YAML has it in one line: as JSON does.
func yamlText(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '.' && r != '/'
	}) &&
		unicode.IsLetter(rune(text[0])) && !slices.Contains([]string{
		"true", "false", "null", "yes", "no", "on", "off", "y",
		"n",
	}, strings.ToLower(text)) {
		return text
	}
	return fmt.Sprintf("%+q", text)
}

func namespacesOf(findings []search.Finding) []string {
	count := map[string]int{}
	for _, f := range findings {
		if f.Namespace != "" {
			count[f.Namespace]++
		}
	}
	names := make([]string, 0, len(count))
	for _, namespace := range slices.Sorted(maps.Keys(count)) {
		names = append(names, fmt.Sprintf("%s (%d)", namespace, count[namespace]))
	}
	return names
}

// scheduleOf is once a day, at a minute that is not the same for all Cleaners.
func scheduleOf(cleanerName string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(cleanerName)) // it never fails
	return fmt.Sprintf("%d 3 * * *", h.Sum32()%60)
}

// kebab writes CertificateExpired as certificate-expired.
func kebab(text string) string {
	var b strings.Builder
	for i, r := range text {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
