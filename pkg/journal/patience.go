// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

const (
	// SaveTimeout bounds the writing of what nobody waits for any more.
	SaveTimeout = 10 * time.Second
	// SaveRetry is the time between two tries.
	SaveRetry = time.Second
	// maxRefused is how often a record is written that the API server refuses for another cause than that it is away.
	maxRefused = 10
)

// SavePatiently is Save, and tries again: for as long as somebody waits for the run, and for a while after that. What
// is not written is not reported, and is found out anew by the next operator.
func (j *Journal) SavePatiently(ctx context.Context, record *v1alpha1.CleanerRun, was v1alpha1.RunPhase) error {
	_, err := patiently(ctx, "the record of the run", func(ctx context.Context) error {
		return j.Save(ctx, record, was)
	})
	return err
}

// patiently writes something, and tries again: for as long as somebody waits for the run, and for a while after that.
// The error is that of the last try, and refused is true when the API server refused each of maxRefused tries.
func patiently(ctx context.Context, what string, write func(context.Context) error) (refused bool, err error) {
	log := klog.FromContext(ctx)
	patience, cancel := patienceOf(ctx)
	defer cancel()
	left := maxRefused
	gaveUp := wait.PollUntilContextCancel(patience, SaveRetry, true, func(ctx context.Context) (bool, error) {
		trying, cancel := context.WithTimeout(ctx, SaveTimeout)
		defer cancel()
		err = fault.Logged(ctx, func() error { return write(trying) })
		if err == nil || IsTaken(err) {
			return true, nil
		}
		log.Error(err, "Could not write "+what+" yet")
		if !apiserver.MayPass(err) {
			left--
		}
		return left == 0, nil
	})
	if gaveUp != nil {
		log.Error(gaveUp, "Gave up writing "+what)
	}
	return left == 0, err
}

// SaveEnded writes the record of a run that has ended, once more. It tries for a while.
func (j *Journal) SaveEnded(ctx context.Context, record *v1alpha1.CleanerRun) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel() // nobody waits for it
	return j.SavePatiently(ctx, record, record.Status.Phase)
}

// FlushPatiently saves the outcomes as SavePatiently saves a record, also when the run was stopped. An error says that
// the run must not end here: what became of its victims is to be found out anew. Outcomes that the API server refuses
// for good, as by a quota, do not keep a run from its end. That the run is another operator's is found when its record
// is written.
func (l *Ledger) FlushPatiently(ctx context.Context) error {
	refused, err := patiently(ctx, "the outcomes of the run", l.Flush)
	if refused || IsTaken(err) {
		return nil
	}
	return err
}

// patienceOf is a context that ends some time after another one.
func patienceOf(ctx context.Context) (context.Context, context.CancelFunc) {
	patience, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(SaveTimeout, cancel)
		context.AfterFunc(patience, func() { timer.Stop() })
	})
	return patience, func() { stop(); cancel() }
}

// IsTaken reports whether an error says that the run is another operator's, or that its record was deleted: nothing
// more is sent for it.
func IsTaken(err error) bool { return errors.Is(err, ErrTaken) || errors.Is(err, ErrGone) }
