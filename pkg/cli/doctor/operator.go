// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
)

// leader looks whether somebody renews the Lease.
func (p *patient) leader(ctx context.Context) (lines []Line, well string) {
	if value, given := p.flag("leader-elect"); given && value == "false" {
		return nil, "the operator runs without leader election (--leader-elect=false)"
	}
	object := ref("Lease", p.namespace, cluster.LeaseName)
	var lease coordinationv1.Lease
	err := p.api.Read(ctx, cluster.LeasePath(p.namespace), &lease)
	look := "see the check operator"
	if p.deployment != nil {
		look = fmt.Sprintf("kubectl -n %s logs %s/%s", p.namespace, strings.ToLower(p.deployment.Kind), p.deployment.Name)
	}
	switch {
	case apierrors.IsNotFound(err):
		return []Line{
			{
				Status:  Fail,
				Object:  object,
				Message: "it does not exist: no operator has ever led here",
				WayOut:  look + "; if the operator is in another namespace, give --operator-namespace",
			},
		}, ""
	case err != nil:
		return []Line{unread(object, "could not read whether there is a leader", err)}, ""
	case ptr.Deref(lease.Spec.HolderIdentity, "") == "" || lease.Spec.RenewTime == nil:
		return []Line{{Status: Fail, Object: object, Message: "there is no leader: no run starts", WayOut: look}}, ""
	}
	holder, isLed := terminal.OneLine(*lease.Spec.HolderIdentity), cluster.IsLed(&lease, p.earlier())
	if !isLed && p.hasJustStarted() {
		return []Line{{
			Status: Warn, Object: object, WayOut: "wait half a minute, and look again",
			Message: fmt.Sprintf("the operator has just started, and takes over from %s: no run begins until then",
				holder),
		}}, ""
	}
	if !isLed {
		return []Line{
			{
				Status: Fail,
				Object: object,
				WayOut: look,
				Message: fmt.Sprintf(
					"the leader %s has not renewed it for %s: no run begins",
					holder,
					p.earlier().Sub(lease.Spec.RenewTime.Time).Round(time.Second),
				),
			},
		}, ""
	}
	return p.stranger(ctx, object, holder), "the leader is " + holder
}

// stopped looks whether acting is off.
func (p *patient) stopped(ctx context.Context) (lines []Line, well string) {
	object := ref("Namespace", p.namespace)
	var metadata metav1.PartialObjectMetadata
	err := p.api.Read(ctx, "/api/v1/namespaces/"+p.namespace, &metadata)
	switch reason, is := metadata.Annotations[v1alpha1.StopAnnotation]; {
	case apierrors.IsNotFound(err):
		lines = append(
			lines,
			Line{
				Status:  Fail,
				Object:  object,
				Message: "the operator's namespace does not exist",
				WayOut:  "say which it is with --operator-namespace",
			},
		)
	case err != nil:
		lines = append(lines, unread(object, "could not read whether all acting is stopped", err))
	case is:
		lines = append(
			lines,
			Line{
				Status:  Warn,
				Object:  object,
				Message: stop.Words(reason) + ": every Cleaner only reports",
				WayOut:  terminal.Program + " resume",
			},
		)
	}
	if p.isSet("dry-run") {
		lines = append(
			lines,
			Line{
				Status:  Warn,
				Message: v1alpha1.DryRunByFlag + ": every Cleaner only reports",
				WayOut:  "remove the flag from the operator's Deployment, if that is not meant",
			},
		)
	}
	return lines, "acting is not stopped"
}

// legacy looks for k8s-cleaner, which acts on the same Cleaners, and deletes by default.
func (p *patient) legacy(context.Context) (lines []Line, well string) {
	for i := range p.legacies {
		d := &p.legacies[i]
		line := Line{Object: refTo(d)}
		if ptr.Deref(d.Spec.Replicas, 1) == 0 {
			line.Status, line.Message = Warn, "k8s-cleaner is scaled to 0: it acts on the same Cleaners as soon as somebody scales it up"
		} else {
			line.Status, line.Message = Fail, "k8s-cleaner runs beside KubeCleaner: both act on the same Cleaners, and k8s-cleaner deletes where no action is set"
		}
		line.WayOut = fmt.Sprintf("remove it: kubectl -n %s delete %s %s", d.Namespace, strings.ToLower(d.Kind), d.Name)
		lines = append(lines, line)
	}
	for i := range p.all {
		if why := p.all[i].ForeignController(p.there); why != "" {
			lines = append(
				lines,
				Line{
					Status:  Fail,
					Object:  ref("Cleaner", p.all[i].Name),
					Message: why,
					WayOut:  "find and remove the other controller, also if it runs outside of this cluster",
				},
			)
		}
	}
	lines = append(lines, unreadAll("could not read whether k8s-cleaner still runs",
		append(slices.Clone(p.workloadErrs), p.known())...)...)
	return lines, "no other controller acts on Cleaners"
}

// known is why the Cleaners could not be read. That there is no such kind is reported by the check of the
// CustomResourceDefinitions.
func (p *patient) known() error {
	if apierrors.IsNotFound(p.cleanersErr) {
		return nil
	}
	return p.cleanersErr
}

// maxSkew is by how much clocks may differ: the operator judges no ages when its own differs by more.
const maxSkew = time.Minute

// clocks compares the clock of this machine, and the leader's as far as its Lease shows it, with that of the API
// server.
func (p *patient) clocks(ctx context.Context) (lines []Line, well string) {
	if p.undated != nil {
		lines = append(
			lines,
			Line{
				Status:  Unknown,
				Message: "the API server does not say what time it is (header Date)",
				WayOut:  "ask it without a proxy",
			},
		)
	}
	skew := p.here.Sub(p.there).Round(time.Second)
	if skew.Abs() > maxSkew {
		lines = append(lines, Line{
			Status: Warn,
			Message: fmt.Sprintf(
				"the clock of this machine is %s %s that of the API server: previews judge ages by it",
				skew.Abs(),
				aheadOrBehind(skew),
			),
			WayOut: "set the clock of this machine",
		})
	}
	var lease coordinationv1.Lease
	if p.api.Read(ctx, cluster.LeasePath(p.namespace), &lease) == nil &&
		lease.Spec.RenewTime != nil {
		if ahead := lease.Spec.RenewTime.Sub(p.there).Round(time.Second); ahead > maxSkew {
			lines = append(lines, Line{
				Status: Fail,
				Object: ref("Lease", p.namespace, cluster.LeaseName),
				WayOut: "set the clock of its node",
				Message: fmt.Sprintf(
					"the operator's clock is %s ahead of that of the API server: ages cannot be judged, so runs touch nothing",
					ahead,
				),
			})
		}
	}
	if i := slices.IndexFunc(p.all, hasSkew); i >= 0 {
		lines = append(lines, Line{
			Status: Fail, Object: ref("Cleaner", p.all[i].Name), WayOut: "set the clock of the operator's node",
			Message: "its last run says that the operator's clock differs from that of the API server",
		})
	}
	return lines, "this machine and the API server agree about the time"
}

func aheadOrBehind(skew time.Duration) string {
	if skew < 0 {
		return "behind"
	}
	return "ahead of"
}

// hasSkew reports whether the last run of a Cleaner was refused because of the operator's clock: pkg/transport has the
// words.
func hasSkew(c v1alpha1.Cleaner) bool {
	return c.Status.FailureMessage != nil && strings.Contains(*c.Status.FailureMessage, "the operator's clock is")
}
