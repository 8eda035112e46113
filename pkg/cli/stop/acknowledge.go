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

// noCleaners is so in a cluster that does not know the kind.
const noCleaners = "the CustomResourceDefinitions of KubeCleaner are not installed, so there are no Cleaners, " +
	"and nothing can act"

// acknowledged waits until a Cleaner's status says what the operator says when it has read the annotation, and fails
// when none does. Then the annotation may be on a namespace that the operator does not look at. unseen says why it
// cannot be seen, for instance because the CRD of another tool drops what Cleaners would say.
func (o *options) acknowledged(
	ctx context.Context,
	api *cluster.Client,
	namespace, words string,
) (unseen string, err error) {
	if _, err := whatCleanersSay(ctx, api); apierrors.IsNotFound(err) {
		return noCleaners, nil // without them, to find out which of their fields are kept takes seconds
	}
	limited, cancel := context.WithTimeout(ctx, seenPatience)
	defer cancel()
	if lacks := api.Dropped(limited); lacks != "" {
		return lacks, nil
	}
	known := false
	all, err := o.watch(ctx, api, func(all *said, err error) bool {
		unseen, known = all.answer(words, err)
		return known
	})
	switch {
	case known:
		return unseen, nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	}
	return "", notSeen(namespace, o.elsewhere(ctx, api, namespace, "stop"), all.reasons, err)
}

// watch looks at what Cleaners say until that is done, for as long as the operator may take. It returns what the last
// look saw.
func (o *options) watch(
	parent context.Context,
	api *cluster.Client,
	done func(all *said, err error) bool,
) (all said, err error) {
	ctx, cancel := context.WithTimeout(parent, seenPatience+cluster.Rewatch)
	defer cancel()
	for waited := time.Duration(0); ; waited += cluster.Rewatch {
		if now, failed := whatCleanersSay(ctx, api); waited == 0 || ctx.Err() == nil { // else it was cut short
			all, err = now, failed
		}
		if done(&all, err) || waited >= seenPatience {
			return all, err
		}
		select {
		case <-o.Clock.After(cluster.Rewatch):
		case <-ctx.Done():
			return all, err
		}
	}
}

// answer looks for the words of a stop. It is known when Cleaners say them, or when they will not; unseen says why not.
// After any other error, the API server may be back soon.
func (s *said) answer(words string, err error) (unseen string, known bool) {
	switch {
	case apierrors.IsNotFound(err):
		return noCleaners, true
	case apierrors.IsForbidden(err):
		return terminal.OneLine(err.Error()), true
	case err != nil:
		return "", false
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
		fmt.Errorf("the stop is not acknowledged: no Cleaner's status showed the stop within %s. "+
			"%sCheck that %s is the operator's namespace and that the operator is running", seenPatience, instead, namespace),
		wayOut+"; the annotation stays. To remove it: "+
			"kubectl annotate namespace "+namespace+" "+v1alpha1.StopAnnotation+"-",
	)
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
