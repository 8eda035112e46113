// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"

	"k8s.io/client-go/util/retry"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// errNotCopied is what stands of a victim until its copy is written: also when copying panicked for another one.
var errNotCopied = errors.New("the copies were not written")

// group are victims that are copied again by one write of the record, and what came of each.
type group struct {
	victims []Victim
	errs    []error
}

// CopyAgain keeps another copy of a victim that changed and was judged again, before it is touched. Those that come
// while others are being copied are copied together: each time, the record is written.
func (l *Ledger) CopyAgain(ctx context.Context, v Victim) error {
	switch {
	case l.copies == nil:
		return errors.New("a run that was taken over makes no further copies")
	case !l.copies.keeps(v.Object) && !l.copies.stores(v.Object):
		return nil
	}
	g, i := l.join(v)
	l.copying.Lock()
	defer l.copying.Unlock()
	if l.leave(g) {
		l.copyGroup(ctx, g)
	}
	return wrap("copying "+v.String()+" again", g.errs[i])
}

// join puts the victim into the group that waits. It is the i-th there.
func (l *Ledger) join(v Victim) (g *group, i int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == nil {
		l.waiting = &group{}
	}
	g = l.waiting
	g.victims, g.errs = append(g.victims, v), append(g.errs, errNotCopied)
	return g, len(g.victims) - 1
}

// leave lets nobody join the group any more. It reports whether it is still to be copied.
func (l *Ledger) leave(g *group) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	waits := l.waiting == g
	if waits {
		l.waiting = nil
	}
	return waits
}

func (l *Ledger) copyGroup(ctx context.Context, g *group) {
	kept := false
	added := make([]error, len(g.victims))
	for i, v := range g.victims {
		added[i] = l.copies.add(ctx, v)
		kept = kept || added[i] == nil && l.copies.keeps(v.Object)
	}
	err := l.copies.flush(ctx)
	if err == nil && kept {
		err = l.journal.extendCopies(ctx, l.run, l.copies)
	}
	for i := range g.errs {
		g.errs[i] = errors.Join(added[i], err)
	}
}

// extendCopies writes the new head of the copies into the record, as long as this operator is the one that carries the
// run out.
func (j *Journal) extendCopies(ctx context.Context, run *v1alpha1.CleanerRun, c *copies) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live, err := j.read(ctx, run.Name)
		if err != nil {
			return err
		}
		if live.UID != run.UID || live.Status.Phase != v1alpha1.RunExecuting ||
			live.Status.Recoveries != run.Status.Recoveries {
			return ErrTaken
		}
		kept := c.kept()
		live.Status.Copies = kept
		if err = j.changeStatus(ctx, live); err == nil {
			run.Status.Copies, run.ResourceVersion = kept, live.ResourceVersion
		}
		return err
	})
}
