// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// deleted are n objects that a run deleted.
func deleted(n int) []stage.Outcome {
	outcomes := make([]stage.Outcome, n)
	for i := range outcomes {
		outcomes[i].Result, outcomes[i].Raw = v1alpha1.OutcomeDeleted, []byte("{}")
	}
	return outcomes
}

// The objects of Events are kept until these are written, without the objects' bytes, and not without a bound.
func TestBacklog(t *testing.T) {
	o := &Outbox{Clock: clocktesting.NewFakeClock(time.Now())}
	t.Cleanup(o.letters().ShutDown)
	send := func(name string, n int) letter {
		run := sample().Run.DeepCopy()
		run.Name = name
		run.Status.Notifications = []v1alpha1.NotificationStatus{
			{Name: "event", Type: v1alpha1.NotificationEvent, State: v1alpha1.NotificationPending},
			{Name: "slack", Type: v1alpha1.NotificationSlack, State: v1alpha1.NotificationPending},
			{Name: "delivered", Type: v1alpha1.NotificationEvent, State: v1alpha1.NotificationDelivered},
		}
		o.Notify(run, append(deleted(n), stage.Outcome{Result: v1alpha1.OutcomeProtected}))
		return letter{name, "event"}
	}
	a := send("a", 3)
	kept := o.backlog.of(a)
	if len(kept) != 3 || kept[0].Raw != nil || len(o.backlog.letters) != 1 {
		t.Fatalf("%d objects are kept: %+v", len(kept), o.backlog.letters)
	}
	o.backlog.written(a, &Error{unwritten: kept[:1]})
	o.backlog.written(letter{"unknown", "event"}, &Error{unwritten: kept[:1]})
	o.backlog.written(a, errors.New("of nothing in particular"))
	if len(o.backlog.of(a)) != 1 || o.backlog.size != 1 {
		t.Fatalf("%d objects are kept, counted as %d", len(o.backlog.of(a)), o.backlog.size)
	}
	b := send("b", maxBacklog)
	if o.backlog.of(b) != nil {
		t.Fatal("there is no bound")
	}
	o.backlog.drop(a)
	o.backlog.drop(a)
	unknown := sample().Run.DeepCopy()
	unknown.Status.Notifications = []v1alpha1.NotificationStatus{{Name: "event", Type: v1alpha1.NotificationEvent, State: v1alpha1.NotificationPending}}
	if o.Notify(unknown, nil); o.backlog.of(letter{unknown.Name, "event"}) != nil {
		t.Fatal("it is to be sent about nothing, and not about what its record lists")
	}
	if c := send("c", maxBacklog+1); o.backlog.of(c) != nil {
		t.Fatal("a run that has more alone is kept")
	}
	if b = send("b", maxBacklog); len(o.backlog.of(b)) != maxBacklog {
		t.Fatal("a run that fills it is not kept")
	}
	o.backlog.drop(b)
	if len(o.backlog.letters) != 0 || o.backlog.size != 0 {
		t.Fatalf("kept are %d, counted as %d", len(o.backlog.letters), o.backlog.size)
	}
}

// takesAll is a client whose writes succeed.
type takesAll struct{ client.SubResourceWriter }

func (t takesAll) Status() client.SubResourceWriter { return t }

func (takesAll) Update(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	return nil
}

// What is delivered, or given up, is not kept.
func TestBacklogIsEmptyInTheEnd(t *testing.T) {
	for name, fault := range map[string]error{"delivered": nil, "given up": permanent("no")} {
		run := sample().Run.DeepCopy()
		run.Status.Notifications = []v1alpha1.NotificationStatus{{Name: "event", Type: v1alpha1.NotificationEvent, State: v1alpha1.NotificationPending}}
		cleaner := &v1alpha1.Cleaner{}
		cleaner.Spec.Notifications = []v1alpha1.Notification{{Name: "event", Type: v1alpha1.NotificationEvent}}
		sent := 0
		o := &Outbox{
			Clock: clocktesting.NewFakeClock(time.Now()), Client: takesAll{}, Changed: func(string) {},
			Run:     func(context.Context, string) (*v1alpha1.CleanerRun, error) { return run, nil },
			Cleaner: func(context.Context, string, types.UID) (*v1alpha1.Cleaner, error) { return cleaner, nil },
			Deliver: func(_ context.Context, message Message, _ v1alpha1.Notification) error {
				sent = len(message.Outcomes)
				return fault
			},
		}
		t.Cleanup(o.letters().ShutDown)
		o.Notify(run, deleted(3))
		if err := o.send(t.Context(), letter{run.Name, "event"}); err != nil || sent != 3 || len(o.backlog.letters) != 0 {
			t.Errorf("%s: %v; %d objects were sent, and %v are kept", name, err, sent, o.backlog.letters)
		}
	}
}

