// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

var hangRuns = flag.Int("hang-runs", 60, "how many runs notify a channel that hangs, beside one that does not")

// hole is a service that takes connections and never answers.
type hole struct {
	*httptest.Server
	mutex      sync.Mutex
	open, most int
}

func newHole(t *testing.T) *hole {
	h := &hole{}
	ended := make(chan struct{})
	h.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-ended:
		}
	}))
	h.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		h.mutex.Lock()
		defer h.mutex.Unlock()
		switch state {
		case http.StateNew:
			h.open++
		case http.StateClosed:
			h.open--
		}
		h.most = max(h.most, h.open)
	}
	h.Start()
	t.Cleanup(func() { close(ended); h.Close() })
	return h
}

// F26: many runs notify a service that hangs, and one that does not. The latter gets all, new runs do not
// wait for anybody, and what waits for the service that hangs takes no goroutines and connections. It counts the process's own, so
// it does not run beside others.
func TestServiceThatHangsBesideAGoodOne(t *testing.T) {
	many := *hangRuns
	b := newBench(t)
	b.sends()
	hanging, good := newHole(t), newReceiver(t, http.StatusOK)
	c := b.cleaner(v1alpha1.ActionScan, b.webhookTo("hangs", hanging.URL), b.webhookTo("good", good.URL))
	b.configMap("old")
	goroutines := runtime.NumGoroutine()
	records := make([]*v1alpha1.CleanerRun, many)
	workqueue.ParallelizeUntil(t.Context(), 8, many, func(i int) { records[i] = b.endedRun(c, i) })
	for _, record := range records {
		if record == nil {
			t.FailNow()
		}
		b.runner.Delivery.Outbox(record, nil)
	}
	const newRuns = 3
	for range newRuns { // they end although hundreds wait
		wantRun(t, b.run(c), v1alpha1.ReasonCompleted)
	}
	most := 0
	must(t, wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 5*time.Minute, true, func(context.Context) (bool, error) {
		most = max(most, runtime.NumGoroutine())
		return len(good.got()) >= many+newRuns, nil
	}))
	if got := len(good.got()); got != many+newRuns {
		t.Errorf("the good service was notified %d times of %d runs", got, many+newRuns)
	}
	hanging.mutex.Lock()
	defer hanging.mutex.Unlock()
	t.Logf("%d goroutines before, at most %d; at most %d connections to the service that hangs", goroutines, most, hanging.most)
	// Connections that timed out may be there still when the next ones come; without a bound there would be one for each run.
	if hanging.most == 0 || hanging.most > many/3 || most > goroutines+100 {
		t.Errorf("there were up to %d connections to the service that hangs, and up to %d goroutines, before %d", hanging.most, most, goroutines)
	}
}

// endedRun is the record of a run that has ended, and has its notifications to send.
func (b *bench) endedRun(c *v1alpha1.Cleaner, i int) *v1alpha1.CleanerRun {
	run := &v1alpha1.CleanerRun{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", c.Name, i), Labels: map[string]string{v1alpha1.CleanerLabel: string(c.UID)}}}
	run.Spec = v1alpha1.CleanerRunSpec{Cleaner: c.Name, CleanerUID: c.UID, NominalTime: metav1.NewTime(b.clock.Now()), Trigger: v1alpha1.TriggerSchedule, Action: v1alpha1.ActionScan}
	err := b.user.Create(b.t.Context(), run)
	if err == nil {
		now := metav1.Now()
		run.Status = v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunCompleted, Reason: v1alpha1.ReasonCompleted, CompletionTime: &now}
		for _, n := range c.Spec.Notifications {
			run.Status.Notifications = append(run.Status.Notifications, v1alpha1.NotificationStatus{Name: n.Name, Type: n.Type, State: v1alpha1.NotificationPending})
		}
		err = b.user.Status().Update(b.t.Context(), run)
	}
	if err != nil {
		b.t.Error(err)
		return nil
	}
	b.t.Cleanup(func() { _ = b.user.Delete(context.Background(), run, client.Preconditions{UID: &run.UID}) })
	return run
}
