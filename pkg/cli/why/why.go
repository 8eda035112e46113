// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package why is kubectl cleaner why: who uses an object, which Cleaners select it, and which run deleted it.
package why

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// options are the flags of why.
type options struct {
	search.Flags
	namespace string
	output    string
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Flags: search.Flags{Session: s}}
	cmd := &cobra.Command{
		Use:   "why KIND/NAMESPACE/NAME | KIND/NAME | KIND NAME",
		Short: "Show who uses an object, or what became of it",
		Long: "Says whether an object is used, by which objects, and in which fields. It also lists the kinds that it searched, what it\n" +
			"could not read, and the Cleaners that may select the object. If the object is gone, it says which run of which Cleaner\n" +
			"deleted it, when and why, and how to restore it.\n\n" +
			"KIND is a name, a plural or a short name. Add the group after a dot where it is needed. Without NAMESPACE and -n, the\n" +
			"namespace is that of the context. Everything is read with your own rights.\n\n" +
			"It exits with 0 if there is an answer, with 4 if there is no answer because something could not be read, with 2 after wrong\n" +
			"usage, and with 1 after any other error, also if the object does not exist and no recorded run deleted it.",
		Example: "  kubectl cleaner why ConfigMap/shop/settings\n" +
			"  kubectl cleaner why configmap settings -n shop\n" +
			"  kubectl cleaner why pvc/data-0 -n shop -o json\n" +
			"  kubectl cleaner why StorageClass/fast",
		Args: func(cmd *cobra.Command, args []string) error {
			isPair := len(args) == 2 && !strings.Contains(args[0]+args[1], "/")
			if len(args) != 1 && !isPair {
				return terminal.UsageError(
					cmd,
					fmt.Sprintf("needs one object, KIND/NAMESPACE/NAME, KIND/NAME or KIND NAME, and was given %d", len(args)),
				)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, strings.Join(args, "/")) },
	}
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "", "the namespace of KIND/NAME and KIND NAME (default: that of the context)")
	cmd.Flags().
		VarP(terminal.NewChoice(&o.output, "text", "json", "yaml"), "output", "o", "what to print: text, json or yaml")
	o.BindAll(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("namespace", o.CompleteNamespaces) // it fails only for a flag that does not exist
	cmd.ValidArgsFunction = o.completeArgs
	return cmd
}

