// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
)

// statusWrites are the operator's writes of records, by the method: a PATCH is a progress.
func (b *bench) statusWrites(method string) int {
	b.requests.mu.Lock()
	defer b.requests.mu.Unlock()
	n := 0
	for _, entry := range b.requests.entries {
		if strings.HasPrefix(entry, method+" ") && strings.Contains(entry, "/cleanerruns/") && strings.HasSuffix(entry, "/status") {
			n++
		}
	}
	return n
}

// eventually waits for something that must happen.
func (b *bench) eventually(what string, is func() bool) {
	b.t.Helper()
	err := wait.PollUntilContextTimeout(b.t.Context(), 10*time.Millisecond, 2*patience, true, func(context.Context) (bool, error) { return is(), nil })
	if err != nil {
		b.t.Errorf("waiting until %s: %v", what, err)
	}
}

// showsProgress lets five seconds pass again and again until the one record shows what is wanted.
func (l *life) showsProgress(what string, wanted func(*v1alpha1.RunProgress) bool) *v1alpha1.RunProgress {
	l.t.Helper()
	var last *v1alpha1.RunProgress
	for range 500 {
		writes := l.statusWrites(http.MethodPatch)
		l.clock.Step(5 * time.Second)
		stepped := time.Now()
		l.eventually("the progress is written", func() bool {
			if time.Since(stepped) > 5*time.Second { // the write took longer than it may
				l.clock.Step(5 * time.Second)
				stepped = time.Now()
			}
			last = l.records()[0].Status.Progress
			return l.statusWrites(http.MethodPatch) > writes && last != nil && !last.UpdateTime.Time.Before(l.clock.Now().Truncate(time.Second))
		})
		if wanted(last) {
			return last
		}
	}
	l.t.Fatalf("the record does not show %s but %+v", what, last)
	return nil
}

// TestProgress: a run that goes on for more than five seconds says in its record how far it has come, and its end takes that away.
func TestProgress(t *testing.T) {
	t.Parallel()
	const deleted = 4
	b := newBench(t)
	b.configMaps(b.namespace, "old", inHand+deleted)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	web, err := rest.HTTPClientFor(env.Config)
	must(t, err)
	listed, acting := newBarrier(t), newBarrier(t)
	var sent atomic.Int64
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		switch {
		case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, b.namespace+"/configmaps"):
			response, err := web.Transport.RoundTrip(r)
			if err == nil {
				response.Body = endOf{response.Body, sync.OnceFunc(listed.pass)}
			}
			return response, err
		case r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/configmaps/old-") && sent.Add(1) > deleted:
			acting.pass()
		}
		return nil, nil
	})
	l.at(l.first())
	listed.await(1)
	l.clock.Step(4 * time.Second)
	if n := b.statusWrites(http.MethodPatch); n != 0 {
		t.Fatalf("the progress was written %d times within 5 s", n)
	}
	l.clock.SetTime(l.first())
	shown := l.showsProgress("the list", func(p *v1alpha1.RunProgress) bool { return p.Done == inHand+deleted })
	if shown.Phase != v1alpha1.ProgressListing || shown.Kind != "ConfigMap" || shown.Total != nil || shown.Matched == nil || *shown.Matched != shown.Done || shown.Rate > 4 {
		t.Fatalf("the progress is %+v", shown)
	}
	listed.open()
	acting.await(inHand)
	shown = l.showsProgress("the deletes", func(p *v1alpha1.RunProgress) bool { return p.Phase == v1alpha1.ProgressActing && p.Done == deleted })
	if shown.Kind != "" || shown.Matched != nil || shown.Total == nil || *shown.Total != inHand+deleted || shown.Rate != 0 {
		t.Fatalf("the progress is %+v", shown)
	}
	acting.open()
	l.finish()
	record := l.records()[0]
	wantRun(t, &record, v1alpha1.ReasonCompleted, "20 of 20 objects matched; 20 deleted.")
	if record.Status.Progress != nil {
		t.Fatalf("the record of the ended run says %+v", record.Status.Progress)
	}
	b.wantNames()
}

