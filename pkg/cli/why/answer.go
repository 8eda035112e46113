// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"cmp"
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// Result is what -o json prints.
type Result struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	Exists     bool   `json:"exists"`
	// Partial is true when the search was stopped before its end: then only the Users found so far are known.
	Partial bool `json:"partial,omitempty"`
	// Unsure says why it is not known whether it exists.
	Unsure  string     `json:"unsure,omitempty"`
	Created *time.Time `json:"created,omitempty"`
	// Used is whether anything uses it. Nil when that is not known.
	Used *bool `json:"used"`
	// Users are who names it, and where. Findings are what is found of the object itself.
	Users    []user           `json:"users"`
	Findings []search.Finding `json:"findings"`
	// Owner is the controller that made the object.
	Owner string `json:"owner,omitempty"`
	// Protected says why no Cleaner would touch the object.
	Protected string `json:"protected,omitempty"`
	// Exempt says why the object is never unused.
	Exempt string `json:"exempt,omitempty"`
	// Searched are the kinds that can name it and were read, NotReadable those that could not.
	Searched    []string        `json:"searched"`
	NotReadable []search.Unread `json:"notReadable"`
	// Nearest is who names something of almost the same name that does not exist.
	Nearest *nearby `json:"nearest,omitempty"`
	// Cleaners are those that may select it.
	Cleaners []selecting `json:"cleaners"`
	// CleanersUnread says why Cleaners are not known.
	CleanersUnread string `json:"cleanersUnread,omitempty"`
	// DeletedBy is the run that deleted it.
	DeletedBy *deletion `json:"deletedBy,omitempty"`

	// Selects is true of a Service whose selector matches a Pod, or the template of one: it is used, although nothing need
	// name it.
	Selects bool `json:"selects,omitempty"`
}

type deletion struct {
	Run     string    `json:"run"`
	Cleaner string    `json:"cleaner"`
	At      time.Time `json:"at"`
	Why     string    `json:"why,omitempty"`
	// Unsure is true when the run was cut off, and the object was gone when it was resumed: somebody else may have deleted
	// it. It is also true when a newer run could not be read.
	Unsure bool `json:"unsure,omitempty"`
	// Restore is the command that brings it back. Empty when there is no copy.
	Restore string     `json:"restore,omitempty"`
	Until   *time.Time `json:"until,omitempty"`
}

// noResult is a Result of which nothing is known yet.
func (j *job) noResult() *Result {
	return &Result{
		APIVersion:  j.of.APIVersion(),
		Kind:        j.of.Kind,
		Namespace:   j.name.Namespace,
		Name:        j.name.Name,
		Exists:      j.found != nil,
		Users:       []user{},
		Findings:    []search.Finding{},
		Searched:    []string{},
		NotReadable: []search.Unread{},
		Cleaners:    []selecting{},
	}
}

// answer puts together what is known of the object.
func (j *job) answer(ctx context.Context) (*Result, error) {
	r := j.noResult()
	if j.unsure != nil {
		r.Unsure = terminal.OneLine(j.unsure.Error())
	}
	j.addFindings(r) // first: what is found unused counts no more as a user
	use := j.Finder.Graph().Use(j.name)
	if selected := j.Finder.Graph().
		Selected(j.name); selected.IsUsed() &&
		j.of.GroupKind() == (schema.GroupKind{Kind: "Service"}) {
		use.Live, r.Selects = true, true // what its selector matches serves through it
	}
	r.Users = usersOf(j.Finder.Graph().Evidence(j.name), use)
	j.searchedBy(r)
	used := use.IsUsed()
	if unsure := j.addUnknown(r); used || !unsure && !use.Read {
		r.Used = &used
	}
	if j.found != nil {
		j.addFound(ctx, r, used)
	}
	switch {
	case j.Dump != nil: // there are no Cleaners, and no runs
	case j.found != nil:
		j.findCleaners(ctx, r)
	case j.unsure == nil:
		j.findRun(ctx, r)
	}
	return r, ctx.Err()
}

// addFound adds what only an object that exists has.
func (j *job) addFound(ctx context.Context, r *Result, used bool) {
	r.Created = search.TimeOf(j.found.Created)
	r.Protected = j.protectedBy(ctx)
	for i := range r.Findings {
		r.Protected = cmp.Or(r.Protected, r.Findings[i].Protected)
	}
	if owner, owned := graph.Controller(j.found.Parts()); owned {
		global := func(k object.Kind) bool { return k.GroupKind() == owner.GroupKind && !k.Namespaced }
		if slices.ContainsFunc(j.Catalog.Kinds, global) {
			owner.Namespace = ""
		}
		r.Owner = owner.String()
	}
	if len(r.Findings) == 0 {
		r.Exempt = finding.Exemption(*j.found)
	}
	if !used {
		r.Nearest = j.nearest(ctx)
	}
}

// protectedBy says why no Cleaner would touch the object. Empty when nothing is known to protect it.
func (j *job) protectedBy(ctx context.Context) string {
	reason, err := j.Protection().Own(v1alpha1.ActionDelete, *j.found)
	if err != nil || reason != "" || j.name.Namespace == "" {
		return reason
	}
	namespace, err := j.Reader.Object(ctx, search.Namespaces, "", j.name.Namespace)
	if err != nil {
		return ""
	}
	metadata, err := apiserver.Metadata(namespace)
	if err != nil {
		return ""
	}
	return guard.InNamespace(j.name.Namespace, &metadata)
}

// addFindings adds what was found of the object, the worst first.
func (j *job) addFindings(r *Result) {
	for f := range j.Finder.Findings() {
		if f.Kind.GroupKind() != j.name.GroupKind || f.Namespace != j.name.Namespace || f.Name != j.name.Name {
			continue
		}
		if len(f.Marks) > 0 { // the time of some dialect is over: shown is only what all marks say
			marked := *f
			j.marked = &marked
			f = f.Expired(j.Now())
		}
		if f != nil {
			r.Findings = append(r.Findings, search.NewFinding(f))
		}
	}
	search.SortWorst(r.Findings)
}
