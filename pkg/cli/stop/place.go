// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package stop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// find connects, and finds the operator's namespace.
func (o *options) find(ctx context.Context) (*cluster.Client, string, error) {
	api, err := cluster.Connect(o.Session, &o.Connection)
	if err != nil {
		return nil, "", err
	}
	if o.namespace != "" {
		return api, o.namespace, nil
	}
	found, err := operators(ctx, api)
	switch {
	case len(found) == 1:
		return api, found[0], nil
	case len(found) > 1:
		return nil, "", terminal.Fail(
			codes.OperatorNotFound,
			fmt.Errorf("there is a Deployment of the operator in each of these namespaces: %s", strings.Join(found, ", ")),
			"say which one with --operator-namespace",
		)
	case err == nil: // to guess could mean to stop nothing, and to say otherwise
		return nil, "", terminal.Fail(
			codes.OperatorNotFound,
			errors.New("there is no Deployment of the operator in the cluster"),
			"say in which namespace it runs with --operator-namespace",
		)
	case cluster.IsAway(err):
		return nil, "", cluster.RequestError("looking for the operator", err)
	}
	o.Note(
		"the operator's Deployment could not be looked for, so its namespace is taken to be %s (--operator-namespace): %s",
		cluster.DefaultOperatorNamespace,
		terminal.OneLine(err.Error()),
	)
	return api, cluster.DefaultOperatorNamespace, nil
}

// place is what a namespace is to the operator, as far as the user may see it.
type place struct {
	// isOperators is true if the namespace has a Deployment of the operator, or if an operator leads there.
	isOperators bool
	// elsewhere are the namespaces with a Deployment of the operator, if the namespace is none of the operator's.
	elsewhere []string
}

func (o *options) placeOf(ctx context.Context, api *cluster.Client, namespace string) place {
	found, _ := operators(ctx, api) // without the right to look for it, it is not known
	if slices.Contains(found, namespace) {
		return place{isOperators: true}
	}
	// An operator that runs outside of the cluster has no Deployment.
	var lease coordinationv1.Lease
	if api.Read(ctx, cluster.LeasePath(namespace), &lease) == nil && cluster.IsLed(&lease, o.Now()) {
		return place{isOperators: true}
	}
	return place{elsewhere: found}
}

// misplaced refuses to annotate a namespace in which the operator is not: that would stop nothing.
func (o *options) misplaced(ctx context.Context, api *cluster.Client, namespace string) error {
	if o.namespace == "" { // it was found
		return nil
	}
	place := o.placeOf(ctx, api, namespace)
	if len(place.elsewhere) == 0 || api.MayBeLed(ctx, namespace, o.Now()) { // who may not know, may stop
		return nil
	}
	flags := ""
	if o.reason != "" {
		flags = " --reason " + terminal.ShellWord(o.reason)
	}
	return terminal.Fail(
		codes.OperatorNotFound,
		fmt.Errorf("the operator is not in namespace %s: its Deployment is in namespace %s; nothing was changed",
			namespace, strings.Join(place.elsewhere, " and ")),
		"to stop all acting: "+place.command("stop", flags),
	)
}

// stopped is the error that acting is stopped by an annotation on another namespace, in which the operator is. Nil if
// no such annotation is known.
func (p place) stopped(ctx context.Context, api *cluster.Client, words string) error {
	for _, namespace := range p.elsewhere {
		reason, err := stopReason(ctx, api, namespace)
		if err != nil || reason == nil {
			continue
		}
		return terminal.Fail(
			codes.OperatorNotFound,
			fmt.Errorf("%s by the annotation on namespace %s, where the operator is: %s",
				words, namespace, reasonWords(*reason)),
			"to let Cleaners act again: "+place{elsewhere: []string{namespace}}.command("resume", ""),
		)
	}
	return nil
}

// command is what to call for the namespaces in which the operator is.
func (p place) command(verb, flags string) string {
	var all []string
	for _, namespace := range p.elsewhere {
		all = append(all, terminal.Program+" "+verb+" -n "+namespace+flags)
	}
	return strings.Join(all, " or ")
}

// wayOut is what to do when a namespace does not seem to be the operator's.
func (p place) wayOut(verb string) string {
	if len(p.elsewhere) == 0 {
		return "say which namespace is the operator's with --operator-namespace"
	}
	return "the operator's Deployment is in namespace " + strings.Join(p.elsewhere, " and ") + ": " + p.command(verb, "")
}

// elsewhere is what to do in place of a namespace in which the operator does not seem to run.
func (o *options) elsewhere(ctx context.Context, api *cluster.Client, namespace, verb string) string {
	return o.placeOf(ctx, api, namespace).wayOut(verb)
}

// operators are the namespaces with a Deployment of the operator.
func operators(ctx context.Context, c *cluster.Client) (names []string, err error) {
	err = cluster.List[appsv1.DeploymentList](ctx, c, "/apis/apps/v1/deployments", func(d *appsv1.Deployment) {
		if cluster.IsOperator(d) {
			names = append(names, d.Namespace)
		}
	})
	slices.Sort(names)
	return slices.Compact(names), err
}
