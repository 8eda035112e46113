// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
)

const (
	// LeaseName is the Lease that the operator's replicas compete for: cmd/manager names it.
	LeaseName = "kubecleaner-leader"
	// leaseGrace is how much later than its duration a Lease may be renewed: the clocks of the operator and of the API
	// server differ a little.
	leaseGrace = 15 * time.Second
)

// LeasePath is where the Lease is.
func LeasePath(namespace string) string {
	return "/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases/" + LeaseName
}

// ownFlags are flags that only this operator has, as far as we know.
var ownFlags = []string{
	"diagnostics-cert-dir", "max-actions-per-run", "max-copies-bytes", "max-script-memory", "max-selection-memory",
	"protected-namespaces", "require-service-account",
}

// IsOperator goes by the labels of config/manager and of the chart and, because others may have been chosen, by the
// image and by the flags.
func IsOperator(d *appsv1.Deployment) bool {
	if d.Labels["app.kubernetes.io/name"] == "kubecleaner" && d.Labels["app.kubernetes.io/component"] == "manager" {
		return true
	}
	return slices.ContainsFunc(d.Spec.Template.Spec.Containers, func(c corev1.Container) bool {
		if servesPage(&c) {
			return false
		}
		name := "/" + ImageName(c.Image)
		return strings.HasSuffix(name, "/kubecleaner") || strings.HasSuffix(name, "/kubecleaner-manager") ||
			strings.HasSuffix(name, "/kubecleaner/manager") || slices.ContainsFunc(slices.Concat(c.Command, c.Args), isOwnFlag)
	})
}

// servesPage reports whether a container serves the page for approvals. The program is the operator's, with another
// first argument.
func servesPage(c *corev1.Container) bool {
	args := c.Args
	if len(c.Command) > 0 {
		args = slices.Concat(c.Command[1:], c.Args)
	}
	return len(args) > 0 && args[0] == "dashboard"
}

// ImageName is the name of an image without its tag and digest.
func ImageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") { // else it is that of a port
		image = image[:colon]
	}
	return image
}

func isOwnFlag(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return strings.HasPrefix(name, "-") &&
		slices.Contains(ownFlags, strings.ReplaceAll(strings.TrimLeft(name, "-"), "_", "-"))
}

// IsLed reports whether somebody leads by a Lease: it has a holder who renews it in time.
func IsLed(lease *coordinationv1.Lease, now time.Time) bool {
	if ptr.Deref(lease.Spec.HolderIdentity, "") == "" || lease.Spec.RenewTime == nil {
		return false
	}
	valid := time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 15)) * time.Second
	return now.Sub(lease.Spec.RenewTime.Time) <= valid+leaseGrace
}

// NoOperator reports whether it is certain that there is no operator: nobody leads, and none of its Deployments has a
// Pod that works. What may not be read says nothing. namespace is the operator's if it has no Deployment; empty for the
// usual one.
func (c *Client) NoOperator(ctx context.Context, namespace string, now time.Time) bool {
	if c.MayBeLed(ctx, cmp.Or(namespace, DefaultOperatorNamespace), now) {
		return false
	}
	var operators []appsv1.Deployment
	err := List[appsv1.DeploymentList](ctx, c, "/apis/apps/v1/deployments", func(d *appsv1.Deployment) {
		if IsOperator(d) {
			operators = append(operators, *d)
		}
	})
	return err == nil && !slices.ContainsFunc(operators, func(d appsv1.Deployment) bool {
		return d.Status.AvailableReplicas > 0 || c.MayBeLed(ctx, d.Namespace, now)
	})
}

// MayBeLed reports whether somebody leads in a namespace, or that is not known.
func (c *Client) MayBeLed(ctx context.Context, namespace string, now time.Time) bool {
	var lease coordinationv1.Lease
	err := c.Read(ctx, LeasePath(namespace), &lease)
	return !apierrors.IsNotFound(err) && (err != nil || IsLed(&lease, now))
}
