// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/explain"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// Result is what -o json prints.
type Result struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	Exists     bool   `json:"exists"`
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
	// Exempt says why the object is never a finding.
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

	read bool // whether somebody may read it through the API by its name
}

type user struct {
	search.User `json:",inline"`
	Optional    bool `json:"optional,omitempty"`
	// Idle is true of one that uses nothing at present, and Reads of one that may read it by its name, and may not do so.
	Idle  bool `json:"idle,omitempty"`
	Reads bool `json:"reads,omitempty"`
}

type nearby struct {
	Name string      `json:"name"`
	User search.User `json:"user"`
}

type selecting struct {
	Name      string          `json:"name"`
	Action    v1alpha1.Action `json:"action"`
	Selectors []int           `json:"selectors"`
	// NotReady is why the Cleaner does not run: the reason of its condition Ready. Empty when it does.
	NotReady string `json:"notReady,omitempty"`
}

type deletion struct {
	Run     string    `json:"run"`
	Cleaner string    `json:"cleaner"`
	At      time.Time `json:"at"`
	Why     string    `json:"why,omitempty"`
	// Restore is the command that brings it back. Empty when there is no copy.
	Restore string     `json:"restore,omitempty"`
	Until   *time.Time `json:"until,omitempty"`
}

// answer puts together what is known of the object.
func (j *job) answer(ctx context.Context) (*Result, error) {
	r := &Result{
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
	r.read = use.Read
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
		if f.Kind.GroupKind() == j.name.GroupKind && f.Namespace == j.name.Namespace && f.Name == j.name.Name {
			r.Findings = append(r.Findings, search.NewFinding(f))
		}
	}
	search.SortWorst(r.Findings)
}

// usersOf are the references to the object, each once.
func usersOf(evidence []graph.Evidence, use graph.Use) []user {
	users := []user{}
	for _, e := range evidence {
		u := user{User: userOf(e.From, e.Path), Optional: e.Optional, Reads: e.Strength == graph.Reads}
		i := slices.IndexFunc(use.Users, func(user graph.User) bool { return user.Name == e.From })
		u.Idle = (i >= 0 && use.Users[i].Idle || !use.IsUsed()) &&
			!u.Reads // one that is owned is not told apart from its owner
		known := slices.IndexFunc(users, func(other user) bool { return other.User == u.User })
		if known < 0 {
			users = append(users, u)
			continue
		}
		// One field may name it twice, as what is there and as what is meant when nothing is there. The stronger counts.
		users[known].Optional = users[known].Optional && u.Optional
		users[known].Reads = users[known].Reads && u.Reads
		users[known].Idle = users[known].Idle && u.Idle
	}
	slices.SortStableFunc(users, func(a, b user) int { // what runs last: there is most of it
		isPod := func(u user) int {
			if u.Kind == "Pod" {
				return 1
			}
			return 0
		}
		return cmp.Or(
			isPod(a)-isPod(b),
			strings.Compare(a.Kind, b.Kind),
			strings.Compare(a.Namespace, b.Namespace),
			strings.Compare(a.Name, b.Name),
			strings.Compare(a.Path, b.Path),
		)
	})
	return users
}

func userOf(name graph.Name, path string) search.User {
	return search.User{Kind: name.Kind, Group: name.Group, Namespace: name.Namespace, Name: name.Name, Path: path}
}

// nearest is who names something of almost the same name, which does not exist: a live read proves that.
func (j *job) nearest(ctx context.Context) *nearby {
	users := map[string][]graph.User{}
	var names []string
	j.Finder.Graph().Absent(func(name graph.Name, by []graph.User) {
		if name.GroupKind == j.name.GroupKind && name.Namespace == j.name.Namespace {
			names, users[name.Name] = append(names, name.Name), by
		}
	})
	near := suggest.Nearest(j.name.Name, names)
	if near == "" || near == j.name.Name {
		return nil
	}
	if _, err := j.Reader.Object(ctx, j.of, j.name.Namespace, near); !apierrors.IsNotFound(err) {
		return nil
	}
	return &nearby{near, userOf(users[near][0].Name, users[near][0].Path)}
}

// findCleaners looks for Cleaners that select objects of the kind, in the namespace, with such labels.
func (j *job) findCleaners(ctx context.Context, r *Result) {
	var cleaners []v1alpha1.Cleaner
	err := cluster.List[v1alpha1.CleanerList](
		ctx,
		j.API,
		cluster.CleanerPath(""),
		func(cleaner *v1alpha1.Cleaner) { cleaners = append(cleaners, *cleaner) },
	)
	switch {
	case apierrors.IsNotFound(err) || ctx.Err() != nil:
		return // Cleaners are not installed
	case err != nil:
		r.CleanersUnread = terminal.OneLine(err.Error())
		j.Note("which Cleaners may select it is not known: %s", r.CleanersUnread)
		return
	}
	t := &explain.Judge{Namespaces: map[string]labels.Set{}}
	t.ReadNamespace(ctx, j.Reader, j.name.Namespace)
	o := &explain.Subject{Object: *j.found}
	for i := range cleaners {
		cleaner := &cleaners[i]
		found := selecting{Name: cleaner.Name, Action: cleaner.EffectiveAction(), NotReady: notReady(cleaner)}
		for n, spec := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
			if spec.Group == j.of.Group && spec.Kind == j.of.Kind && r.has(spec.Finding) &&
				selectsLabels(ctx, n, spec, o, t.Scope(spec, o)) {
				found.Selectors = append(found.Selectors, n)
			}
		}
		if len(found.Selectors) > 0 {
			r.Cleaners = append(r.Cleaners, found)
			j.addSince(ctx, r, cleaner)
		}
	}
}

// notReady is why a Cleaner does not run. Empty when it does, as far as its status says.
func notReady(cleaner *v1alpha1.Cleaner) string {
	ready := meta.FindStatusCondition(cleaner.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionFalse {
		return ""
	}
	return ready.Reason
}

// has reports whether what a selector wants to be found was found. Without that it wants nothing of the kind.
func (r *Result) has(wanted *v1alpha1.FindingSelector) bool {
	return wanted == nil || slices.ContainsFunc(r.Findings, func(f search.Finding) bool { return f.Type == wanted.Type })
}

func selectsLabels(
	ctx context.Context,
	n int,
	spec v1alpha1.ResourceSelector,
	o *explain.Subject,
	scope selector.Scope,
) bool {
	part := v1alpha1.ResourceSelector{
		Group:        spec.Group,
		Version:      spec.Version,
		Kind:         spec.Kind,
		LabelFilters: spec.LabelFilters,
	}
	s, err := selector.New(n, part, selector.Judge{}, o.Created)
	if err != nil {
		return false
	}
	matches, _, err := s.Again(ctx, o.Object, scope)
	return err == nil && matches
}
