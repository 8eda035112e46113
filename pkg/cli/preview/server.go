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
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// asking is how the API server is asked about what is planned.
type asking struct {
	job     *job
	cleaner *v1alpha1.Cleaner
	actor   *action.Actor
	// safe says of each kind that was asked about whether it may be asked about further.
	safe map[object.Kind]bool
	// refused is how many objects the API server refuses to touch, and forbidden what the user may not ask for.
	refused   int64
	forbidden string
}

// askServer asks the API server, as a dry run, whether it would do what is planned: for one object of each kind, or for
// all (--dry-run-all). What it refuses is not planned any more. It returns how many it refuses.
func (j *job) askServer(ctx context.Context, l *live, found *run.Preview) (refused int64) {
	if j.dump != nil || found.Incomplete != nil || found.Limit != nil || found.Action == v1alpha1.ActionScan {
		return 0
	}
	a := &asking{
		job:     j,
		cleaner: l.cleaner,
		actor:   action.NewActor(j.api.Raw).ForRun(j.Clock, func(error) bool { return false }),
		safe:    map[object.Kind]bool{},
	}
	l.progress.Begin("asking the API server", false)
	for i := range found.Items {
		if item := &found.Items[i]; a.wants(item) && ctx.Err() == nil {
			a.about(ctx, item)
		}
	}
	if a.refused > 0 && !j.askAll {
		j.Note(
			"the API server was asked, as a dry run, for one object of each kind, and may refuse others as well; --dry-run-all asks for all",
		)
	}
	if a.forbidden != "" {
		j.Note(
			"whether the API server would do all this is not known, because you may not: %s",
			terminal.OneLine(a.forbidden),
		)
	}
	return a.refused
}

// wants reports whether to ask about an object: it is planned and shown, and the first of its kind unless all are asked
// about.
func (a *asking) wants(item *run.PreviewItem) bool {
	_, asked := a.safe[item.Kind]
	return item.Result == v1alpha1.OutcomePlanned && a.job.shows(*item) && (!asked || a.job.askAll)
}

func (a *asking) about(ctx context.Context, item *run.PreviewItem) {
	if _, asked := a.safe[item.Kind]; !asked {
		a.safe[item.Kind] = a.job.mayRehearse(ctx, item.Kind)
	}
	if !a.safe[item.Kind] {
		return
	}
	switch answer := rehearse(ctx, a.actor, a.cleaner, item); {
	case answer.Result == v1alpha1.OutcomePlanned:
	case answer.Result == v1alpha1.OutcomeFailed && apierrors.IsForbidden(answer.Err):
		a.forbidden, a.safe[item.Kind] = answer.Detail, false
	default:
		a.refused++
		item.Result, item.Detail = answer.Result, "the API server would refuse it: "+answer.Detail
	}
}

func rehearse(
	ctx context.Context,
	actor *action.Actor,
	cleaner *v1alpha1.Cleaner,
	item *run.PreviewItem,
) object.Outcome {
	var patch object.JSON
	if item.Patch != nil {
		text, err := json.Marshal(item.Patch)
		if err != nil {
			return action.Failed(item.Verdict, err)
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
