// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// BindSelector adds the flag that chooses Cleaners of the cluster by their labels.
func BindSelector(flags *pflag.FlagSet, into *string) {
	flags.StringVarP(into, "selector", "l", "", "the Cleaners of the cluster with these labels, for example team=a")
}

// ParseSelector reads the value of --selector. Without the flag it selects everything.
func ParseSelector(cmd *cobra.Command, text string) (labels.Selector, error) {
	wanted, err := labels.Parse(text)
	switch {
	case err != nil:
		return nil, terminal.UsageError(cmd, fmt.Sprintf("--selector %q cannot be read: %s", text,
			terminal.OneLine(err.Error())))
	case wanted.Empty() && cmd.Flags().Changed("selector"):
		return nil, terminal.UsageError(cmd, "--selector is empty; give labels, or leave it out")
	}
	return wanted, nil
}

// Selected are the Cleaners that have the labels. It is an error if there are none.
func (c *Client) Selected(ctx context.Context, wanted labels.Selector) (cleaners []*v1alpha1.Cleaner, err error) {
	err = List[v1alpha1.CleanerList](ctx, c, CleanerPath(""), func(cleaner *v1alpha1.Cleaner) {
		if wanted.Matches(labels.Set(cleaner.Labels)) {
			cleaners = append(cleaners, cleaner)
		}
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil, c.NoCleaner(ctx, "")
	case err != nil:
		return nil, RequestError("listing the Cleaners", err)
	case len(cleaners) == 0:
		return nil, NoneSelected(wanted)
	}
	return cleaners, nil
}

// NoneSelected says that no Cleaner has the labels.
func NoneSelected(wanted labels.Selector) error {
	return terminal.Fail(
		codes.CleanerNotFound,
		fmt.Errorf("the cluster has no Cleaner with the labels %s", wanted),
		"list them with: kubectl get cleaners --show-labels",
	)
}

// Chosen are the Cleaners with the names or, without names, those that have the labels.
func (c *Client) Chosen(
	ctx context.Context,
	names []string,
	wanted labels.Selector,
) (cleaners []*v1alpha1.Cleaner, err error) {
	if len(names) == 0 && !wanted.Empty() {
		return c.Selected(ctx, wanted)
	}
	for _, name := range names {
		cleaner, err := c.Cleaner(ctx, name)
		if err != nil {
			return nil, err
		}
		cleaners = append(cleaners, cleaner)
	}
	return cleaners, nil
}