// completeArgs completes KIND/NAMESPACE/NAME, and the name after a kind.
func (o *options) completeArgs(
	cmd *cobra.Command,
	given []string,
	begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch {
	case len(given) == 0:
		return o.CompleteObjects(cmd, given, begun)
	case len(given) == 1 && !strings.Contains(given[0], "/"):
		return o.CompleteNames(cmd.Context(), given[0], o.namespace)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// job is one call of why.
type job struct {
	*options
	*search.Reading
	flags *pflag.FlagSet
	name  graph.Name
	of    object.Kind
	// found is the object. Nil of one that does not exist.
	found *object.Object
	// assumed is true when the namespace is the one of the kubeconfig.
	assumed bool
	// unsure is why it is not known whether it exists.
	unsure error
	// unrecorded is true when not all records of runs could be read, so that one may have deleted it.
	unrecorded bool
	// counters are the Cleaners whose counts say since when the object is found so.
	counters map[v1alpha1.FindingType]string
	// marked is what its time marks say. Nil when it has none whose time is over.
	marked *finding.Finding
}

func (o *options) run(cmd *cobra.Command, text string) error {
	wanted, ok := cluster.ParseRef(text)
	switch {
	case !ok:
		return terminal.UsageError(
			cmd,
			fmt.Sprintf("%q names no object; write KIND/NAMESPACE/NAME, or KIND/NAME for one without a namespace", text),
		)
	case wanted.Namespace != "" && o.namespace != "" && wanted.Namespace != o.namespace:
		return terminal.UsageError(
			cmd,
			fmt.Sprintf("%q is in another namespace than -n %s says; leave one of them out", text, o.namespace),
		)
	}
	if err := o.Check(cmd); err != nil {
		return err
	}
	ctx := cmd.Context()
	job := &job{options: o, flags: cmd.Flags(), counters: map[v1alpha1.FindingType]string{}}
	if err := job.read(ctx, cmd, wanted); err != nil {
		if ctx.Err() != nil {
			err = job.printPartial()
		}
		return terminal.OrInterrupted(ctx, err)
	}
	result, err := job.answer(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = job.printPartial()
		}
		return terminal.OrInterrupted(ctx, err)
	}
	if err := job.print(result); err != nil {
		return err
	}
	return job.conclude(ctx, result)
}

// read finds the object, and reads all that could name it.
func (j *job) read(ctx context.Context, cmd *cobra.Command, wanted cluster.Ref) (err error) {
	if j.Reading, err = j.Open(ctx); err != nil {
		return err
	}
	if j.of, err = j.Kind(wanted.Kind); err != nil {
		return err
	}
	if j.of.Namespaced && wanted.Namespace == "" {
		wanted.Namespace = j.namespace
		if wanted.Namespace == "" && j.Dump == nil {
			wanted.Namespace, j.assumed = j.Connection.Namespace(), true
		}
	}
	if j.of.Namespaced != (wanted.Namespace != "") {
		shape := map[bool]string{
			true:  "has a namespace; write %s/NAMESPACE/%s, or give -n",
			false: "has no namespace; write %s/%s",
		}[j.of.Namespaced]
		return terminal.UsageError(
			cmd,
			fmt.Sprintf("%q: %s "+shape, wanted.String(), terminal.WithArticle(j.of.Kind), wanted.Kind, wanted.Name),
		)
	}
	j.name = graph.Name{GroupKind: j.of.GroupKind(), Namespace: wanted.Namespace, Name: wanted.Name}
	if err := j.find(ctx); err != nil {
		return err
	}
	j.Namespace = wanted.Namespace
	return j.Look(ctx, survey.Options{Wanted: j.wanted(), Watched: []graph.Name{j.name}, EachDialect: true})
}

// find reads the object, if it exists.
func (j *job) find(ctx context.Context) error {
	switch found, err := j.Reader.Object(ctx, j.of, j.name.Namespace, j.name.Name); {
	case err == nil:
		j.found = &found
	case j.isElsewhere():
		j.unsure = survey.ErrOnlyOf
	case apierrors.IsForbidden(err) || j.Dump != nil && !apierrors.IsNotFound(err):
		j.unsure = err
	case !apierrors.IsNotFound(err):
		return cluster.RequestError("reading "+terminal.OneLine(j.name.String()), err)
	}
	return nil
}

// isElsewhere reports whether the manifests are of one namespace, and this is another. What has no namespace they hold.
func (j *job) isElsewhere() bool {
	if j.Dump == nil || j.name.Namespace == "" {
		return false
	}
	only := j.Dump.OnlyNamespace()
	return only != "" && only != j.name.Namespace
}

// wanted is all that could be found where the object is: what uses it may be unused itself.
func (j *job) wanted() (wanted []finding.Want) {
	for _, kind := range j.Catalog.Kinds {
		mayBeFound := kind == j.of || slices.Contains(finding.Kinds(), kind.GroupKind())
		if !mayBeFound || j.of.Namespaced && !kind.Namespaced {
			continue
		}
		for _, t := range finding.TypesOf(kind.GroupKind()) {
			wanted = append(wanted, finding.Want{Kind: kind.GroupKind(), Type: t})
		}
	}
	return wanted
}

// noObject says that there is no such object, and which one may be meant.
func (j *job) noObject(ctx context.Context) error {
	if j.Namespace != "" {
		if err := j.In(ctx, j.Namespace); err != nil {
			return err
		}
	}
	hint := ""
	if near := suggest.Nearest(j.name.Name, j.Names(ctx, j.of, j.Namespace)); near != "" {
		hint = "did you mean " + terminal.Quoted(
			cluster.Ref{Kind: j.of.Kind, Namespace: j.Namespace, Name: near}.String(),
		) + "?"
	} else if j.assumed {
		hint = fmt.Sprintf("this looked in namespace %s; to look in another one: -n NAMESPACE, or KIND/NAMESPACE/NAME", j.Namespace)
	}
	failure := &terminal.Failure{Exit: codes.ExitError, Code: codes.WhyNotFound, Hint: hint}
	where := "the cluster, and no run that is on record deleted it"
	switch {
	case j.Dump != nil:
		where = "the manifests"
	case j.unrecorded:
		where = "the cluster, and not all records of runs could be read"
		failure.Exit, failure.Code = codes.ExitPartial, codes.RunUnreadable
	}
	failure.Err = fmt.Errorf("there is no %s in %s", terminal.OneLine(j.name.String()), where)
	return failure
}
