// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package stop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// SuspendCommand stops the schedules of single Cleaners.
func SuspendCommand(s *terminal.Session) *cobra.Command {
	o := &options{Session: s}
	cmd := &cobra.Command{
		Use:   "suspend NAME ... | -l SELECTOR",
		Short: "Stop the schedule of single Cleaners",
		Long: "Sets spec.suspend of the Cleaners. A suspended Cleaner does not run by its schedule, and its active run stops before its next\n" +
			"object. kubectl cleaner run NAME still runs it once. kubectl cleaner resume NAME undoes this.\n\n" +
			"To stop all Cleaners at once, in an emergency, use kubectl cleaner stop. To end one run only, use kubectl cleaner cancel RUN.",
		Example: "  kubectl cleaner suspend unused-configmaps\n  kubectl cleaner suspend -l team=a",
		RunE: func(cmd *cobra.Command, names []string) error {
			if len(names) == 0 && o.selector == "" {
				return terminal.UsageError(cmd,
					"needs the name of a Cleaner, or labels of Cleaners (-l SELECTOR); to stop all acting: "+terminal.Program+" stop")
			}
			return o.setSuspended(cmd, names, true)
		},
	}
	cluster.BindSelector(cmd.Flags(), &o.selector)
	o.changed.BindOutput(cmd.Flags(), "the Cleaners")
	o.Bind(cmd.Flags())
	cmd.ValidArgsFunction = cluster.CompleteCleaners(s, &o.Connection)
	return cmd
}

// setSuspended suspends the Cleaners, or resumes them. One that fails does not keep the others from it.
func (o *options) setSuspended(cmd *cobra.Command, names []string, suspend bool) error {
	wanted, err := cluster.ParseSelector(cmd, o.selector)
	switch {
	case err != nil:
		return err
	case len(names) > 0 && !wanted.Empty():
		return terminal.UsageError(cmd, "takes names or labels (-l SELECTOR), not both")
	}
	ctx := cmd.Context()
	api, err := cluster.Connect(o.Session, &o.Connection)
	if err != nil {
		return err
	}
	if err := api.Intact(
		ctx,
		"nothing was changed: "+cluster.StaysLost,
	); err != nil {
		return err
	}
	if !wanted.Empty() {
		selected, err := api.Selected(ctx, wanted)
		if err != nil {
			return err
		}
		for _, cleaner := range selected {
			names = append(names, cleaner.Name)
		}
	}
	var failed []error
	for _, name := range names {
		failed = append(failed, o.setOne(ctx, api, name, suspend))
	}
	return errors.Join(failed...)
}

// setOne suspends one Cleaner, or resumes it.
func (o *options) setOne(ctx context.Context, api *cluster.Client, name string, suspend bool) error {
	cleaner, err := api.Cleaner(ctx, name)
	if err != nil {
		return err
	}
	if cleaner.LostFields(cleaner.Status.ObservedSpec) {
		return terminal.Fail(codes.RunNotReady,
			fmt.Errorf("cleaner %q lost fields, so it does not run; spec.suspend was not changed, because the operator takes any edit as a sign that the spec is complete again", name),
			"apply its manifest again; how it is now: kubectl get cleaner "+name+" -o yaml")
	}
	already := ""
	if cleaner.IsSuspended() == suspend {
		already = " already"
		err = o.changed.PrintRead(ctx, o.Session, api, cluster.CleanerPath(cleaner.Name))
	} else {
		cleaner, err = o.patch(ctx, api, cleaner.Name, suspend)
	}
	if err != nil {
		return err
	}
	if suspend {
		o.reportSuspended(cleaner, already)
	} else {
		o.reportResumed(o.examined(ctx, api, cleaner), already)
	}
	if by := cluster.ManagedBy(cleaner); by != "" && already == "" {
		o.Note(
			"%s manages cleaner %q and may take this back: change spec.suspend where its manifest is, too",
			terminal.OneLine(by),
			cleaner.Name,
		)
	}
	return nil
}

