// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rbac is kubectl cleaner rbac: the least Roles that Cleaners need to run as ServiceAccounts.
package rbac

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/rights"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// options are the flags of rbac.
type options struct {
	*terminal.Session
	cluster.Connection
	files             []string
	selector          string
	output            string
	account           string
	operatorNamespace string
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
	cmd := &cobra.Command{
		Use:   "rbac (-f FILE... | NAME... | -l SELECTOR)",
		Short: "Print the Roles that Cleaners need to run as a ServiceAccount",
		Long: "Prints, as YAML, the ServiceAccount that Cleaners name in spec.serviceAccountRef, and the Roles and bindings with the least rights that they\n" +
			"need to read and act. A comment above each rule says which selector needs it. Nothing is created: apply the output with kubectl.\n\n" +
			"FILE is a file, a directory with all the .yaml, .yml and .json files below it, an address (https://), or - for the\n" +
			"standard input; NAME is a Cleaner of the cluster, and SELECTOR selects those with labels. For a selector with a\n" +
			"namespace, or with a namespaceSelector that names namespaces by kubernetes.io/metadata.name, it prints a Role for each of these\n" +
			"namespaces. For any other selector, it prints a ClusterRole. A finding needs the right to list all kinds that could name the object.\n\n" +
			"There is one set of Roles per ServiceAccount. If other Cleaners of the cluster use the same account, the Roles also have the\n" +
			"rights that those need.\n\n" +
			"The Roles depend on the kinds that the cluster has. Print them again after you install CustomResourceDefinitions.",
		Example: "  kubectl cleaner rbac -f cleaner.yaml\n  kubectl cleaner rbac -f cleaners/ --service-account team-a/cleaner | kubectl apply -f -\n" +
			"  kubectl cleaner rbac unused-configmaps\n  kubectl cleaner rbac -l team=a",
		RunE: func(cmd *cobra.Command, args []string) error {
			sources := slices.DeleteFunc(
				[]bool{len(o.files) > 0, len(args) > 0, o.selector != ""},
				func(given bool) bool { return !given },
			)
			if len(sources) != 1 {
				return terminal.UsageError(
					cmd,
					"needs one of these: a file (-f FILE), the name of a Cleaner, or labels of Cleaners (-l SELECTOR)",
				)
			}
			return o.run(cmd.Context(), cmd, args)
		},
		ValidArgsFunction: cluster.CompleteCleaners(s, &o.Connection),
	}
	cmd.Flags().StringArrayVarP(&o.files, "filename", "f", nil, "a file, a directory, https://... or - (may be given several times)")
	cluster.BindSelector(cmd.Flags(), &o.selector)
	cmd.Flags().
		VarP(terminal.NewChoice(&o.output, "yaml", "json"), "output", "o", "what to print: yaml, with comments, or json, a List without them")
	cmd.Flags().
		StringVar(&o.account, "service-account", "", "the account of the Cleaners that name none, as NAMESPACE/NAME")
	cluster.InOperatorNamespace(cmd.Flags(), &o.operatorNamespace)
	o.Bind(cmd.Flags())
	return cmd
}

func (o *options) run(ctx context.Context, cmd *cobra.Command, names []string) error {
	given, err := o.givenAccount(cmd)
	if err != nil {
		return err
	}
	wanted, err := cluster.ParseSelector(cmd, o.selector)
	if err != nil {
		return err
	}
	var cleaners []*v1alpha1.Cleaner
	if len(o.files) > 0 { // before there is a cluster: a mistake in a file needs none
		if cleaners, err = o.read(ctx); err != nil {
			return err
		}
	}
	api, err := cluster.Connect(o.Session, &o.Connection)
	if err != nil {
		return err
	}
	ofCluster, err := api.Chosen(ctx, names, wanted)
	if err != nil {
		return err
	}
	cleaners = append(cleaners, ofCluster...)
	groups, err := byAccount(cmd, cleaners, given)
	if err != nil {
		return err
	}
	if err := o.addSharers(ctx, api, groups); err != nil {
		return err
	}
	documents, err := o.manifests(ctx, api, groups)
	if err != nil {
		return err
	}
	return o.print(documents)
}

// givenAccount is --service-account. Nil when it was not given.
func (o *options) givenAccount(cmd *cobra.Command) (*v1alpha1.ServiceAccountRef, error) {
	if o.account == "" {
		return nil, nil
	}
	namespace, name, _ := strings.Cut(o.account, "/")
	if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return nil, terminal.UsageError(
			cmd,
			fmt.Sprintf("--service-account %q names no account; write NAMESPACE/NAME, for example team-a/cleaner", o.account),
		)
	}
	return &v1alpha1.ServiceAccountRef{Namespace: namespace, Name: name}, nil
}

// manifests are the ServiceAccounts, Roles and bindings of all groups.
func (o *options) manifests(ctx context.Context, api *cluster.Client, groups []*group) (documents []string, err error) {
	source := &rights.Source{
		Reader: selector.NewReader(api.Raw, cluster.Instant(o.Now())),
		Survey: survey.Options{Now: o.Now()},
	}
	if slices.ContainsFunc(groups, (*group).hasFindings) {
		declared, err := o.declared(ctx, source.Reader)
		if err != nil {
			return nil, err
		}
		source.Survey.Declared = declared
	}
	var errs []error
	for _, g := range groups {
		var all []rights.Right
		for _, cleaner := range g.cleaners {
			needed, err := source.Of(ctx, cleaner)
			all, errs = append(all, needed...), append(errs, err)
		}
		written, err := rights.ForAccount(g.account, rights.Least(all))
		if err != nil {
			return nil, err
		}
		o.warnOfBindings(ctx, api, g.account, rights.Roles(rights.Least(all)), written)
		written[0] = g.heading() + written[0]
		documents = append(documents, written...)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, failure(err)
	}
	return documents, nil
}

// failure says why the rights are not all known.
func failure(err error) error {
	if unknown := (*selector.UnknownKindError)(nil); errors.As(err, &unknown) {
		return terminal.Fail(
			codes.KindUnknown,
			err,
			"no Role was printed, because it would lack something; correct the selectors, or install what they need",
		)
	}
	return cluster.RequestError("finding out which rights are needed", err)
}

// declared are the references that users declared, as far as the user may read them.
func (o *options) declared(ctx context.Context, reader *selector.Reader) ([]graph.Source, error) {
	namespace := cluster.OperatorNamespace(o.operatorNamespace)
	sources, err := survey.Declared(ctx, reader, nil, namespace)
	if apierrors.IsForbidden(err) {
		o.Note("%s", survey.UnreadNote(namespace))
		return nil, nil
	}
	if err != nil {
		return nil, cluster.RequestError("finding out which rights are needed", err)
	}
	return sources, nil
}
