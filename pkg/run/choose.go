// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// choice is what of a view is meant: what the aggregated script chooses, or all that matches.
type choice struct {
	view *view
	// matched are the objects that are meant, and cascade what must stay and would be deleted together with them.
	matched *stage.Verdicts
	cascade *guard.Cascade
	// cascadeRead is when the reading ended that the cascade was made from.
	cascadeRead time.Time
	// incomplete says why the view is not complete: then nothing is touched.
	incomplete error
	// scriptFault says why the aggregated script did not choose.
	scriptFault error
}

// choose lets the aggregated script choose. It never sees a part of the objects only: of a view that is not complete,
// nothing is chosen.
func (Judge) choose(ctx context.Context, t *task, v *view) choice {
	c := choice{view: v, matched: v.matched, incomplete: v.whyIncomplete(t.cleaner)}
	if t.engine.Aggregate() == nil || c.incomplete != nil {
		return c
	}
	t.progress.Enter(metrics.StageJudge, 0)
	selector.Call(t.observer.Chooses)
	if c.matched, c.scriptFault = t.engine.Pick(ctx, v.marks, v.mask); c.scriptFault != nil {
		c.matched, c.incomplete = &stage.Verdicts{}, c.scriptFault
	} else if t.acts() && c.matched.Len() > 0 { // what uses these objects may be where nothing was looked for
		c.incomplete = errors.Join(v.inNoNamespace()...)
	}
	return c
}

// readCascade looks for objects that a Delete must leave alone, and would delete together with what it has chosen.
// Those that could not be judged may be of any kind. It also looks when the run only shows what a Delete would do.
func (s Read) readCascade(ctx context.Context, t *task, c choice) (*guard.Cascade, error) {
	cascade := &guard.Cascade{Unjudged: c.view.unjudgedUIDs}
	if t.cleaner.EffectiveAction() != v1alpha1.ActionDelete {
		return cascade, nil
	}
	for _, verdict := range c.matched.All() {
		if verdict.Act {
			cascade.Add(verdict.Object, t.cleaner.Spec.DeleteOptions)
		}
	}
	for i := range c.view.notEvaluated {
		cascade.LookFor(c.view.notEvaluated[i].Kind.GroupVersionKind)
	}
	return cascade, survey.Cascade(ctx, t.who.Reader, t.engine.Memory, cascade, s.Protected)
}
