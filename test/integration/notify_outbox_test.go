// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
)

// post is an outbox whose services answer as a test says.
type post struct {
	*bench
	outbox  *notify.Outbox
	clock   *testingclock.FakeClock
	changed chan string

	mu      sync.Mutex
	answers map[string]func(ctx context.Context) error
	sent    []string
}

func (b *bench) post() *post {
	b.t.Helper()
	p := &post{bench: b, clock: testingclock.NewFakeClock(b.clock.Now()), changed: make(chan string, 100), answers: map[string]func(context.Context) error{}}
	p.outbox = &notify.Outbox{Run: b.runner.Record.Journal.Find, Cleaner: b.runner.Record.Journal.Cleaner, Client: b.live, Clock: p.clock, Deliver: p.deliver, Changed: func(name string) { p.changed <- name }, Tried: b.runner.Record.Metrics.Notified}
	ctx, stop := context.WithCancel(b.t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { must(b.t, p.outbox.Start(ctx)) })
	b.t.Cleanup(func() { stop(); ended.Wait() })
	return p
}

func (p *post) deliver(ctx context.Context, _ notify.Message, n v1alpha1.Notification) error {
	p.mu.Lock()
	p.sent = append(p.sent, n.Name)
	answer := p.answers[n.Name]
	p.mu.Unlock()
	if answer == nil {
		return nil
	}
	return answer(ctx)
}

// answer makes the service of a notification answer so from now on.
func (p *post) answer(name string, answer func(context.Context) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[name] = answer
}

func says(err error) func(context.Context) error { return func(context.Context) error { return err } }

// ended is a run of the Cleaner that has ended, and has its notifications to send.
func (p *post) ended(c *v1alpha1.Cleaner) *v1alpha1.CleanerRun {
	p.t.Helper()
	run := p.run(c)
	for i := range run.Status.Notifications {
		entry := &run.Status.Notifications[i]
		entry.State, entry.Attempts = v1alpha1.NotificationPending, 0
	}
	must(p.t, p.user.Status().Update(p.t.Context(), run))
	return run
}

// wait waits until the delivery has got on.
func (p *post) wait(c *v1alpha1.Cleaner) {
	p.t.Helper()
	select {
	case name := <-p.changed:
		if name != c.Name {
			p.t.Fatalf("it got on for %s", name)
		}
	case <-time.After(patience):
		p.t.Fatal("nothing was sent")
	}
}

// entry is how the delivery of a notification stands in the record.
func (p *post) entry(run *v1alpha1.CleanerRun, name string) v1alpha1.NotificationStatus {
	p.t.Helper()
	var live v1alpha1.CleanerRun
	must(p.t, p.user.Get(p.t.Context(), client.ObjectKeyFromObject(run), &live))
	for _, entry := range live.Status.Notifications {
		if entry.Name == name {
			return entry
		}
	}
	p.t.Fatalf("the record has no notification %s: %+v", name, live.Status.Notifications)
	return v1alpha1.NotificationStatus{}
}

// step lets time pass, when the outbox waits for it.
func (p *post) step(d time.Duration) {
	p.t.Helper()
	must(p.t, wait.PollUntilContextTimeout(p.t.Context(), 10*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return p.clock.HasWaiters(), nil
	}))
	p.clock.Step(d)
}

func twoEvents(c *v1alpha1.Cleaner) {
	for _, name := range []string{"one", "two"} {
		c.Spec.Notifications = append(c.Spec.Notifications, v1alpha1.Notification{Name: name, Type: v1alpha1.NotificationEvent})
	}
}

// Each notification is delivered, tried again or given up by itself, and the condition says so.
func TestOutboxDeliversEachByItself(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	registry := b.measure()
	p := b.post()
	b.configMap("old")
	c := b.cleaner(v1alpha1.ActionScan, twoEvents)
	p.answer("two", says(&notify.Error{Reason: "the service refused the connection"}))
	run := p.ended(c)
	b.runner.Record.Metrics.Observe(c, nil)
	p.outbox.Add(run)
	p.outbox.Add(run) // of which there is one nevertheless
	p.wait(c)
	p.wait(c)
	if got := p.entry(run, "one"); got.State != v1alpha1.NotificationDelivered || got.Attempts != 1 || got.Message != "" {
		t.Errorf("one is %+v", got)
	}
	two := p.entry(run, "two")
	if two.State != v1alpha1.NotificationPending || two.Attempts != 1 || two.Message != "the service refused the connection" || two.NextAttemptTime == nil {
		t.Fatalf("two is %+v", two)
	}
	if pause := two.NextAttemptTime.Sub(p.clock.Now()); pause < 29*time.Second || pause > 37*time.Second {
		t.Errorf("it is tried again after %s", pause)
	}

	p.step(time.Minute)
	p.wait(c)
	if two := p.entry(run, "two"); two.Attempts != 2 || two.State != v1alpha1.NotificationPending {
		t.Fatalf("two is %+v", two)
	}
	p.answer("two", says(&notify.Error{Reason: "the service answered 401 Unauthorized; check SLACK_TOKEN in Secret team/slack", Permanent: true}))
	p.step(3 * time.Minute)
	p.wait(c)
	if two := p.entry(run, "two"); two.Attempts != 3 || two.State != v1alpha1.NotificationFailed || !strings.Contains(two.Message, "check SLACK_TOKEN") {
		t.Fatalf("two is %+v", two)
	}
	if got := strings.Count(strings.Join(p.sent, " "), "one"); got != 1 {
		t.Errorf("one was sent %d times", got)
	}
	wantMeasured(t, registry, map[string][]string{"notifications_total": {"{Event,Delivered} 1", "{Event,Failed} 1", "{Event,Retrying} 2"}})
}