// TestProgressCountsWhatWasJudged, not what was read ahead of a script that takes its time. A run that is stopped then says how far it came.
func TestProgressCountsWhatWasJudged(t *testing.T) {
	t.Parallel()
	const objects = 20
	const wayOut = "; raise it (at most 3600), or let the Cleaner select less by namespace, labelFilters or matchConditions, or make its script faster. "
	slow := evaluate(`function evaluate()
	  if obj.metadata.name ~= "old-0" then while true do end end
	  return {matching = true}
	end`)
	for name, c := range map[string]struct {
		stop                func(*life)
		reason, by, further string
	}{
		"deadline":  {func(l *life) { l.clock.SetTime(l.first().Add(3001 * time.Second)) }, v1alpha1.ReasonDeadlineExceeded, "activeDeadlineSeconds (3000) passed", wayOut},
		"suspended": {func(l *life) { l.suspend(true); l.step() }, v1alpha1.ReasonFailed, "the Cleaner was suspended", ". "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMaps(b.namespace, "old", objects)
			l := b.follow(b.cleaner(v1alpha1.ActionScan, slow, func(c *v1alpha1.Cleaner) { c.Spec.ActiveDeadlineSeconds = ptr.To(int64(3000)) }))
			l.startExecutor()
			l.at(l.first())
			b.eventually("the run has begun", func() bool { return len(l.records()) == 1 })
			shown := l.showsProgress("a judgement", func(p *v1alpha1.RunProgress) bool { return p.Phase == v1alpha1.ProgressListing && *p.Matched > 0 })
			if shown.Done == 0 || shown.Done == objects || *shown.Matched != 1 || shown.Kind != "ConfigMap" {
				t.Errorf("the progress is %+v, and %d match", shown, *shown.Matched)
			}
			c.stop(l)
			l.finish()
			record := l.records()[0]
			judged := fmt.Sprintf("%d objects", record.Status.Considered)
			if record.Status.Considered == 1 {
				judged = "1 object"
			}
			wantRun(t, &record, c.reason, fmt.Sprintf("The run was stopped: %s after the run had judged %s of kind ConfigMap, and the list was not read to its end%s1 of %s matched.",
				c.by, judged, c.further, judged))
		})
	}
}

// TestShortRunsShowNoProgress: there is no request more than without.
func TestShortRunsShowNoProgress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionDelete)), v1alpha1.ReasonCompleted, "1 deleted.")
	if patches, puts := b.statusWrites(http.MethodPatch), b.statusWrites(http.MethodPut); patches != 0 || puts != 2 {
		t.Fatalf("the record was patched %d times, and written %d times", patches, puts)
	}
}

// TestProgressIsInNobodysWay: whatever becomes of its writing, and although it changes the record under the hands of those who write
// what matters, the run goes on as it would.
func TestProgressIsInNobodysWay(t *testing.T) {
	t.Parallel()
	for name, meddle := range map[string]func(b *bench, r *http.Request) (*http.Response, error){
		"it is refused": func(b *bench, r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPatch {
				return refusal(b.t, r, apierrors.NewServiceUnavailable("busy")), nil
			}
			return nil, nil
		},
		"it is never answered": func(_ *bench, r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPatch {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return nil, nil
		},
		"it comes right before each other writing": func(b *bench, r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/status") {
				b.showProgress(strings.Split(r.URL.Path, "/")[5])
			}
			return nil, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMaps(b.namespace, "old", 3)
			var puts atomic.Int64
			b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodDelete { // so that there is something to write, and no end before
					b.clock.Step(5 * time.Second)
					b.eventually("a progress is written", func() bool { return b.statusWrites(http.MethodPatch) > 0 })
				}
				if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/status") && puts.Add(1) > 3 {
					return nil, nil
				}
				return meddle(b, r)
			})
			record := b.run(b.cleaner(v1alpha1.ActionDelete))
			b.requests.setMeddle(nil)
			wantRun(t, record, v1alpha1.ReasonCompleted, "3 of 3 objects matched; 3 deleted.")
			stored, err := b.runner.Record.Journal.Find(t.Context(), record.Name)
			must(t, err)
			if stored.Status.Phase != v1alpha1.RunCompleted || stored.Status.Progress != nil {
				t.Fatalf("the record says %s, %+v", stored.Status.Phase, stored.Status.Progress)
			}
		})
	}
}

// showProgress writes a progress into a record as its operator would.
func (b *bench) showProgress(name string) {
	book := journal.New(b.user, operatorNamespace, b.clock)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { // the run writes its own, too
		run, err := book.Find(b.t.Context(), name)
		if err != nil || run.Status.Phase.Final() {
			return err
		}
		progress := v1alpha1.RunProgress{Phase: v1alpha1.ProgressActing, Done: serial.Add(1), UpdateTime: metav1.NewTime(b.clock.Now())}
		return book.ShowProgress(b.t.Context(), journal.HolderOf(run), progress)
	})
	if err != nil {
		b.t.Error(err)
	}
}

