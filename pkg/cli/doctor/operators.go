// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// readOperators finds the operator, other ones, and k8s-cleaner. A StatefulSet or a DaemonSet is taken for a Deployment
// of that kind: who runs a second operator may have written his own manifests.
func (p *patient) readOperators(ctx context.Context) {
	var all []appsv1.Deployment
	look := func(d appsv1.Deployment, kind string) {
		d.Kind = kind
		switch {
		case cluster.IsOperator(&d):
			all = append(all, d)
		case isLegacy(&d):
			p.legacies = append(p.legacies, d)
		}
	}
	const path = "/apis/apps/v1/"
	p.deploymentsErr = cluster.List[appsv1.DeploymentList](ctx, p.api, path+"deployments",
		func(d *appsv1.Deployment) { look(*d, "Deployment") })
	p.workloadErrs = []error{
		p.deploymentsErr,
		cluster.List[appsv1.StatefulSetList](ctx, p.api, path+"statefulsets", func(s *appsv1.StatefulSet) {
			d := alike(s.ObjectMeta, s.Spec.Selector, ptr.Deref(s.Spec.Replicas, 1), s.Status.AvailableReplicas)
			d.Spec.Template = s.Spec.Template
			look(d, "StatefulSet")
		}),
		cluster.List[appsv1.DaemonSetList](ctx, p.api, path+"daemonsets", func(s *appsv1.DaemonSet) {
			// One that fits no node now may fit the next one.
			d := alike(s.ObjectMeta, s.Spec.Selector, max(1, s.Status.DesiredNumberScheduled), s.Status.NumberAvailable)
			d.Spec.Template = s.Spec.Template
			look(d, "DaemonSet")
		}),
	}
	p.choose(ctx, all)
}

func alike(object metav1.ObjectMeta, selector *metav1.LabelSelector, replicas, available int32) appsv1.Deployment {
	d := appsv1.Deployment{ObjectMeta: object}
	d.Spec.Selector, d.Spec.Replicas, d.Status.AvailableReplicas = selector, &replicas, available
	return d
}

// choose takes the operator that leads for the one that is examined, unless the user said which. It may be that of the
// namespace that has no Deployment: then it runs outside of the cluster.
func (p *patient) choose(ctx context.Context, all []appsv1.Deployment) {
	p.namespace = cmp.Or(p.operatorNamespace, p.likelyNamespace(ctx, all))
	p.holder = p.holderIn(ctx, p.namespace)
	rank := func(d appsv1.Deployment) int {
		switch {
		case d.Namespace != p.namespace:
			return 3
		case strings.HasPrefix(p.holder, d.Name+"-"): // the leader is named after its Pod
			return 0
		case d.Status.AvailableReplicas > 0:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b appsv1.Deployment) int { return cmp.Compare(rank(a), rank(b)) })
	if len(all) > 0 && all[0].Namespace == p.namespace {
		p.deployment, all = &all[0], all[1:]
		p.args = argsOf(p.deployment)
	}
	p.others = all
}

// likelyNamespace is where an operator leads or, when none does, where one is installed: rather in the usual namespace,
// and rather one whose Pods work.
func (p *patient) likelyNamespace(ctx context.Context, all []appsv1.Deployment) string {
	usual := cluster.DefaultOperatorNamespace
	isUsual := func(d appsv1.Deployment) bool { return d.Namespace == usual }
	leads := func(d appsv1.Deployment) bool { return p.holderIn(ctx, d.Namespace) != "" }
	if i := slices.IndexFunc(all, leads); i >= 0 && p.holderIn(ctx, usual) == "" {
		return all[i].Namespace
	}
	if len(all) == 0 || slices.ContainsFunc(all, isUsual) || p.holderIn(ctx, usual) != "" {
		return usual
	}
	isAvailable := func(d appsv1.Deployment) bool { return d.Status.AvailableReplicas > 0 }
	return all[max(0, slices.IndexFunc(all, isAvailable))].Namespace
}

// misplaced is the error that --operator-namespace names a namespace without an operator, while there is one elsewhere.
// What the checks would say of that namespace would be true, and of no use. Nil if an operator may be there.
func (p *patient) misplaced(ctx context.Context) error {
	isUnread := slices.ContainsFunc(p.workloadErrs, func(err error) bool { return err != nil })
	if p.operatorNamespace == "" || p.deployment != nil || p.holder != "" || isUnread {
		return nil
	}
	var elsewhere []string
	for i := range p.others {
		elsewhere = append(elsewhere, p.others[i].Namespace)
	}
	if usual := cluster.DefaultOperatorNamespace; len(elsewhere) == 0 && p.holderIn(ctx, usual) != "" {
		elsewhere = []string{usual}
	}
	if len(elsewhere) == 0 || p.isLeaseHidden(ctx) {
		return nil
	}
	slices.Sort(elsewhere)
	elsewhere = slices.Compact(elsewhere)
	return terminal.Fail(
		codes.OperatorNotFound,
		fmt.Errorf("there is no operator in namespace %s, but there is one in namespace %s",
			p.namespace, strings.Join(elsewhere, " and ")),
		"leave -n out, or name the right one: "+terminal.Program+" doctor -n "+elsewhere[0],
	)
}

// isLeaseHidden reports whether nobody can say who leads in the operator's namespace. An operator outside of the
// cluster has no Deployment there, and may lead all the same.
func (p *patient) isLeaseHidden(ctx context.Context) bool {
	var lease coordinationv1.Lease
	err := p.api.Read(ctx, cluster.LeasePath(p.namespace), &lease)
	return err != nil && !apierrors.IsNotFound(err)
}

// holderIn is who leads in a namespace. Empty if nobody does, or that may not be read.
func (p *patient) holderIn(ctx context.Context, namespace string) string {
	var lease coordinationv1.Lease
	if err := p.api.Read(ctx, cluster.LeasePath(namespace), &lease); err != nil || !cluster.IsLed(&lease, p.earlier()) {
		return ""
	}
	return terminal.OneLine(*lease.Spec.HolderIdentity)
}

// operators looks whether more than one operator acts on the Cleaners. The other checks are about one of them.
func (p *patient) operators(context.Context) (lines []Line, well string) {
	lines = unreadAll("could not read whether there are several operators", p.workloadErrs...)
	var names []string
	switch {
	case p.deployment != nil:
		names = append(names, p.deployment.Namespace+"/"+p.deployment.Name)
	case p.holder != "":
		names = append(names, fmt.Sprintf("%s (it is the leader in namespace %s)", p.holder, p.namespace))
	}
	line := Line{Status: Warn, WayOut: "remove all but one"}
	var deletions []string
	for i := range p.others {
		d := &p.others[i]
		names = append(names, d.Namespace+"/"+d.Name)
		deletions = append(deletions, fmt.Sprintf("kubectl -n %s delete %s %s", d.Namespace, strings.ToLower(d.Kind), d.Name))
		if ptr.Deref(d.Spec.Replicas, 1) > 0 {
			line.Status = Fail
		}
	}
	if len(names) < 2 {
		return lines, "no second operator acts on the same Cleaners"
	}
	line.Message = "there are several operators, which act on the same Cleaners: " + terminal.Shortened(names, maxNamed) +
		". The other checks are about " + names[0]
	if p.holder != "" && p.operatorNamespace == "" { // else it may be the right one that would be deleted
		line.WayOut = "keep the one that leads: " + terminal.Shortened(deletions, maxNamed)
	}
	return append([]Line{line}, lines...), ""
}
