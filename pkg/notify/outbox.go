// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/fault"
)

const (
	// senders is how many notifications are sent at once.
	senders = 16
	// sendTimeout bounds one delivery, with the sender's own few tries; eventsTimeout, the Events on all objects of a run.
	sendTimeout   = time.Minute
	eventsTimeout = 10 * time.Minute
)

// Outbox sends the notifications of runs after the runs have ended, so that a service cannot delay a run. The records
// list what is to be sent, so that another operator can continue. A notification is sent again when it is not known
// whether the service took it: mails and webhooks have an ID, by which a receiver recognizes a second copy.
type Outbox struct {
	// Run reads a record, and Cleaner a Cleaner, from the API server, not from a cache: nil when there is none.
	Run     func(ctx context.Context, name string) (*v1alpha1.CleanerRun, error)
	Cleaner func(ctx context.Context, name string, uid types.UID) (*v1alpha1.Cleaner, error)
	// Client writes how it went into the records.
	Client client.StatusClient
	Clock  clock.WithTicker
	// Deliver sends one notification of a run. The message has no outcomes when they are to be taken from the run's
	// record.
	Deliver func(ctx context.Context, message Message, notification v1alpha1.Notification) error
	// Changed is called when the delivery of a run's notifications has changed, with the Cleaner's name.
	Changed func(cleaner string)
	// Tried is called when an attempt is written down, with the state that it left the notification in. Nil in tests that
	// do not look at that.
	Tried func(cleaner string, channel v1alpha1.NotificationType, state v1alpha1.NotificationState)

	once  sync.Once
	queue workqueue.TypedDelayingInterface[letter]
	// unsaved are how attempts went that could not be written down yet, by letter: those are not sent again.
	unsaved sync.Map
	backlog backlog
	queues  queues
}

// attempt is how it went to send a letter. Without a fault it was delivered.
type attempt struct{ fault error }

// letter is one notification of one run.
type letter struct{ run, notification string }

// NeedLeaderElection says that only the leader sends.
func (o *Outbox) NeedLeaderElection() bool { return true }

func (o *Outbox) letters() workqueue.TypedDelayingInterface[letter] {
	o.once.Do(func() {
		o.queue = workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[letter]{Clock: o.Clock})
	})
	return o.queue
}

// Add sends the run's pending notifications when their time comes. One that was added before is not sent twice.
func (o *Outbox) Add(run *v1alpha1.CleanerRun) {
	for i := range run.Status.Notifications {
		if entry := &run.Status.Notifications[i]; entry.State == v1alpha1.NotificationPending {
			o.letters().AddAfter(letter{run.Name, entry.Name}, o.until(entry))
		}
	}
}

// until is for how long an entry has to wait.
func (o *Outbox) until(entry *v1alpha1.NotificationStatus) time.Duration {
	if entry.NextAttemptTime == nil {
		return 0
	}
	return max(0, entry.NextAttemptTime.Sub(o.Clock.Now()))
}

// Start sends until the context ends.
func (o *Outbox) Start(ctx context.Context) error {
	queue := o.letters()
	var workers sync.WaitGroup
	for range senders {
		workers.Go(func() {
			for {
				next, closed := queue.Get()
				if closed {
					return
				}
				if err := o.guarded(ctx, next); err != nil && ctx.Err() == nil {
					klog.FromContext(ctx).
						Error(err, "Could not look after a notification", "run", next.run, "notification", next.notification)
					queue.AddAfter(next, firstPause)
				}
				queue.Done(next)
			}
		})
	}
	<-ctx.Done()
	queue.ShutDown()
	workers.Wait()
	return nil
}

// guarded turns a panic into an error: it would end the process.
func (o *Outbox) guarded(ctx context.Context, next letter) error {
	err := fault.Logged(ctx, func() error { return o.send(ctx, next) })
	if after, ok := o.queues.pass(next); ok {
		o.letters().Add(after)
	}
	return err
}

