// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

// searchedBy says which of the kinds that can name the object were read.
func (j *job) searchedBy(r *Result) {
	searched, unread := j.Finder.Sources(j.name.GroupKind)
	alike := map[string]int{}
	for _, kind := range searched {
		alike[kind.Kind]++
	}
	for _, kind := range searched {
		name := kind.Kind
		if alike[name] > 1 {
			name = kind.String()
		}
		r.Searched = append(r.Searched, name)
	}
	for _, u := range unread {
		r.NotReadable = append(r.NotReadable, j.describe(u))
	}
}

// describe is a source that could not be read, for programs.
func (j *job) describe(u finding.Unread) search.Unread {
	if i := j.listOf(u); i >= 0 {
		return j.Describe(j.Unread[i])
	}
	return search.NewUnread(u)
}

// listOf is the index of the list of a source that could not be read. It is negative when another cause makes it
// unknown what the source says.
func (j *job) listOf(u finding.Unread) int {
	return slices.IndexFunc(j.Unread, func(list search.UnreadList) bool { return list.Kind.GroupKind() == u.Kind })
}

// addUnknown adds what makes it unknown whether something is to be found of the object. It reports whether something
// could not be read that may use it.
func (j *job) addUnknown(r *Result) (unsure bool) {
	unsure = len(r.NotReadable) > 0 || j.isElsewhere()
	for i := range r.Findings {
		f := &r.Findings[i]
		unsure = unsure || f.Type == v1alpha1.FindingUnused && len(f.Of.Unknown) > 0
		for _, u := range f.Of.NotReadable() {
			if described := j.describe(u); !slices.Contains(r.NotReadable, described) {
				r.NotReadable = append(r.NotReadable, described)
			}
		}
	}
	return unsure && !slices.ContainsFunc(r.Findings, isProved)
}

// isProved is true of an object that is unused by what it says itself, whoever names it: an HPA without its target.
func isProved(f search.Finding) bool {
	return f.Type == v1alpha1.FindingUnused && len(f.Of.Unknown) == 0
}

// isUnknown reports whether there is no whole answer.
func (r *Result) isUnknown() bool {
	return r.Used == nil && (len(r.NotReadable) > 0 || r.Unsure != "") || len(r.unknown()) > 0
}

// unknown are the types of findings of which it is not known whether the object has them.
func (r *Result) unknown() (found []string) {
	for i := range r.Findings {
		if f := &r.Findings[i]; len(f.Of.Unknown) > 0 {
			found = append(found, string(f.Type))
		}
	}
	return found
}

// unreadable says what is not known of the object, and how to find out.
func (j *job) unreadable(r *Result) error {
	unread := r.NotReadable
	f := &terminal.Failure{Exit: codes.ExitPartial, Code: codes.ScanIncomplete}
	if f.Err = search.UnreadError(unread, "kind"); len(unread) == 0 {
		what := cmp.Or(terminal.OrList(r.unknown()), "used")
		f.Err = fmt.Errorf("it is not known whether %s is %s", terminal.OneLine(j.name.String()), what)
	}
	switch {
	case j.isElsewhere():
		f.Hint = search.OneNamespaceHint
	case len(unread) == 0: // nothing that somebody could read
	case j.Dump != nil && j.Complete:
		f.Hint = search.SchemasHint
	case j.Dump != nil:
		f.Hint = search.ManifestsHint(unread, "if the cluster has none of them, add --complete")
	case slices.ContainsFunc(unread, func(u search.Unread) bool { return u.Forbidden }):
		f.Hint = "you need " + rightsFor(unread) + "; this prints the Role for that: " + j.scan() + " -o role"
	}
	return f
}

// rightsFor names the rights that are missing, when they are few.
func rightsFor(unread []search.Unread) string {
	var lists []string
	declared := ""
	for _, u := range unread {
		switch {
		case !u.Forbidden || u.Resource == "":
			continue
		case u.Name != "":
			declared = "to read " + u.Words()
			continue
		}
		list := strings.TrimSuffix(u.Resource+"."+u.Group, ".")
		if u.Namespace != "" {
			list += " in namespace " + u.Namespace
		}
		lists = append(lists, list)
	}
	switch {
	case len(lists) == 0 && declared != "":
		return "the right " + declared
	case len(lists) == 0 || len(lists) > mostRights:
		return "more rights"
	case declared != "":
		declared = ", and " + declared
	}
	return "the right to list " + strings.Join(lists, ", ") + declared
}

// mostRights is how many missing rights are named one by one.
const mostRights = 3

// scan is the command that looks for findings where the object is.
func (j *job) scan() string {
	in := ""
	if j.Namespace != "" {
		in = " -n " + terminal.ShellWord(terminal.OneLine(j.Namespace))
	}
	return terminal.Program + " scan" + in + search.Given(j.flags, search.Where...)
}
