// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// Parts reads what runs wrote down.
func (c *Client) Parts() (*journal.Parts, error) {
	secrets, err := c.of("Secret")
	if err != nil {
		return nil, terminal.Fail(codes.ClusterUnreachable, err, "")
	}
	return journal.NewParts(secrets), nil
}

// Counts reads what runs of the Cleaner have counted, in the operator's namespace.
func (c *Client) Counts(ctx context.Context, namespace string, cleaner *v1alpha1.Cleaner) (map[string]int64, error) {
	configMaps, err := c.of("ConfigMap")
	if err != nil {
		return nil, err
	}
	counts, _, err := journal.New(configMaps, namespace, Instant{}).Counts(ctx, cleaner) // no clock is asked
	return counts, err
}

// of is a client of one kind of the core: nothing needs to be looked up for it.
func (c *Client) of(kind string) (client.Client, error) {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	return client.New(c.Config, client.Options{Scheme: clientgoscheme.Scheme, Mapper: mapper})
}

// restoreRole is the name of the Role that lets people read copies, as config/default installs it.
const restoreRole = "kubecleaner-cleaner-restore-role"

// RolePrefix is said of the name of a role: the chart and kustomize may have put another one in front.
const RolePrefix = "(your installation may have another name than kubecleaner)"

// NeededRole says how to come by the right to read what the run wrote down.
func NeededRole(run *v1alpha1.CleanerRun) string {
	return fmt.Sprintf(
		"are Secrets in namespace %[1]s, and you need the right to get them: the Role %[2]s "+RolePrefix+"; an administrator can give it to you: "+
			"kubectl -n %[1]s create rolebinding restore --role=%[2]s --user=YOU",
		PartsNamespace(run),
		restoreRole,
	)
}

// PartsNamespace is the namespace of the Secrets in which the run wrote down more than its record has room for. It is
// empty when there are none.
func PartsNamespace(run *v1alpha1.CleanerRun) string {
	switch status := &run.Status; {
	case status.Intent != nil:
		return status.Intent.Namespace
	case status.OtherObjects != nil:
		return status.OtherObjects.Namespace
	}
	return ""
}

// Runs are all CleanerRuns, the latest first.
func (c *Client) Runs(ctx context.Context) ([]v1alpha1.CleanerRun, error) {
	runs := []v1alpha1.CleanerRun{} // a list without any is [] for programs
	err := List[v1alpha1.CleanerRunList](ctx, c, RunPath(""), func(run *v1alpha1.CleanerRun) { runs = append(runs, *run) })
	switch {
	case apierrors.IsNotFound(err):
		return nil, terminal.Fail(
			codes.CleanerNotFound,
			errors.New("the cluster does not know CleanerRuns: their CustomResourceDefinition is not installed"),
			"install KubeCleaner. If k8s-cleaner is installed, there are no runs: it keeps none",
		)
	case err != nil:
		return nil, RequestError("listing the CleanerRuns", err)
	}
	slices.SortStableFunc(
		runs,
		func(a, b v1alpha1.CleanerRun) int { return b.Spec.NominalTime.Compare(a.Spec.NominalTime.Time) },
	)
	return runs, nil
}

// CleanerRun reads a CleanerRun. The error about one that does not exist names the nearest one.
func (c *Client) CleanerRun(ctx context.Context, name string) (*v1alpha1.CleanerRun, error) {
	name = name[strings.LastIndex(name, "/")+1:] // as kubectl prints it
	var run v1alpha1.CleanerRun
	err := c.Read(ctx, RunPath(name), &run)
	switch {
	case err == nil && run.Name == name && name != "":
		return &run, nil
	case err != nil && !apierrors.IsNotFound(err):
		return nil, RequestError("reading the CleanerRun "+name, err)
	}
	runs, err := c.Runs(ctx)
	if err != nil {
		return nil, err
	}
	hint := "list them with: kubectl cleaner runs"
	names := make([]string, 0, len(runs))
	for i := range runs {
		names = append(names, runs[i].Name)
		if runs[i].Spec.Cleaner == name {
			hint = "that is a Cleaner; its runs: kubectl cleaner runs " + name
		}
	}
	if near := suggest.Nearest(name, names); near != "" {
		hint = "did you mean " + terminal.Quoted(near) + "?"
	}
	return nil, terminal.Fail(codes.RunNotFound, fmt.Errorf("there is no run %q in the cluster", name), hint)
}

