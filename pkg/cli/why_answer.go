// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// whyResult is what -o json prints.
type whyResult struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Namespace  string     `json:"namespace,omitempty"`
	Name       string     `json:"name"`
	Exists     bool       `json:"exists"`
	Created    *time.Time `json:"created,omitempty"`
	// Used is whether anything uses it. Nil when that is not known.
	Used *bool `json:"used"`
	// Users are who names it, and where. Findings are what is found of the object itself.
	Users    []whyUser     `json:"users"`
	Findings []scanFinding `json:"findings"`
	// Owner is the controller that made the object.
	Owner string `json:"owner,omitempty"`
	// Searched are the kinds that can name it and were read, NotReadable those that could not.
	Searched    []string     `json:"searched"`
	NotReadable []scanUnread `json:"notReadable"`
	// Nearest is who names something of almost the same name that does not exist.
	Nearest *whyNearest `json:"nearest,omitempty"`
	// Cleaners are those that may select it.
	Cleaners []whyCleaner `json:"cleaners"`
	// DeletedBy is the run that deleted it.
	DeletedBy *whyRun `json:"deletedBy,omitempty"`

	// Selects is true of a Service whose selector matches a Pod, or the template of one: it is used, although nothing need name it.
	Selects bool `json:"selects,omitempty"`

	read bool // whether somebody may read it through the API by its name
}

type whyUser struct {
	scanUser `json:",inline"`
	Optional bool `json:"optional,omitempty"`
	// Idle is true of one that uses nothing at present, and Reads of one that may read it by its name, and may not do so.
	Idle  bool `json:"idle,omitempty"`
	Reads bool `json:"reads,omitempty"`
}

type whyNearest struct {
	Name string   `json:"name"`
	User scanUser `json:"user"`
}

type whyCleaner struct {
	Name      string          `json:"name"`
	Action    v1alpha1.Action `json:"action"`
	Selectors []int           `json:"selectors"`
}

type whyRun struct {
	Run     string    `json:"run"`
	Cleaner string    `json:"cleaner"`
	At      time.Time `json:"at"`
	Why     string    `json:"why,omitempty"`
	// Restore is the command that brings it back. Empty when there is no copy.
	Restore string     `json:"restore,omitempty"`
	Until   *time.Time `json:"until,omitempty"`
}

// answer puts together what is known of the object.
func (j *whyJob) answer(ctx context.Context) (*whyResult, error) {
	r := &whyResult{
		APIVersion: j.of.APIVersion(), Kind: j.of.Kind, Namespace: j.name.Namespace, Name: j.name.Name, Exists: j.found != nil,
		Users: []whyUser{}, Findings: []scanFinding{}, Searched: []string{}, NotReadable: []scanUnread{}, Cleaners: []whyCleaner{},
	}
	use := j.finder.Graph().Use(j.name)
	if selected := j.finder.Graph().Selected(j.name); selected.IsUsed() && j.of.GroupKind() == (schema.GroupKind{Kind: "Service"}) {
		use.Live, r.Selects = true, true // what its selector matches serves through it
	}
	r.read = use.Read
	r.Users = usersOf(j.finder.Graph().Evidence(j.name), use)
	if j.found != nil {
		r.Created = timeOf(j.found.Created)
		if owner, owned := graph.Controller(j.found.Parts()); owned {
			r.Owner = owner.String()
		}
	}
	j.searchedBy(r)
	j.addFindings(r)
	if used := use.IsUsed(); used || len(r.NotReadable) == 0 && !use.Read {
		r.Used = &used
	}
	if j.found != nil && !use.IsUsed() {
		r.Nearest = j.nearest(ctx)
	}
	switch {
	case j.dump != nil: // there are no Cleaners, and no runs
	case j.found != nil:
		j.findCleaners(ctx, r)
	case j.unsure == nil:
		j.findRun(ctx, r)
	}
	return r, ctx.Err()
}

// addFindings adds what was found of the object, the worst first.
func (j *whyJob) addFindings(r *whyResult) {
	for _, f := range j.finder.Findings() {
		if f.Kind.GroupKind() == j.name.GroupKind && f.Namespace == j.name.Namespace && f.Name == j.name.Name {
			r.Findings = append(r.Findings, newScanFinding(f))
		}
	}
	sortWorst(r.Findings)
}

