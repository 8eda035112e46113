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
	// maxRefused is how often a record is written that the API server refuses for another cause than that it is away, and
	// how often outcomes are before the record is written without them.
	maxRefused = 10
)

// SavePatiently is Save, and tries again: for as long as somebody waits for the run, and for a while after that. What
// is not written is not reported, and is found out anew by the next operator. The outcomes in the ledger, if there is
// one, are saved before: a restore goes by them. An API server that takes the record and not the outcomes, for a quota
// or a webhook, does not keep a run from its end.
func (j *Journal) SavePatiently(
	ctx context.Context, record *v1alpha1.CleanerRun, was v1alpha1.RunPhase, ledger *Ledger,
) error {
	log := klog.FromContext(ctx)
	failed := 0
	patience, cancel := patienceOf(ctx)
	defer cancel()
	var err error
	refused := 0
	gaveUp := wait.PollUntilContextCancel(patience, SaveRetry, true, func(ctx context.Context) (bool, error) {
		if err = ledger.flushOnce(ctx); err != nil && !IsTaken(err) {
			log.Error(err, "Could not save the outcomes of the run yet")
			if failed++; failed < maxRefused {
				return false, nil
			}
		}
		trying, cancel := context.WithTimeout(ctx, SaveTimeout)
		defer cancel()
		err = fault.Logged(ctx, func() error { return j.Save(trying, record, was) })
		if err == nil || IsTaken(err) {
			return true, nil
		}
		log.Error(err, "Could not write the record of the run yet")
		if !apiserver.MayPass(err) {
			refused++
		}
		return refused == maxRefused, nil
	})
	if gaveUp != nil {
		log.Error(gaveUp, "Gave up writing the record of the run")
	}
	return err
}

// SaveEnded writes the record of a run that has ended, once more. It tries for a while.
func (j *Journal) SaveEnded(ctx context.Context, record *v1alpha1.CleanerRun) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel() // nobody waits for it
	return j.SavePatiently(ctx, record, record.Status.Phase, nil)
}

func (l *Ledger) flushOnce(ctx context.Context) error {
	trying, cancel := context.WithTimeout(ctx, SaveTimeout)
	defer cancel()
	return fault.Logged(ctx, func() error { return l.Flush(trying) })
}

// FlushPatiently saves the outcomes, also when the run was stopped. It tries for a while.
func (l *Ledger) FlushPatiently(ctx context.Context) {
	log := klog.FromContext(ctx)
	err := wait.PollUntilContextTimeout(
		context.WithoutCancel(ctx),
		SaveRetry,
		SaveTimeout,
		true,
		func(ctx context.Context) (bool, error) {
			err := fault.Logged(ctx, func() error { return l.Flush(ctx) })
			if err != nil {
				log.Error(err, "Could not save the outcomes yet")
			}
			return err == nil || IsTaken(err), nil
		},
	)
	if err != nil {
		log.Error(err, "Gave up saving the outcomes")
	}
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
