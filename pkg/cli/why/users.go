// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

type user struct {
	search.User `json:",inline"`
	Optional    bool `json:"optional,omitempty"`
	// Idle is true of one that uses nothing at present, and Reads of one that may read it by its name, and may not do so.
	Idle  bool `json:"idle,omitempty"`
	Reads bool `json:"reads,omitempty"`
}

// printPartial prints who was found to name the object before the search was stopped, if it had begun.
func (j *job) printPartial() error {
	if j.Reading == nil || j.Finder == nil {
		return nil
	}
	r := j.noResult()
	use := j.Finder.Graph().Use(j.name)
	r.Partial, r.Users = true, usersOf(j.Finder.Graph().Evidence(j.name), use)
	if use.IsUsed() {
		r.Used = ptr.To(true)
	}
	switch {
	case j.output != "text":
		if err := j.print(r); err != nil {
			return err
		}
	case len(r.Users) > 0:
		fmt.Fprintln(j.Out, j.Paint(j.Out).Bold(terminal.OneLine(j.headline(r))))
		j.printUsers(r)
	}
	j.Note("this is partial: the search was stopped before its end, and whatever was not read could change that")
	return nil
}

// usersOf are the references to the object, each once.
func usersOf(evidence []graph.Evidence, use graph.Use) []user {
	users := []user{}
	for _, e := range evidence {
		u := user{User: userOf(e.From, e.Path), Optional: e.Optional, Reads: e.Strength == graph.Reads}
		i := slices.IndexFunc(use.Users, func(user graph.User) bool { return user.Name == e.From })
		u.Idle = (i >= 0 && use.Users[i].Idle || !use.IsUsed()) &&
			!u.Reads // one that is owned is not distinguished from its owner
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

type nearby struct {
	Name string      `json:"name"`
	User search.User `json:"user"`
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