// What hangs holds up nothing else, and is resumed by the next operator.
func TestOutboxThatHangs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.post()
	b.configMap("old")
	c := b.cleaner(v1alpha1.ActionScan, twoEvents)
	begun := make(chan struct{})
	first.answer("two", func(ctx context.Context) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	})
	run := first.ended(c)
	first.outbox.Add(run)
	first.wait(c)
	<-begun
	if got := first.entry(run, "one"); got.State != v1alpha1.NotificationDelivered {
		t.Errorf("one is %+v", got)
	}
	left, err := b.runner.Record.Journal.Sweep(t.Context(), 1<<40)
	must(t, err)
	second := b.post()
	for i := range left.Unsent {
		if left.Unsent[i].Name == run.Name {
			second.outbox.Add(&left.Unsent[i])
		}
	}
	second.wait(c)
	if got := second.entry(run, "two"); got.State != v1alpha1.NotificationDelivered {
		t.Errorf("two is %+v", got)
	}
}

// What cannot be delivered for a day is given up, and so is what the Cleaner does not ask for any more.
func TestOutboxGivesUp(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before func(p *post, c *v1alpha1.Cleaner)
		want   string
	}{
		"after a day": {func(p *post, _ *v1alpha1.Cleaner) {
			p.answer("one", says(errors.New("no route")))
			p.clock.Step(24*time.Hour - 10*time.Second)
		}, "given up after a day: no route"},
		"nobody could send it for a day": {func(p *post, _ *v1alpha1.Cleaner) { p.clock.Step(25 * time.Hour) }, "given up: for a day, no operator could send it"},
		"removed": {func(p *post, c *v1alpha1.Cleaner) {
			c.Spec.Notifications = c.Spec.Notifications[1:]
			must(p.t, p.user.Update(p.t.Context(), c))
		}, "it was removed from the Cleaner before it was sent"},
		"panics": {func(p *post, _ *v1alpha1.Cleaner) {
			p.answer("one", says(&notify.Error{Reason: "a fault of KubeCleaner", Permanent: true}))
		}, "a fault of KubeCleaner"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			p := b.post()
			b.configMap("old")
			c := b.cleaner(v1alpha1.ActionScan, twoEvents)
			run := p.ended(c)
			test.before(p, c)
			p.outbox.Add(run)
			p.wait(c)
			p.wait(c)
			if got := p.entry(run, "one"); got.State != v1alpha1.NotificationFailed || got.Message != test.want || got.NextAttemptTime != nil {
				t.Errorf("one is %+v", got)
			}
		})
	}
}

// What was delivered is not sent again because that cannot be written down.
func TestOutboxThatCannotWrite(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.post()
	b.configMap("old")
	c := b.cleaner(v1alpha1.ActionScan, twoEvents)
	run := p.ended(c)
	refused := make(chan struct{}, 100)
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/cleanerruns/"+run.Name+"/status") {
			return nil, nil
		}
		refused <- struct{}{}
		return forbidden(t, r, "cleanerruns", run.Name), nil
	})
	p.outbox.Add(run)
	for range 16 { // both, and all tries of each
		<-refused
	}
	b.requests.setMeddle(nil)
	p.step(time.Minute)
	p.wait(c)
	p.wait(c)
	if got := p.entry(run, "one"); got.State != v1alpha1.NotificationDelivered {
		t.Errorf("one is %+v", got)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.sent) != 2 {
		t.Errorf("it was sent %d times: %v", len(p.sent), p.sent)
	}
}

// The condition follows the record of the last run, also if the operator ends right after it was written.
func TestConditionFollowsTheOutbox(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]bool{"the operator goes on": false, "the operator ends": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.startExecutor()
			b.configMap("old")
			c := b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationCleanerReport))
			b.reconcile(c)
			b.refusing("PATCH", "/reports/"+c.Name, "no Report today")
			c = b.runNow(c)
			wantCondition(t, c, v1alpha1.ConditionNotificationsDelivered, "False", v1alpha1.ReasonDelivering, "could not be delivered yet", "no Report today", "; it will be tried again at ")
			b.requests.setMeddle(nil)
			p := b.post()
			next := b
			if ends {
				next = newBench(t)
				next.clock.SetTime(b.clock.Now())
			}
			p.outbox.Deliver, p.outbox.Changed = b.runner.Delivery.Deliver, func(name string) { b.reconciler.NotificationsChanged(name); p.changed <- name }
			var run v1alpha1.CleanerRun
			must(t, b.user.Get(t.Context(), client.ObjectKey{Name: c.Status.LastRun.Name}, &run))
			must(t, b.runner.Record.Journal.Prune(t.Context(), c, &journal.History{}))
			p.outbox.Add(&run)
			p.step(time.Minute)
			p.wait(c)
			c = next.reconcile(c)
			wantCondition(t, c, v1alpha1.ConditionNotificationsDelivered, "True", v1alpha1.ReasonDelivered, "Every notification of the last run was delivered.")
			if got := reportedNames(b.reported(c)); len(got) != 1 || got[0] != "old" {
				t.Errorf("the Report lists %v", got)
			}
		})
	}
}
