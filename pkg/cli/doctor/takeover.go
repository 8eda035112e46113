// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

// takeover is how long a new operator may take until it leads: it waits for the old Lease to run out.
const takeover = 45 * time.Second

// hasJustStarted reports whether the operator's Deployment has a Pod that works, and has had none until a moment ago.
func (p *patient) hasJustStarted() bool {
	if p.deployment == nil {
		return false
	}
	for _, c := range p.deployment.Status.Conditions {
		if c.Type == appsv1.DeploymentAvailable && c.Status == corev1.ConditionTrue &&
			p.there.Sub(c.LastTransitionTime.Time) < takeover {
			return true
		}
	}
	return false
}

// earlier is the time by the clock of this machine or of the API server, whichever is behind. The leader writes its own
// time into the Lease, so a Lease is old only if it is old by both. A clock that is wrong by more than is allowed does
// not count.
func (p *patient) earlier() time.Time {
	if behind := p.there.Sub(p.here); behind > 0 && behind <= maxSkew {
		return p.here
	}
	return p.there
}

// stranger is the line about a Lease that somebody else than the operator renews: then the operator waits for ever. An
// operator without Pods may run outside of the cluster.
func (p *patient) stranger(ctx context.Context, object, holder string) []Line {
	d := p.deployment
	if d == nil {
		return nil
	}
	var pods corev1.PodList
	body, err := cluster.Send(ctx, p.api.Raw.Get().AbsPath("/api/v1/namespaces/"+d.Namespace+"/pods").
		Param("labelSelector", metav1.FormatLabelSelector(d.Spec.Selector)))
	if err == nil {
		err = json.Unmarshal(body, &pods)
	}
	switch {
	case err != nil:
		return []Line{unread(object, "could not read whether the leader "+holder+" is one of the operator's Pods", err)}
	case len(pods.Items) == 0 && d.Status.AvailableReplicas == 0,
		slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool { return mayBe(&pod, holder) }):
		return nil
	}
	return []Line{{
		Status: Fail,
		Object: object,
		Message: fmt.Sprintf("%s holds it, and is not a Pod of %s, which waits: no run begins, "+
			"unless the holder is an operator, too",
			holder, refTo(d)),
		WayOut: fmt.Sprintf("find out who renews it, and run doctor again in half a minute; if nobody knows the holder: "+
			"kubectl -n %s delete lease %s", d.Namespace, cluster.LeaseName),
	}}
}

// mayBe reports whether a Pod is the leader: the operator's identity begins with the host name that it sees.
func mayBe(pod *corev1.Pod, holder string) bool {
	host := cmp.Or(pod.Spec.Hostname, pod.Name)
	if pod.Spec.HostNetwork {
		host = pod.Spec.NodeName
	}
	return strings.HasPrefix(holder, host+"_")
}
