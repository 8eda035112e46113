// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"

	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/progress"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// startProgress begins to count, and to write from time to time into the record how far the run has come. The run does
// not care whether that succeeds.
func (s Record) startProgress(
	ctx context.Context, record *v1alpha1.CleanerRun, stage metrics.Stage, total int,
) *progress.Meter {
	holder := journal.HolderOf(record)
	return progress.Start(ctx, s.Clock, progress.Hooks{
		Show: func(ctx context.Context, shown v1alpha1.RunProgress) bool {
			return !errors.Is(s.showProgress(ctx, holder, shown), journal.ErrTaken)
		},
		Begun: func(stage metrics.Stage) func() { return progress.Trace(ctx, string(stage)) },
		Took:  s.Metrics.StageEnded,
	}, stage, total)
}

func (s Record) showProgress(ctx context.Context, holder journal.Holder, shown v1alpha1.RunProgress) error {
	err := fault.Logged(ctx, func() error { return s.Journal.ShowProgress(ctx, holder, shown) })
	if err != nil {
		klog.FromContext(ctx).V(1).Info("Did not write the progress of the run", "cause", err.Error())
	}
	return err
}

// observerOf counts what is listed.
func observerOf(m *progress.Meter) selector.Observer {
	return selector.Observer{
		Lists: func(kind object.Kind) { m.List(kind.Kind) }, Judged: m.Did, Candidate: func(stage.Candidate) { m.Matched() },
	}
}