// WriteRun writes a record for programs, as json or yaml.
func WriteRun(w io.Writer, output string, run *v1alpha1.CleanerRun) error {
	run.APIVersion, run.Kind, run.ManagedFields = v1alpha1.GroupVersion.String(), "CleanerRun", nil
	if output == "yaml" {
		return terminal.WriteYAML(w, run)
	}
	return terminal.WriteJSON(w, run)
}

// CompleteRecords completes the names of Cleaners and of all runs.
func CompleteRecords(s *terminal.Session, c *Connection) cobra.CompletionFunc {
	cleaners := CompleteCleaners(s, c)
	return func(cmd *cobra.Command, given []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		names, directive := cleaners(cmd, given, begun)
		api, err := Connect(s, c)
		if err != nil {
			return names, directive
		}
		runs, _ := api.Runs(cmd.Context()) // none, when it fails
		for i := range runs {
			names = append(names, cobra.CompletionWithDesc(runs[i].Name, string(runs[i].Status.Phase)))
		}
		return names, directive
	}
}

// CompleteRuns completes the names of the runs that keep copies.
func CompleteRuns(s *terminal.Session, c *Connection) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		api, err := Connect(s, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		runs, _ := api.Runs(cmd.Context()) // none, when it fails
		var names []cobra.Completion
		for i := range runs {
			if kept := runs[i].Status.Copies; kept != nil && kept.Dropped == "" {
				names = append(
					names,
					cobra.CompletionWithDesc(
						runs[i].Name,
						fmt.Sprintf("%s, copies of %s", runs[i].Spec.Action, terminal.Grouped(kept.Objects, "object")),
					),
				)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// Fill adds what the run wrote down elsewhere: the objects that the record has no room for, and what became by now of
// those that it was going to touch. With an error the record is as it was.
func (c *Client) Fill(ctx context.Context, run *v1alpha1.CleanerRun) error {
	status := &run.Status
	if PartsNamespace(run) == "" || status.ObjectsOmitted == 0 {
		return nil
	}
	var all []v1alpha1.ObjectOutcome
	if err := c.EachObject(ctx, run, func(o v1alpha1.ObjectOutcome) { all = append(all, o) }); err != nil {
		return err
	}
	status.ObjectsOmitted = max(0, status.ObjectsOmitted-int64(len(all)-len(status.Objects)))
	status.Objects = all
	return nil
}

// EachObject hands out the objects of a run one after the other: those that its record lists, and those that the run
// wrote down elsewhere. After an error, those that were handed out are not all.
func (c *Client) EachObject(ctx context.Context, run *v1alpha1.CleanerRun, each func(v1alpha1.ObjectOutcome)) error {
	status := &run.Status
	if PartsNamespace(run) == "" || status.ObjectsOmitted == 0 {
		for i := range status.Objects {
			each(status.Objects[i])
		}
		return nil
	}
	parts, err := c.Parts()
	if err != nil {
		return err
	}
	if err = journal.EachObject(ctx, parts, run, each); err == nil {
		return nil
	}
	what := terminal.Grouped(status.ObjectsOmitted, "object") + " of run " + run.Name + " cannot be listed"
	f := &terminal.Failure{Exit: codes.ExitPartial, Code: codes.RunUnreadable, Err: fmt.Errorf("%s: %w", what, err)}
	switch {
	case apierrors.IsForbidden(err):
		f.Hint = "they " + NeededRole(run)
	case errors.Is(err, journal.ErrNoPart):
		f.Hint = "they are kept no longer than the run's copies; status.tallies counts them"
	}
	return f
}