// What nobody can send any more is not kept either: a record may vanish while its notification is sent.
func TestBacklogOfARecordThatVanished(t *testing.T) {
	for name, then := range map[string]func(*v1alpha1.CleanerRun) *v1alpha1.CleanerRun{
		"the record": func(*v1alpha1.CleanerRun) *v1alpha1.CleanerRun { return nil },
		"its entry": func(run *v1alpha1.CleanerRun) *v1alpha1.CleanerRun {
			run.Status.Notifications = nil
			return run
		},
	} {
		run := sample().Run.DeepCopy()
		run.Status.Notifications = []v1alpha1.NotificationStatus{{Name: "event", Type: v1alpha1.NotificationEvent, State: v1alpha1.NotificationPending}}
		cleaner := &v1alpha1.Cleaner{}
		cleaner.Spec.Notifications = []v1alpha1.Notification{{Name: "event", Type: v1alpha1.NotificationEvent}}
		stored := run
		o := &Outbox{
			Clock: clocktesting.NewFakeClock(time.Now()), Client: takesAll{}, Changed: func(string) {},
			Run:     func(context.Context, string) (*v1alpha1.CleanerRun, error) { return stored, nil },
			Cleaner: func(context.Context, string, types.UID) (*v1alpha1.Cleaner, error) { return cleaner, nil },
			Deliver: func(context.Context, Message, v1alpha1.Notification) error {
				stored = then(run)
				return passing("no")
			},
		}
		t.Cleanup(o.letters().ShutDown)
		o.Notify(run, deleted(3))
		err := o.send(t.Context(), letter{run.Name, "event"})
		if err != nil || len(o.backlog.letters) != 0 || o.backlog.size != 0 {
			t.Errorf("%s: %v; kept are %d, counted as %d", name, err, len(o.backlog.letters), o.backlog.size)
		}
	}
}

// A fault that may pass differs from one that stays, and what the API server says is one line.
func TestWhyAnEventWasNotWritten(t *testing.T) {
	events := schema.GroupResource{Group: "events.k8s.io", Resource: "events"}
	ending := apierrors.NewForbidden(events, "e", errors.New("it is being terminated"))
	ending.ErrStatus.Details.Causes = append(ending.ErrStatus.Details.Causes, metav1.StatusCause{Type: corev1.NamespaceTerminatingCause})
	for name, test := range map[string]struct {
		err       error
		permanent bool
		want      string
	}{
		"there already":  {err: apierrors.NewAlreadyExists(events, "e")},
		"namespace gone": {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "n"), true, "namespace n is gone, or is being deleted, and takes no Events"},
		"not served":     {&meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "events.k8s.io", Kind: "Event"}}, true, "the API server does not serve events.k8s.io/v1"},
		"something gone": {apierrors.NewGenericServerResponse(http.StatusNotFound, "post", events, "", "", 0, true), false, "the server could not find the requested resource (post events.events.k8s.io)"},
		"namespace ends": {ending, true, "namespace n is gone, or is being deleted, and takes no Events"},
		"no right":       {apierrors.NewForbidden(events, "e", errors.New("no\n\x1b[31mright")), true, `events.events.k8s.io "e" is forbidden: no  [31mright. Let the operator's ServiceAccount create events of events.k8s.io there`},
		"quota":          {apierrors.NewForbidden(events, "e", errors.New("exceeded quota: q")), false, `events.events.k8s.io "e" is forbidden: exceeded quota: q`},
		"busy":           {apierrors.NewTooManyRequests("later", 1), false, "later"},
		"no answer":      {errors.New("dial tcp: canary"), false, "the API server did not answer, or not within 10s"},
	} {
		err := unwritten(test.err, "n")
		var failure *Error
		if test.want == "" && err == nil {
			continue
		}
		if !errors.As(err, &failure) || failure.Permanent != test.permanent || failure.Reason != test.want {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// unanswered is a client whose requests get no answer.
type unanswered struct {
	client.Client
	asked *atomic.Int32
}

func (u unanswered) Create(context.Context, client.Object, ...client.CreateOption) error {
	u.asked.Add(1)
	return errors.New("dial tcp: i/o timeout")
}

// An API server that does not answer is not asked a thousand times.
func TestEventsEndWhenNobodyAnswers(t *testing.T) {
	var asked atomic.Int32
	message := sample()
	message.Outcomes = deleted(1000)
	err := Event(unanswered{asked: &asked}, clocktesting.NewFakeClock(time.Now()), "kubecleaner", "test")(t.Context(), message)
	var failure *Error
	if !errors.As(err, &failure) || failure.Permanent || len(failure.unwritten) != 1000 || asked.Load() > 3*eventParallel {
		t.Errorf("%v, after %d requests", err, asked.Load())
	}
}
