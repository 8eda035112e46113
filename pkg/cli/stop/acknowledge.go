// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package stop

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// seenPatience is how long the operator may take to say that it knows of a stop. It needs about a second.
const seenPatience = 10 * time.Second

// acknowledged waits until a Cleaner's status says what the operator says when it has read the annotation, and fails
// when none does. Then the annotation may be on a namespace that the operator does not look at. unseen says why it
// cannot be seen, for instance because the CRD of another tool drops what Cleaners would say.
func (o *options) acknowledged(
	parent context.Context,
	api *cluster.Client,
	namespace, words string,
) (unseen string, err error) {
	ctx, cancel := context.WithTimeout(parent, seenPatience+cluster.Rewatch)
	defer cancel()
	if lacks := api.Dropped(ctx); lacks != "" {
		return lacks, nil
	}
	var reasons []string
	for waited := time.Duration(0); ; waited += cluster.Rewatch {
		var all said
		all, err = whatCleanersSay(ctx, api)
		reasons = all.reasons
		if apierrors.IsForbidden(err) {
			return terminal.OneLine(err.Error()), nil
		}
		if unseen, known := all.answer(words); err == nil && known { // else the API server may be back soon
			return unseen, nil
		}
		if waited >= seenPatience || ctx.Err() != nil {
			break
		}
		select {
		case <-o.Clock.After(cluster.Rewatch):
		case <-ctx.Done():
		}
	}
	if parent.Err() != nil {
		return "", context.Cause(parent)
	}
	return "", notSeen(namespace, elsewhere(parent, api, namespace), reasons, err)
}

// answer looks for the words of a stop. It is known when Cleaners say them, or when they will not; unseen says why not.
func (s *said) answer(words string) (unseen string, known bool) {
	switch {
	case slices.Contains(s.reasons, words):
		return "", true
	case s.cleaners == 0:
		return "there are no Cleaners", true
	case slices.Contains(s.reasons, v1alpha1.DryRunByFlag):
		return "the operator runs with --dry-run and acts on nothing anyway", true
	}
	return "", false
}

// notSeen says that no Cleaner acknowledged the stop, and what was seen last: an error, or other reasons.
func notSeen(namespace, wayOut string, reasons []string, err error) error {
	instead := ""
	switch {
	case err != nil:
		instead = "The last look failed: " + terminal.OneLine(err.Error()) + ". "
	case len(reasons) > 0:
		instead = "Cleaners say: " + terminal.OneLine(strings.Join(reasons, "; ")) + ". "
	}
	return terminal.Fail(
		codes.StopNotSeen,
		fmt.Errorf("the stop is not acknowledged: no Cleaner said within %s that all acting is stopped for this reason. "+
			"%sIs %s the operator's namespace, and does the operator run?", seenPatience, instead, namespace),
		wayOut+"; what is set stays, and to remove it: "+
			"kubectl annotate namespace "+namespace+" "+v1alpha1.StopAnnotation+"-",
	)
}

// nothingToResume says that the namespace has no annotation. That is an error if acting seems to be stopped by another
// namespace.
func (o *options) nothingToResume(ctx context.Context, api *cluster.Client, namespace string) error {
	all, err := whatCleanersSay(ctx, api)
	reasons := slices.DeleteFunc(all.reasons, func(why string) bool { return why == v1alpha1.DryRunByFlag })
	if len(reasons) > 0 {
		say := terminal.OneLine(strings.Join(reasons, "; "))
		return terminal.Fail(
			codes.OperatorNotFound,
			fmt.Errorf("namespace %s has no annotation %s, but Cleaners say: %s", namespace, v1alpha1.StopAnnotation, say),
			"say which namespace is the operator's with --operator-namespace; if acting was resumed a moment ago, look again in a second; "+
				"if the operator does not run, they say what was",
		)
	}
	fmt.Fprintf(o.ErrOut, "nothing to resume: namespace %s has no annotation %s\n", namespace, v1alpha1.StopAnnotation)
	if err != nil {
		o.Note("whether Cleaners say that acting is stopped could not be seen: %s", terminal.OneLine(err.Error()))
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

// said is what the Cleaners' manifests and statuses say: how many there are, which are suspended, and for which reasons
// the operator makes them only report.
type said struct {
	cleaners           int
	suspended, reasons []string
}

func whatCleanersSay(ctx context.Context, c *cluster.Client) (all said, err error) {
	err = cluster.List[v1alpha1.CleanerList](ctx, c, cluster.CleanerPath(""), func(cleaner *v1alpha1.Cleaner) {
		all.cleaners++
		if cleaner.IsSuspended() {
			all.suspended = append(all.suspended, cleaner.Name)
		}
		if why := cluster.WhyOff(cleaner); why != "" {
			all.reasons = append(all.reasons, why)
		}
	})
	slices.Sort(all.reasons)
	all.reasons = slices.Compact(all.reasons)
	return all, err
}
