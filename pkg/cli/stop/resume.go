// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package stop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

func (o *options) resume(ctx context.Context) error {
	api, namespace, err := o.find(ctx)
	if err != nil {
		return err
	}
	reason, err := stopReason(ctx, api, namespace)
	if err == nil && reason == nil {
		return o.nothingToResume(ctx, api, namespace)
	}
	if err := o.annotate(ctx, api, namespace, nil); err != nil {
		return err
	}
	removed := fmt.Sprintf("the annotation %s is removed from namespace %s", v1alpha1.StopAnnotation, namespace)
	place := o.placeOf(ctx, api, namespace)
	if err := place.stopped(ctx, api, removed+", but all acting is still stopped"); err != nil {
		return err
	}
	all, err := o.watch(ctx, api, func(all *said, err error) bool {
		return err != nil || len(all.stops(place, reason)) == 0
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if others := all.stops(place, reason); err == nil && len(others) > 0 {
		return terminal.Fail(
			codes.OperatorNotFound,
			errors.New(removed+", but Cleaners still say: "+terminal.OneLine(strings.Join(others, "; "))),
			place.wayOut("resume")+"; if the operator is not running, this is their old status",
		)
	}
	if reason != nil {
		removed += "; it was: " + reasonWords(*reason)
	}
	o.reportRemoved(ctx, api, removed, &all, err)
	return nil
}

// reportRemoved says that nothing else is known to stop acting, and what Cleaners do now. err says why it is not known
// what Cleaners say.
func (o *options) reportRemoved(ctx context.Context, api *cluster.Client, removed string, all *said, err error) {
	if apierrors.IsNotFound(err) {
		fmt.Fprintln(o.ErrOut, removed)
		o.Note(noCleaners)
		return
	}
	fmt.Fprintln(o.ErrOut, "acting is resumed: "+removed)
	switch {
	case api.Dropped(ctx) != "":
		o.Note("no run begins now. To see what to do: %s doctor", terminal.Program)
		return
	case err != nil:
		o.noteUnseen(err)
	case slices.Contains(all.reasons, v1alpha1.DryRunByFlag):
		o.Note("Cleaners still only report, because %s", v1alpha1.DryRunByFlag)
		return
	}
	fmt.Fprintf(
		o.ErrOut,
		"the next run of each Cleaner acts; runs that were stopped are not repeated\n%s to run one now: %s run NAME\n",
		o.Paint(o.ErrOut).Bold("hint:"),
		terminal.Program,
	)
}

// stops are the reasons by which acting is stopped in another way than by the annotation that was removed. The operator
// may take a second to see that, so its own words do not count in its own namespace.
func (s *said) stops(place place, removed *string) []string {
	return slices.DeleteFunc(slices.Clone(s.reasons), func(why string) bool {
		return why == v1alpha1.DryRunByFlag || place.isOperators && removed != nil && why == stop.Words(*removed)
	})
}

// nothingToResume says that the namespace has no annotation. That is an error if acting seems to be stopped by another
// namespace.
func (o *options) nothingToResume(ctx context.Context, api *cluster.Client, namespace string) error {
	none := fmt.Sprintf("namespace %s has no annotation %s", namespace, v1alpha1.StopAnnotation)
	place := o.placeOf(ctx, api, namespace)
	if err := place.stopped(ctx, api, none+", but all acting is stopped"); err != nil {
		return err
	}
	all, err := whatCleanersSay(ctx, api)
	if reasons := all.stops(place, nil); len(reasons) > 0 {
		return terminal.Fail(
			codes.OperatorNotFound,
			errors.New(none+", but Cleaners say: "+terminal.OneLine(strings.Join(reasons, "; "))),
			place.wayOut("resume")+"; if acting was resumed a moment ago, look again in a second; "+
				"if the operator is not running, this is their old status",
		)
	}
	fmt.Fprintln(o.ErrOut, "nothing to resume: "+none)
	switch {
	case apierrors.IsNotFound(err):
		o.Note(noCleaners)
	case err != nil:
		o.noteUnseen(err)
	}
	if n := len(all.suspended); n > 0 {
		o.Note(
			"%s suspended, each by itself: %s; to resume one: %s resume NAME",
			terminal.Counted(n, "Cleaner")+" "+terminal.Plural(int64(n), "is", "are"),
			terminal.OneLine(terminal.Shortened(all.suspended, 10)),
			terminal.Program,
		)
	}
	return o.changed.PrintRead(ctx, o.Session, api, namespacePath(namespace))
}

func (o *options) noteUnseen(err error) {
	o.Note("whether Cleaners say that acting is stopped could not be seen: %s", terminal.OneLine(err.Error()))
}
