// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scan is kubectl cleaner scan: the findings of a cluster or of manifests, in the forms of -o.
package scan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/search"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// options are the flags of scan.
type options struct {
	search.Flags

	namespace     string
	labels        string
	kinds, types  []string
	minConfidence string
	exclude       []string
	output        string
	failOn, limit int64
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command {
	o := &options{Flags: search.Flags{Session: s}}
	cmd := &cobra.Command{
		Use:   "scan",
		Short: "Show what is unused, idle, finished, failed or stuck in the cluster",
		Long: "Reads the cluster once, with your own rights, and shows which objects nothing uses, which are idle or finished, and which\n" +
			"are broken. It installs, saves and changes nothing. An object is unused if the scan read everything that could name it, and\n" +
			"nothing does. If you may not read all of that, the scan lists the object separately, as unknown. -o role prints the Role that you\n" +
			"need.\n\n" +
			"With --from, the scan reads manifests instead of a cluster. If a kind is in the manifests, the scan assumes that they hold all\n" +
			"objects of this kind. It knows nothing about other kinds. If the manifests are of one namespace only, it knows nothing about\n" +
			"other namespaces either. --complete says that the cluster has no other objects.\n\n" +
			"It also takes kubectl's flags for connecting to a cluster, such as --cluster, --user, --server and --token.\n\n" +
			"It exits with 0 if nothing is unknown, with 3 if it found something and you gave --fail-on-findings, with 4 if something\n" +
			"could not be read or is unknown, whatever it found, with 1 after an error, and with 2 after wrong usage. Ctrl-C shows what is\n" +
			"known so far, and exits with 130.",
		Example: "  kubectl cleaner scan\n" +
			"  kubectl cleaner scan -n shop --type Unused\n" +
			"  kubectl cleaner scan --kind cm,secret --exclude 'kube-*' --exclude 'ConfigMap/*-lock'\n" +
			"  kubectl cleaner scan -o cleaner > cleaner.yaml\n" +
			"  kubectl get $(kubectl api-resources --verbs=list -o name | paste -sd, -) -A -o yaml > dump.yaml && kubectl cleaner scan --from dump.yaml --complete",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.namespace, "namespace", "n", "", "look at this namespace only (default: the whole cluster)")
	cluster.BindAllNamespaces(flags, "look at the whole cluster, which is the default")
	flags.StringVarP(&o.labels, "selector", "l", "", "show only objects with these labels, for example app=shop,tier!=db")
	flags.StringSliceVar(&o.kinds, "kind", nil,
		"look only for findings of these kinds: names, plurals or short names, such as ConfigMap, pvc or certificates.cert-manager.io")
	flags.StringSliceVar(&o.types, "type", nil, "look only for findings of these types, such as Unused or Stuck")
	flags.Var(terminal.NewChoice(&o.minConfidence, "Likely", "Certain", "Weak"), "min-confidence",
		"how sure a finding must be to be shown: Certain, Likely or Weak")
	flags.StringSliceVar(&o.exclude, "exclude", nil,
		"do not show these objects: NAMESPACE (all in it), KIND/NAME (in any namespace) or KIND/NAMESPACE/NAME; * matches any text")
	terminal.NotEmpty(flags, "kind", "type", "exclude")
	flags.VarP(terminal.NewChoice(&o.output, "table", "wide", "json", "yaml", "name", "csv", "markdown", "cleaner",
		"role"), "output", "o", outputs)
	flags.Int64Var(&o.limit, "limit", 50, "with -o table and -o wide: how many rows to show for each combination of type, kind and namespace; 0 shows all, with one row per object")
	flags.Int64Var(&o.failOn, "fail-on-findings", 0, "exit with 3 if there are at least N findings; N is 1 if you give no number")
	flags.Lookup("fail-on-findings").NoOptDefVal = "1"
	o.BindAll(flags)
	for name, complete := range map[string]cobra.CompletionFunc{
		"namespace": o.CompleteNamespaces,
		"kind":      o.CompleteKinds, "type": completeTypes,
	} {
		_ = cmd.RegisterFlagCompletionFunc(name, complete) // it fails only for a flag that does not exist
	}
	return cmd
}

// outputs explains -o.
const outputs = "what to print: table, wide, json, yaml, name (KIND/NAMESPACE/NAME), csv, markdown, " +
	"cleaner (Cleaners that look for the same on a schedule), or role (the Role for what you may not list)"

// noArgs takes no arguments. A number after --fail-on-findings looks like one.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && cmd.Flags().Changed("fail-on-findings") {
		if _, err := strconv.ParseInt(args[0], 10, 64); err == nil {
			return terminal.UsageError(cmd, fmt.Sprintf("takes no arguments, and was given %s; write --fail-on-findings=%s", terminal.Quoted(args[0]), args[0]))
		}
	}
	if len(args) > 0 {
		return terminal.UsageError(cmd, fmt.Sprintf("takes no arguments, and was given %[1]s; for a namespace, write -n %[1]s, for a kind, --kind %[1]s", args[0]))
	}
	return nil
}