// TestClosedRunShowsNoProgress: the operator that showed it went away, and its Cleaner does not wait for the run any more.
func TestClosedRunShowsNoProgress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionScan)
	begun, err := b.runner.Record.Journal.Begin(t.Context(), c, v1alpha1.CleanerRunSpec{
		Cleaner: c.Name, CleanerUID: c.UID, NominalTime: metav1.NewTime(b.clock.Now()), Trigger: v1alpha1.TriggerSchedule, Action: v1alpha1.ActionScan,
	})
	must(t, err)
	b.showProgress(begun.Name)
	begun, err = b.runner.Record.Journal.Find(t.Context(), begun.Name)
	must(t, err)
	if begun.Status.Progress == nil {
		t.Fatal("there is no progress")
	}
	b.runner.Close(t.Context(), begun)
	ended, err := b.runner.Record.Journal.Find(t.Context(), begun.Name)
	must(t, err)
	if ended.Status.Phase != v1alpha1.RunInterrupted || ended.Status.Progress != nil {
		t.Fatalf("the record says %s, %+v", ended.Status.Phase, ended.Status.Progress)
	}
}

// TestTakeOverInSpiteOfProgress: what the operator before wrote last is no sign of another one that was faster.
func TestTakeOverInSpiteOfProgress(t *testing.T) {
	t.Parallel()
	l, next := cutOffRun(t, 3, http.MethodDelete)
	var puts atomic.Int64
	next.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/status") && puts.Add(1) < 3 {
			next.showProgress(l.records()[0].Name)
		}
		return nil, nil
	})
	record := next.goOn(l.first().Add(time.Minute))
	wantRun(t, record, v1alpha1.ReasonCompleted, "and the run was resumed. 3 of 3 objects matched; 3 deleted.")
	if record.Status.Progress != nil || record.Status.Recoveries != 1 {
		t.Fatalf("the record says %+v after %d recoveries", record.Status.Progress, record.Status.Recoveries)
	}
}

// TestOldOperatorShowsNoProgress: one that was taken for gone writes nothing, neither while another one has its run nor after its end.
func TestOldOperatorShowsNoProgress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 2)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	at := newBarrier(t)
	b.holdRequests(at, http.MethodDelete, "/configmaps/old-")
	l.at(l.first())
	at.await(2)
	l.showsProgress("the deletes", func(p *v1alpha1.RunProgress) bool { return p.Phase == v1alpha1.ProgressActing })
	next := l.successor()
	next.startExecutor()
	record := next.goOn(l.first().Add(time.Minute))
	if record.Status.Progress != nil {
		t.Fatalf("the record of the ended run says %+v", record.Status.Progress)
	}
	reads, patches := l.requests.count(http.MethodGet, "/cleanerruns/"+record.Name), l.statusWrites(http.MethodPatch)
	l.clock.Step(5 * time.Second)
	l.eventually("the old operator looks at the record", func() bool { return l.requests.count(http.MethodGet, "/cleanerruns/"+record.Name) > reads })
	at.open()
	l.finish()
	if after := l.records()[0]; after.ResourceVersion != record.ResourceVersion || l.statusWrites(http.MethodPatch) != patches {
		t.Fatalf("the old operator wrote to the record: %+v", after.Status)
	}
}

// TestPhasesAreMeasured by the run's clock, each once in a run.
func TestPhasesAreMeasured(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	registry := prometheus.NewRegistry()
	b.runner.Record.Metrics = metrics.New(registry)
	c := b.cleaner(v1alpha1.ActionDelete, notifying(v1alpha1.NotificationCleanerReport))
	steps := map[string]time.Duration{
		"GET /configmaps": time.Second, "GET /namespaces/" + b.namespace: 2 * time.Second, "POST /secrets": 500 * time.Millisecond,
		"DELETE /configmaps/old": 3 * time.Second, "PATCH /reports/" + c.Name: 4 * time.Second,
	}
	var mu sync.Mutex
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		for request, step := range steps {
			if method, part, _ := strings.Cut(request, " "); r.Method == method && strings.HasSuffix(r.URL.Path, part) {
				delete(steps, request)
				b.clock.Step(step)
				break
			}
		}
		return nil, nil
	})
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 deleted.")
	families, err := registry.Gather()
	must(t, err)
	got := map[string]string{}
	for _, family := range families {
		if family.GetName() == "kubecleaner_run_phase_duration_seconds" {
			for _, series := range family.GetMetric() {
				h := series.GetHistogram()
				got[series.GetLabel()[0].GetValue()] = fmt.Sprintf("%d: %g s", h.GetSampleCount(), h.GetSampleSum())
			}
		}
	}
	want := map[string]string{"list": "1: 3 s", "judge": "1: 0 s", "record": "1: 0.5 s", "act": "1: 3 s", "notify": "1: 4 s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("how long the phases took (-want +got):\n%s", diff)
	}
}
