// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/rights"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// scanRole is the ClusterRole that lets people scan, as config/default installs it. missingRole is how the name of a
// Role begins that gives what is missing.
const (
	scanRole    = "kubecleaner-scan"
	missingRole = "kubecleaner-scan-missing"
)

// absentHint is what to do when the manifests hold nothing of some kinds.
const absentHint = "if the cluster has none of them either, add --complete"

// reportUnread tells people what could not be read, and how to come by the right to read it. It returns how the
// command exits then.
func (j *job) reportUnread(r *Result) error {
	unread := r.allUnread()
	if len(unread) == 0 {
		return nil
	}
	forbidden, absent := r.forbidden(), j.reportFailed(unread)
	f := &terminal.Failure{
		Exit: codes.ExitPartial,
		Code: codes.ScanIncomplete,
		Err:  search.UnreadError(unread, "list"),
	}
	matter := slices.DeleteFunc(slices.Clone(unread), func(u search.Unread) bool {
		return u.Kind == "*" || !r.matters(schema.GroupKind{Group: u.Group, Kind: u.Kind})
	})
	switch {
	case absent > 0 && len(matter) > 0:
		f.Err = fmt.Errorf(
			"the manifests hold nothing of %s that could use what was found: %s",
			terminal.Counted(len(matter), "kind"),
			search.UnreadWords(matter),
		)
		f.Hint = search.ManifestsHint(matter, absentHint)
	case absent > 0:
		unread = slices.DeleteFunc(unread, func(u search.Unread) bool { return u.Kind == "*" })
		f.Err = fmt.Errorf(
			"the manifests hold nothing of %s; if the cluster does, that may change what is found: %s",
			terminal.Counted(absent, "kind"),
			search.UnreadWords(unread),
		)
		f.Hint = search.ManifestsHint(unread, absentHint)
	case j.Dump != nil:
		f.Hint = search.SchemasHint
	case len(forbidden) > 0 && j.output != "role":
		j.reportRights(r, forbidden)
	}
	return f
}

// reportFailed reports which lists could not be read for another reason than that nobody may, or that the manifests
// hold nothing of the kind. It returns how many kinds they hold nothing of.
func (j *job) reportFailed(unread []search.Unread) (absent int) {
	var causes []string
	failed := map[string][]search.Unread{} // by their cause: one that many have is reported once
	for _, u := range unread {
		switch {
		case j.Dump != nil && u.Kind != "*":
			absent++
		case u.Forbidden && u.Kind != "*":
		default:
			if failed[u.Error] == nil {
				causes = append(causes, u.Error)
			}
			failed[u.Error] = append(failed[u.Error], u)
		}
	}
	for _, cause := range causes {
		j.Note("%s could not be read: %s", search.UnreadWords(failed[cause]), cause)
	}
	return absent
}

// allUnread are the lists that could not be read, the groups of which nobody knows the kinds, and the references that
// are declared.
func (r *Result) allUnread() []search.Unread {
	unread := slices.Clone(r.Unread)
	for i := range r.Unknown {
		for _, u := range r.Unknown[i].NotReadable {
			if (u.Kind == "*" || u.Name != "") && !slices.Contains(unread, u) {
				unread = append(unread, u)
			}
		}
	}
	return unread
}

// forbidden is what needs a right.
func (r *Result) forbidden() []search.Unread {
	return slices.DeleteFunc(r.allUnread(), func(u search.Unread) bool { return !u.Forbidden || u.Kind == "*" })
}

// reportRights tells people in short how to see more.
func (j *job) reportRights(r *Result, forbidden []search.Unread) {
	hint := j.Paint(j.ErrOut).Bold("hint:")
	lists, right := 0, []string{}
	for _, u := range forbidden {
		if u.Name == "" {
			lists++
		} else {
			right = append(right, "to read "+u.Words())
		}
	}
	if lists > 0 {
		right = slices.Insert(right, 0, "to list "+terminal.Counted(lists, "kind"))
	}
	if j.Namespace == "" && lists > 0 {
		fmt.Fprintf(
			j.ErrOut,
			"%s to look at one namespace, in which you may have more rights: %s scan -n NAMESPACE\n",
			hint,
			terminal.Program,
		)
	}
	all := "could use these objects"
	if len(r.Unknown) == 0 {
		all = "a scan reads"
	}
	j.Note(
		"you are not allowed to read all that %s. An administrator can give you the right %s",
		all,
		strings.Join(right, ", and "),
	)
	fmt.Fprintf(
		j.ErrOut,
		"%s the Role for that, and how to bind it: %s scan%s -o role\n",
		hint,
		terminal.Program,
		search.Given(j.flags, narrowing...),
	)
}

// printRole prints the Role that would give the missing rights, and the command that gives it to the user.
func (j *job) printRole(ctx context.Context, r *Result) error {
	forbidden := r.forbidden()
	if len(forbidden) == 0 {
		j.Note("there is no Role to print: no list was forbidden")
		return nil
	}
	for _, declared := range j.Undeclared() { // as long as no list can be read, no object lacks them
		if !slices.Contains(forbidden, declared) {
			forbidden = append(forbidden, declared)
		}
	}
	roles := rights.Roles(rightsOf(forbidden))
	who := j.API.WhoAmI(ctx)
	if who == "" {
		who = "YOU"
	}
	name, text, err := rolesFor(roles, who)
	if err != nil {
		return err
	}
	fmt.Fprint(j.Out, text)
	user := "--user=" + terminal.ShellWord(terminal.OneLine(who))
	if account, ok := strings.CutPrefix(who, "system:serviceaccount:"); ok {
		user = "--serviceaccount=" + terminal.ShellWord(terminal.OneLine(account))
	}
	for _, role := range roles {
		command := fmt.Sprintf("# kubectl create clusterrolebinding %s --clusterrole=%s %s\n", name, name, user)
		if role.Namespace != "" {
			command = fmt.Sprintf("# kubectl create rolebinding %s -n %s --role=%s %s\n", name, role.Namespace, name, user)
		}
		fmt.Fprint(j.Out, j.Repeated(command))
	}
	if j.Namespace == "" {
		fmt.Fprint(j.Out, j.Repeated("# or, for every scan, where KubeCleaner is installed by this name: "+
			"kubectl create clusterrolebinding "+scanRole+" --clusterrole="+scanRole+" "+user+"\n"))
	}
	return nil
}

// rightsOf are the rights to read what is forbidden.
func rightsOf(forbidden []search.Unread) (all []rights.Right) {
	for _, u := range forbidden {
		verb := "list"
		if u.Name != "" {
			verb = "get"
		}
		all = append(all, rights.Right{
			Verb: verb, Group: u.Group, Resource: u.Resource, Namespace: u.Namespace, Name: u.Name,
		})
	}
	return all
}

// rolesFor are the Roles, as YAML, that let somebody read what is forbidden, and their name. For other rights, or for
// another person, the name is another: to apply them takes no right away that earlier ones gave.
func rolesFor(roles []rights.Role, who string) (name, text string, err error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %v", who, roles))
	name = missingRole + "-" + hex.EncodeToString(sum[:4])
	var documents []string
	for _, role := range roles {
		document, err := role.YAML(name)
		if err != nil {
			return "", "", err
		}
		documents = append(documents, document)
	}
	return name, strings.Join(documents, "---\n"), nil
}