// usersOf are the references to the object, each once.
func usersOf(evidence []graph.Evidence, use graph.Use) []whyUser {
	users := []whyUser{}
	for _, e := range evidence {
		u := whyUser{scanUser: userOf(e.From, e.Path), Optional: e.Optional, Reads: e.Strength == graph.Reads}
		i := slices.IndexFunc(use.Users, func(user graph.User) bool { return user.Name == e.From })
		u.Idle = (i >= 0 && use.Users[i].Idle || !use.IsUsed()) && !u.Reads // one that is owned is not told apart from its owner
		known := slices.IndexFunc(users, func(other whyUser) bool { return other.scanUser == u.scanUser })
		if known < 0 {
			users = append(users, u)
			continue
		}
		// One field may name it twice, as what is there and as what is meant when nothing is there. The stronger counts.
		users[known].Optional = users[known].Optional && u.Optional
		users[known].Reads = users[known].Reads && u.Reads
		users[known].Idle = users[known].Idle && u.Idle
	}
	slices.SortStableFunc(users, func(a, b whyUser) int { // what runs last: there is most of it
		isPod := func(u whyUser) int {
			if u.Kind == "Pod" {
				return 1
			}
			return 0
		}
		return cmp.Or(isPod(a)-isPod(b), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name),
			strings.Compare(a.Path, b.Path))
	})
	return users
}

func userOf(name graph.Name, path string) scanUser {
	return scanUser{Kind: name.Kind, Group: name.Group, Namespace: name.Namespace, Name: name.Name, Path: path}
}

// searchedBy tells which of the kinds that can name the object were read.
func (j *whyJob) searchedBy(r *whyResult) {
	searched, unread := j.finder.Sources(j.name.GroupKind)
	for _, kind := range searched {
		r.Searched = append(r.Searched, kind.Kind)
	}
	for _, u := range unread {
		found := scanUnread{Kind: u.Kind.Kind, Group: u.Kind.Group, Elsewhere: u.Elsewhere, Forbidden: apierrors.IsForbidden(u.Err), Error: oneLine(u.Err.Error())}
		if i := slices.IndexFunc(j.unread, func(list unreadList) bool { return list.Kind.GroupKind() == u.Kind }); i >= 0 {
			found = j.scanUnread(j.unread[i])
		}
		r.NotReadable = append(r.NotReadable, found)
	}
}

// nearest is who names something of almost the same name, which does not exist: a live read proves that.
func (j *whyJob) nearest(ctx context.Context) *whyNearest {
	users := map[string][]graph.User{}
	var names []string
	j.finder.Graph().Absent(func(name graph.Name, by []graph.User) {
		if name.GroupKind == j.name.GroupKind && name.Namespace == j.name.Namespace {
			names, users[name.Name] = append(names, name.Name), by
		}
	})
	near := suggest.Nearest(j.name.Name, names)
	if near == "" || near == j.name.Name {
		return nil
	}
	if _, err := j.reader.Object(ctx, j.of, j.name.Namespace, near); !apierrors.IsNotFound(err) {
		return nil
	}
	return &whyNearest{near, userOf(users[near][0].Name, users[near][0].Path)}
}

// findCleaners looks for Cleaners that select objects of the kind, in the namespace, with such labels.
func (j *whyJob) findCleaners(ctx context.Context, r *whyResult) {
	var cleaners []v1alpha1.Cleaner
	err := list[v1alpha1.CleanerList](ctx, j.api, cleanerPath(""), func(cleaner *v1alpha1.Cleaner) { cleaners = append(cleaners, *cleaner) })
	switch {
	case apierrors.IsNotFound(err) || ctx.Err() != nil:
		return // Cleaners are not installed
	case err != nil:
		j.note("which Cleaners may select it is not known: %s", oneLine(err.Error()))
		return
	}
	t := &trial{namespaces: map[string]labels.Set{}}
	if j.name.Namespace != "" {
		if namespaces, err := j.reader.Namespaces(ctx, []string{j.name.Namespace}); err == nil && namespaces[j.name.Namespace] != nil {
			t.namespaces[j.name.Namespace] = namespaces[j.name.Namespace].Labels
		}
	}
	o := &testObject{Object: *j.found}
	for i := range cleaners {
		cleaner := &cleaners[i]
		found := whyCleaner{Name: cleaner.Name, Action: cleaner.EffectiveAction()}
		for n, spec := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
			if spec.Group == j.of.Group && spec.Kind == j.of.Kind && r.has(spec.Finding) && selectsLabels(ctx, n, spec, o, t.scope(spec, o)) {
				found.Selectors = append(found.Selectors, n)
			}
		}
		if len(found.Selectors) > 0 {
			r.Cleaners = append(r.Cleaners, found)
		}
	}
}

// has reports whether what a selector wants to be found was found. Without that it wants nothing of the kind.
func (r *whyResult) has(wanted *v1alpha1.FindingSelector) bool {
	return wanted == nil || slices.ContainsFunc(r.Findings, func(f scanFinding) bool { return f.Type == wanted.Type })
}

func selectsLabels(ctx context.Context, n int, spec v1alpha1.ResourceSelector, o *testObject, scope selector.Scope) bool {
	part := v1alpha1.ResourceSelector{Group: spec.Group, Version: spec.Version, Kind: spec.Kind, LabelFilters: spec.LabelFilters}
	s, err := selector.New(n, part, selector.Judge{}, o.Created)
	if err != nil {
		return false
	}
	matches, _, err := s.Again(ctx, o.Object, scope)
	return err == nil && matches
}