// job is one call of scan.
type job struct {
	*options
	*search.Reading
	flags    *pflag.FlagSet
	selector labels.Selector
	types    []v1alpha1.FindingType
	exclude  []pattern
	// protected is what no Cleaner may touch.
	protected *protection
	// shared is whether a row stands for several objects.
	shared bool
}

func (o *options) run(cmd *cobra.Command) error {
	job := &job{options: o, flags: cmd.Flags()}
	if err := job.check(cmd); err != nil {
		return err
	}
	ctx := cmd.Context()
	var err error
	if job.Reading, err = o.Open(ctx); err != nil {
		return terminal.OrInterrupted(ctx, err)
	}
	if err := job.In(ctx, o.namespace); err != nil {
		return terminal.OrInterrupted(ctx, err)
	}
	job.protected = &protection{o.Protection(), map[types.UID]string{}}
	wanted, wrong := job.wanted()
	if wrong = append(wrong, job.resolveExcluded()...); len(wrong) > 0 {
		return terminal.UsageError(cmd, strings.Join(wrong, "\n"))
	}
	err = job.Look(ctx, survey.Options{
		Wanted: wanted, WithUsers: slices.Contains(job.types, v1alpha1.FindingCascading), Include: job.includes,
	})
	if err != nil && (ctx.Err() == nil || job.Finder == nil) {
		return terminal.OrInterrupted(ctx, err)
	}
	result := job.result(ctx, ctx.Err() != nil)
	if o.output == "role" {
		err = job.printRole(ctx, result)
	} else {
		err = job.print(result)
	}
	if err != nil {
		return err
	}
	return job.conclude(ctx, result)
}

// check reads the flags that need no cluster.
func (j *job) check(cmd *cobra.Command) (err error) {
	switch {
	case cmd.Flags().Changed("fail-on-findings") && j.failOn < 1:
		return terminal.UsageError(cmd, "--fail-on-findings must be at least 1")
	case j.limit < 0:
		return terminal.UsageError(cmd, "--limit must not be negative")
	case j.writesEverywhere(cmd):
		return terminal.UsageError(cmd, "--namespace is empty, and -o "+j.output+
			" would write one for all namespaces; give a value, or leave the flag out")
	case j.output == "role" && len(j.From) > 0:
		return terminal.UsageError(cmd, "-o role prints the Role for what you may not list in a cluster; leave --from out")
	}
	if err := j.Check(cmd); err != nil {
		return err
	}
	if j.selector, err = cluster.ParseSelector(cmd, j.labels); err != nil {
		return err
	}
	if j.exclude, err = parsePatterns(j.options.exclude); err != nil {
		return terminal.UsageError(cmd, err.Error())
	}
	var wrong []string
	if j.types, wrong = typesOf(j.options.types); len(wrong) > 0 {
		return terminal.UsageError(cmd, strings.Join(wrong, "\n"))
	}
	return nil
}

// writesEverywhere reports whether an empty -n would widen what is written. That is no name, but perhaps a variable of
// the shell that is not set.
func (j *job) writesEverywhere(cmd *cobra.Command) bool {
	isWritten := j.output == "cleaner" || j.output == "role"
	return isWritten && cmd.Flags().Changed("namespace") && j.namespace == ""
}

// includes reports whether an object has the labels of --selector. It takes note of what is protected: later, only what
// was found of the object is left.
func (j *job) includes(o object.Object) bool {
	j.protected.note(o)
	if j.selector.Empty() {
		return true
	}
	set := labels.Set{}
	for name, value := range object.JSON(o.Raw).At("metadata", "labels").Fields() {
		set[name.String()] = value.Text()
	}
	return j.selector.Matches(set)
}