// send sends one notification, if it is still to be sent and its time has come. An error is one of the cluster: it says
// nothing of the notification.
func (o *Outbox) send(ctx context.Context, next letter) error {
	run, entry, err := o.find(ctx, next)
	if err != nil {
		return err
	}
	if entry == nil {
		o.unsaved.Delete(next)
		o.backlog.drop(next)
		return nil
	}
	if ctx.Err() != nil {
		return nil
	}
	if pause := o.until(entry); pause > 0 {
		o.letters().AddAfter(next, pause)
		return nil
	}
	before, _ := o.unsaved.Load(next)
	if before, ok := before.(attempt); ok {
		return o.save(context.WithoutCancel(ctx), next, before.fault)
	}
	cleaner, err := o.Cleaner(ctx, run.Spec.Cleaner, run.Spec.CleanerUID)
	if err != nil {
		return err
	}
	notification, fault := o.notification(cleaner, run, entry)
	if fault == nil {
		of := serviceOf(*notification)
		if !o.queues.enter(of, next) {
			return nil
		}
		defer o.leave(of)
		fault = o.deliver(
			ctx,
			Message{Cleaner: cleaner, Run: run, Notification: next.notification, Outcomes: o.backlog.of(next)},
			*notification,
		)
		o.backlog.written(next, fault)
	}
	if ctx.Err() == nil || fault == nil { // an operator that stops leaves it to the next one
		o.unsaved.Store(next, attempt{fault})
		err = o.save(context.WithoutCancel(ctx), next, fault)
	}
	return err
}

// leave lets the next notification for a service have its turn.
func (o *Outbox) leave(of destination) {
	if next, ok := o.queues.leave(of); ok {
		o.letters().Add(next)
	}
}

// notification is the one of an entry, as the Cleaner has it now, or why it is not to be sent.
func (o *Outbox) notification(
	cleaner *v1alpha1.Cleaner,
	run *v1alpha1.CleanerRun,
	entry *v1alpha1.NotificationStatus,
) (*v1alpha1.Notification, error) {
	switch ended := run.Status.CompletionTime; {
	case cleaner == nil:
		return nil, &Error{Reason: "the Cleaner was deleted before it was sent", Permanent: true}
	case ended != nil && o.Clock.Since(ended.Time) >= v1alpha1.NotificationRetention:
		return nil, &Error{Reason: "given up: for a day, no operator could send it", Permanent: true}
	}
	for i := range cleaner.Spec.Notifications {
		if n := &cleaner.Spec.Notifications[i]; n.Name == entry.Name && n.Type == entry.Type {
			return n, nil
		}
	}
	return nil, &Error{Reason: "it was removed from the Cleaner before it was sent", Permanent: true}
}

// find reads the record, and the entry that is to be sent. The entry is nil when there is nothing to send any more.
func (o *Outbox) find(ctx context.Context, next letter) (*v1alpha1.CleanerRun, *v1alpha1.NotificationStatus, error) {
	run, err := o.Run(ctx, next.run)
	if err != nil || run == nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(
		run.Status.Notifications,
		func(n v1alpha1.NotificationStatus) bool { return n.Name == next.notification },
	)
	if i < 0 || run.Status.Notifications[i].State != v1alpha1.NotificationPending {
		return run, nil, nil
	}
	return run, &run.Status.Notifications[i], nil
}

// save writes down how it went. It tries for a while: without that, the notification would be sent again.
func (o *Outbox) save(ctx context.Context, next letter, fault error) error {
	saving, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	var tried v1alpha1.NotificationStatus
	var again *v1alpha1.CleanerRun
	worth := func(err error) bool { return !apierrors.IsInvalid(err) && saving.Err() == nil }
	err := retry.OnError(
		wait.Backoff{Steps: 8, Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.2},
		worth,
		func() error {
			run, entry, err := o.find(saving, next)
			if err != nil || entry == nil {
				return err
			}
			Settle(entry, fault, o.Clock.Now(), run.Status.CompletionTime)
			settled := *entry // the answer is decoded over it
			if err := o.Client.Status().Update(saving, run); err != nil {
				return err
			}
			tried, again = settled, run
			return nil
		},
	)
	if err != nil {
		return err
	}
	o.unsaved.Delete(next) // written, or not to be written any more
	if tried.State != v1alpha1.NotificationPending {
		o.backlog.drop(next)
	}
	if again == nil { // the record vanished meanwhile
		return nil
	}
	if fault != nil {
		klog.FromContext(ctx).
			Error(fault, "Could not deliver notification", "cleaner", again.Spec.Cleaner, "run", next.run, "notification",
				next.notification)
	}
	if o.Tried != nil {
		o.Tried(again.Spec.Cleaner, tried.Type, tried.State)
	}
	o.Add(again)
	o.Changed(again.Spec.Cleaner)
	return nil
}