// patch sets spec.suspend, prints the Cleaner for -o, and returns it as it is then.
func (o *options) patch(
	ctx context.Context, api *cluster.Client, name string, suspend bool,
) (*v1alpha1.Cleaner, error) {
	body, err := cluster.Send(
		ctx,
		api.Raw.Patch(types.MergePatchType).
			AbsPath(cluster.CleanerPath(name)).
			Param("fieldManager", cluster.FieldManager).
			Body(fmt.Appendf(nil, `{"spec":{"suspend":%t}}`, suspend)),
	)
	switch {
	case apierrors.IsNotFound(err):
		return nil, api.NoCleaner(ctx, name)
	case err != nil:
		return nil, cluster.RequestError(fmt.Sprintf("changing spec.suspend of cleaner %q", name), err)
	}
	changed := &v1alpha1.Cleaner{}
	if err := json.Unmarshal(body, changed); err != nil {
		return nil, cluster.RequestError(fmt.Sprintf("changing spec.suspend of cleaner %q", name), err)
	}
	return changed, o.changed.Print(o.Session, body)
}

// examinePatience is how long the operator may take to say whether resumed Cleaners are ready. It needs about a second.
const examinePatience = 5 * time.Second

// examined is the Cleaner as soon as the operator has looked at what it is now. All Cleaners of a command share the
// patience: without an operator, a hundred of them are not waited for one by one.
func (o *options) examined(ctx context.Context, api *cluster.Client, cleaner *v1alpha1.Cleaner) *v1alpha1.Cleaner {
	for ; !cluster.Examined(cleaner) && o.waited < examinePatience; o.waited += cluster.Rewatch {
		select {
		case <-o.Clock.After(cluster.Rewatch):
		case <-ctx.Done():
			return cleaner
		}
		if now, err := api.Cleaner(ctx, cleaner.Name); err == nil {
			cleaner = now
		}
	}
	return cleaner
}

func (o *options) reportSuspended(cleaner *v1alpha1.Cleaner, already string) {
	fmt.Fprintf(o.ErrOut, "cleaner %q is suspended%s: it does not run by its schedule\n", cleaner.Name, already)
	switch active := cleaner.Status.ActiveRun; {
	case active == nil:
	case active.WhileSuspended: // somebody asked for it although the Cleaner was suspended
		o.Note("the run %s goes on; to end it: %s cancel %s", active.Name, terminal.Program, active.Name)
	default:
		o.Note("the run %s stops before its next object", active.Name)
	}
}

func (o *options) reportResumed(cleaner *v1alpha1.Cleaner, already string) {
	anyMore := " any more"
	if already != "" {
		anyMore = ""
	}
	switch unready, wayOut := cluster.Unready(cleaner); {
	case unready != "":
		fmt.Fprintf(o.ErrOut, "cleaner %q is not suspended%s, but it is not ready: %s\n", cleaner.Name, anyMore,
			terminal.OneLine(strings.TrimSuffix(unready, ".")))
		o.Note("%s", wayOut)
	case already != "" && cluster.Examined(cleaner):
		fmt.Fprintf(o.ErrOut, "cleaner %q is not suspended\n", cleaner.Name)
	case !cluster.Examined(cleaner):
		fmt.Fprintf(o.ErrOut, "cleaner %q is not suspended%s\n", cleaner.Name, anyMore)
		o.Note("the operator has not looked at it yet; whether it is ready: kubectl get cleaner %s", cleaner.Name)
	default:
		fmt.Fprintf(
			o.ErrOut,
			"cleaner %q is not suspended any more: it runs when it is due; runs that were due in the meantime do not take place\n",
			cleaner.Name,
		)
	}
	if why := cluster.WhyOff(cleaner); why != "" {
		o.Note(
			"Cleaners only report now, because %s; to let Cleaners act again: %s resume, without a name",
			terminal.OneLine(why),
			terminal.Program,
		)
	}
}
