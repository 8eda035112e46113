// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// operator looks whether one operator runs.
func (p *patient) operator(ctx context.Context) (lines []Line, well string) {
	if p.deploymentsErr != nil {
		return []Line{unread("", "the operator's Deployment could not be looked for", p.deploymentsErr)}, ""
	}
	leader, runs := p.leading(ctx)
	if p.deployment == nil {
		if leader != "" {
			runs = ", but " + leader + " holds the lease: an operator elsewhere runs Cleaners"
		}
		return []Line{
			{
				Status:  Fail,
				Message: "there is no Deployment of the operator" + runs,
				WayOut:  "install KubeCleaner, or give its Deployment the labels of config/manager",
			},
		}, ""
	}
	if line, wrong := unavailable(p.deployment, leader, runs); wrong {
		lines = append(lines, line)
	}
	return lines, fmt.Sprintf("%s %s/%s is available", p.deployment.Kind, p.deployment.Namespace, p.deployment.Name)
}

// unavailable says why a Deployment has no Pod that works. leader is who leads, if somebody
// does, and runs says whether Cleaners run.
func unavailable(d *appsv1.Deployment, leader, runs string) (Line, bool) {
	line := Line{Status: Fail, Object: refTo(d)}
	look := fmt.Sprintf("kubectl -n %s describe pods -l '%s'", d.Namespace, metav1.FormatLabelSelector(d.Spec.Selector))
	switch wanted := ptr.Deref(d.Spec.Replicas, 1); {
	case wanted == 0:
		if leader != "" {
			line.Status = Warn
		}
		line.Message, line.WayOut = "it has 0 replicas"+runs, fmt.Sprintf(
			"kubectl -n %s scale %s %s --replicas=1",
			d.Namespace,
			strings.ToLower(d.Kind),
			d.Name,
		)
	case d.Status.AvailableReplicas == 0:
		line.Message, line.WayOut = "no Pod of it is available"+because(d)+runs, look
	case d.Status.AvailableReplicas < wanted:
		line.Status, line.Message, line.WayOut = Warn, fmt.Sprintf(
			"%d of %d Pods are available%s",
			d.Status.AvailableReplicas,
			wanted,
			because(d),
		), look
	default:
		return Line{}, false
	}
	return line, true
}

// leading is who leads by the Lease, if somebody does, and whether Cleaners run although the Deployment has no Pod that
// works: the operator may run elsewhere, such as on the machine of a developer. Of a Lease that could not be read,
// nothing is said here: the check leader says why.
func (p *patient) leading(ctx context.Context) (leader, runs string) {
	var lease coordinationv1.Lease
	err := p.api.Read(ctx, cluster.LeasePath(p.namespace), &lease)
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return "", ""
	case err != nil || !cluster.IsLed(&lease, p.earlier()):
		return "", ": no Cleaner runs"
	}
	leader = terminal.OneLine(*lease.Spec.HolderIdentity)
	return leader, ", but " + leader + " holds the lease: another operator runs Cleaners, or this one is shutting down"
}

// because is what the Deployment's conditions say of the cause.
func because(d *appsv1.Deployment) string {
	for _, typ := range []appsv1.DeploymentConditionType{
		appsv1.DeploymentReplicaFailure, appsv1.DeploymentProgressing,
		appsv1.DeploymentAvailable,
	} {
		for _, c := range d.Status.Conditions {
			isBad := c.Status == corev1.ConditionFalse
			if typ == appsv1.DeploymentReplicaFailure {
				isBad = c.Status == corev1.ConditionTrue
			}
			if c.Type == typ && isBad && c.Message != "" {
				return " (" + strings.TrimSuffix(c.Message, ".") + ")"
			}
		}
	}
	return ""
}
