// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// maxAsked is how many objects of a kind the API server is asked about, once it has found something wrong with one. It
// is no more than a second's work.
const maxAsked = 20

// asking is how the API server is asked about what is planned.
type asking struct {
	job     *job
	cleaner *v1alpha1.Cleaner
	actor   *action.Actor
	samples map[object.Kind]*sample
	// forbidden is what the user may not ask for.
	forbidden string
}

// sample is what the API server says of the objects of one kind.
type sample struct {
	// safe says whether the kind may be asked about.
	safe bool
	// planned is how many objects there are to ask about. Of asked it was asked, of known the answer is known, and refused
	// are those of them that it refuses to touch.
	planned, asked, known, refused int64
	// doubtful is whether it found something wrong, so that the others are asked about, too.
	doubtful bool
	// alike are the answers that hold for each object with the same patch.
	alike map[string]stage.Outcome
}

// askServer asks the API server, as a dry run, whether it would do what is planned: for one object of each kind, for
// some more where something is wrong with that, or for all (--dry-run-all). What it refuses, or would not change, is
// not planned any more. It returns how many it refuses.
func (j *job) askServer(ctx context.Context, l *live, found *run.Preview) (refused int64) {
	if j.dump != nil || found.Incomplete != nil || found.Limit != nil || found.Action == v1alpha1.ActionScan {
		return 0
	}
	a := &asking{
		job:     j,
		cleaner: l.cleaner,
		actor:   action.NewActor(j.api.Raw).ForRun(j.Clock, func(error) bool { return false }),
		samples: map[object.Kind]*sample{},
	}
	l.progress.Begin("asking the API server", false)
	kinds := a.count(ctx, found)
	for i := range found.Items {
		if item := &found.Items[i]; a.wants(item) && ctx.Err() == nil {
			a.about(ctx, item)
		}
	}
	for _, kind := range kinds {
		refused += a.samples[kind].refused
		a.report(kind)
	}
	l.unsure = a.expect(found)
	a.reportForbidden(l)
	return refused
}

// reportForbidden says what the API server could not be asked, or keeps it for the end where that is the answer.
func (a *asking) reportForbidden(l *live) {
	switch {
	case a.forbidden == "":
		return
	case a.job.Overrides.AuthInfo.Impersonate != "": // its rights are what is asked about
		l.forbidden = terminal.OneLine(a.forbidden)
	default:
		a.job.Note(
			"whether the API server would do all this is not known, because you may not: %s",
			terminal.OneLine(a.forbidden),
		)
	}
	l.unsure = true
}

// count makes a sample of each kind, and returns the kinds in the order of the objects.
func (a *asking) count(ctx context.Context, found *run.Preview) (kinds []object.Kind) {
	for i := range found.Items {
		item := &found.Items[i]
		if item.Result != v1alpha1.OutcomePlanned || !a.job.shows(*item) {
			continue
		}
		if a.samples[item.Kind] == nil {
			a.samples[item.Kind] = &sample{safe: a.job.mayRehearse(ctx, item.Kind), alike: map[string]stage.Outcome{}}
			kinds = append(kinds, item.Kind)
		}
		a.samples[item.Kind].planned++
	}
	return kinds
}

// wants reports whether to find out about an object that is planned and shown.
func (a *asking) wants(item *run.PreviewItem) bool {
	s := a.samples[item.Kind]
	return item.Result == v1alpha1.OutcomePlanned && a.job.shows(*item) && s.safe &&
		(s.known == 0 || s.doubtful || a.job.askAll)
}

func (a *asking) about(ctx context.Context, item *run.PreviewItem) {
	s := a.samples[item.Kind]
	if answer, ok := s.alike[patchKey(*item)]; ok && !a.job.askAll {
		s.known++
		item.Result, item.Detail = answer.Result, answer.Detail
		return
	}
	if s.asked == maxAsked && !a.job.askAll {
		return
	}
	s.asked++
	answer, after := rehearse(ctx, a.actor, a.cleaner, item)
	if answer.Result == v1alpha1.OutcomeFailed && apierrors.IsForbidden(answer.Err) {
		a.forbidden, s.safe = answer.Detail, false
		return
	}
	s.known++
	s.doubtful = s.doubtful || answer.Detail != ""
	switch answer.Result {
	case v1alpha1.OutcomePlanned, v1alpha1.OutcomeUnchanged:
		if action.IsOfSchema(answer) {
			s.alike[patchKey(*item)] = answer
		}
		item.Result, item.Detail, item.After = answer.Result, answer.Detail, after
	default:
		s.refused++
		item.Result, item.Detail = answer.Result, "the API server would refuse it: "+answer.Detail
	}
}

// refusesAll reports whether the API server refuses each object that it was asked about.
func (s *sample) refusesAll() bool { return s.refused > 0 && s.refused == s.asked }

// expect promises nothing of the objects that the API server was not asked about, where it refuses all others of their
// kind. It reports whether it may also refuse some of those that stay planned.
func (a *asking) expect(found *run.Preview) (unsure bool) {
	for i := range found.Items {
		item := &found.Items[i]
		s := a.samples[item.Kind]
		if s == nil || item.Result != v1alpha1.OutcomePlanned {
			continue
		}
		if s.refusesAll() {
			item.Result = v1alpha1.OutcomeNotActed
			item.Detail = fmt.Sprintf("not checked: the API server refused all %s objects that were checked", terminal.Thousands(s.asked))
			continue
		}
		unsure = unsure || s.refused > 0 && s.known < s.planned
	}
	return unsure
}

// report says that the API server was not asked about all objects of a kind of which it refuses some.
func (a *asking) report(kind object.Kind) {
	s := a.samples[kind]
	if s.refused == 0 || s.known == s.planned {
		return
	}
	others := "it may refuse others"
	if s.refusesAll() {
		others = fmt.Sprintf("it was not asked about the other %s, and will most likely refuse them",
			terminal.Thousands(s.planned-s.known))
	}
	a.job.Note(
		"the API server was asked, as a dry run, about %s of %s, and would refuse %s of these; %s as well: --dry-run-all asks about all",
		terminal.Thousands(s.asked),
		terminal.Kinds(s.planned, terminal.OneLine(kind.Kind)),
		terminal.Thousands(s.refused),
		others,
	)
}

func rehearse(
	ctx context.Context,
	actor *action.Actor,
	cleaner *v1alpha1.Cleaner,
	item *run.PreviewItem,
) (answer stage.Outcome, after *object.Object) {
	var patch object.JSON
	if item.Patch != nil {
		text, err := json.Marshal(item.Patch)
		if err != nil {
			return action.Failed(item.Verdict, err), nil
		}
		patch = text
	}
	return actor.Rehearse(ctx, item.Verdict, patch, cleaner.Spec.DeleteOptions)
}

// mayRehearse reports whether a dry run of a kind is safe: the API server itself serves it, and no server behind it,
// which may not know of dry runs.
func (j *job) mayRehearse(ctx context.Context, kind object.Kind) bool {
	if action.MayRehearse(kind) {
		return true
	}
	var service struct {
		Spec struct {
			Service *struct{} `json:"service"`
		} `json:"spec"`
		Metadata struct{ Name string } `json:"metadata"`
	}
	name := fmt.Sprintf("%s.%s", kind.Version, kind.Group)
	path := object.Kind{Resource: "apiservices"}
	path.Group, path.Version = "apiregistration.k8s.io", "v1"
	body, err := cluster.Send(ctx, j.api.Raw.Get().AbsPath(path.Path("", name)))
	return err == nil && json.Unmarshal(body, &service) == nil && service.Metadata.Name == name &&
		service.Spec.Service == nil
}
