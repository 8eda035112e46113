// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	rundeadline "github.com/kubecleaner/kubecleaner/pkg/deadline"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// aMinute lets a run take a minute.
func aMinute(c *v1alpha1.Cleaner) { c.Spec.ActiveDeadlineSeconds = ptr.To(int64(60)) }

// late is what a run says that took longer than a minute.
const late = "activeDeadlineSeconds (60) passed"

// TestDeadlineWhileTheRunActs: what is in hand is finished, no further object is begun, and the rest is reported.
func TestDeadlineWhileTheRunActs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", inHand+4)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, aMinute))
	l.startExecutor()
	at := newBarrier(t)
	l.holdRequests(at, http.MethodDelete, "/configmaps/old-")
	first := l.first()
	l.at(first)
	at.await(inHand)
	l.clock.Step(59 * time.Second)
	l.clock.Step(time.Second)
	at.open()
	l.finish()
	record := l.records()[0]
	wantInterrupted(t, b, &record, late)
	wantRun(t, &record, v1alpha1.ReasonDeadlineExceeded, "The run was stopped: "+late+
		" after 16 of 20 objects; raise it (at most 3600), or let the Cleaner select less. 20 of 20 objects matched; 16 deleted, 4 left alone.")
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonDeadlineExceeded, late)
	l.at(first.Add(day)) // the next one deals with the rest
	l.finish()
	b.wantNames()
}

// TestDeadlineBeforeTheRunActs: however far the run has come with reading, judging and copying, it touches nothing.
func TestDeadlineBeforeTheRunActs(t *testing.T) {
	t.Parallel()
	const endless = "while true do end"
	const listing = " after the run had judged 0 objects of kind ConfigMap, and the list was not read to its end; raise it (at most 3600), or let the Cleaner select less by namespace"
	const later = " before anything was touched; raise it (at most 3600), or let the Cleaner select less. "
	for name, c := range map[string]struct {
		method, path string
		edit         func(*v1alpha1.Cleaner)
		want         string
	}{
		"while it lists": {http.MethodGet, "/configmaps", func(*v1alpha1.Cleaner) {}, listing + " or labelFilters. "},
		"while a script judges": {
			http.MethodGet, "/configmaps", evaluate("function evaluate() " + endless + " end"),
			listing + ", labelFilters or matchConditions, or make its script faster. ",
		},
		"while the script of all judges": {http.MethodGet, "/configmaps", aggregated("function evaluate() " + endless + " end"), later},
		"while it judges":                {http.MethodGet, "/namespaces/NS", func(*v1alpha1.Cleaner) {}, later},
		"while it copies":                {http.MethodPost, "/secrets", func(*v1alpha1.Cleaner) {}, later},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMaps(b.namespace, "old", 3)
			web, err := rest.HTTPClientFor(env.Config)
			must(t, err)
			b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				switch {
				case r.Method != c.method || !strings.HasSuffix(r.URL.Path, strings.Replace(c.path, "NS", b.namespace, 1)):
					return nil, nil
				case !strings.Contains(name, "script"):
					b.clock.Step(time.Minute)
					return nil, nil
				}
				response, err := web.Transport.RoundTrip(r)
				if err == nil { // when all objects have been handed to the script, which never answers
					response.Body = endOf{response.Body, func() { b.clock.Step(time.Minute) }}
				}
				return response, err
			})
			record := b.run(b.cleaner(v1alpha1.ActionDelete, aMinute, c.edit))
			wantRun(t, record, v1alpha1.ReasonDeadlineExceeded, "The run was stopped: "+late+c.want)
			if record.Status.Phase != v1alpha1.RunInterrupted || record.Status.Acted != 0 || b.requests.count(http.MethodDelete, "") > b.requests.count(http.MethodPost, "/secrets") {
				t.Fatalf("the record says %s, %+v", record.Status.Phase, record.Status.RunCounts)
			}
			b.wantNames("old-0", "old-1", "old-2")
		})
	}
}

// TestDeadlineWhileTheServerDoesNotAnswer: the run waits for it, and says in the end for what it waited.
func TestDeadlineWhileTheServerDoesNotAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 3)
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/readyz" {
			b.clock.Step(30 * time.Second)
		} else if !strings.HasSuffix(r.URL.Path, "/configmaps") {
			return nil, nil
		}
		return nil, syscall.ECONNREFUSED
	})
	record := b.run(b.cleaner(v1alpha1.ActionDelete, aMinute))
	wantRun(t, record, v1alpha1.ReasonDeadlineExceeded, "The run was stopped: "+late, " The API server did not answer: ", "connection refused (tried once during ")
	b.wantUntouched()
}

// TestDeadlineWhileTheServerIsBusy: the run waits for it, however often it is refused, and says in the end for what it waited.
func TestDeadlineWhileTheServerIsBusy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "old", 3)
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		switch {
		case r.URL.Path == "/readyz":
			b.clock.Step(20 * time.Second)
		case strings.HasSuffix(r.URL.Path, "/configmaps"):
			return refusal(t, r, apierrors.NewTooManyRequests("please wait", 0)), nil
		}
		return nil, nil
	})
	record := b.run(b.cleaner(v1alpha1.ActionDelete, aMinute))
	wantRun(t, record, v1alpha1.ReasonDeadlineExceeded, "The run was stopped: "+late, " The API server was too busy: please wait (tried 3 times during 1m0s).")
	b.wantUntouched()
}

// endOf is a body that calls then before it ends.
type endOf struct {
	io.ReadCloser
	then func()
}

func (e endOf) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		e.then()
	}
	return n, err
}

// TestDeadlineUnset is an hour.
func TestDeadlineUnset(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/configmaps") {
			b.clock.Step(rundeadline.Max)
		}
		return nil, nil
	})
	record := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, record, v1alpha1.ReasonDeadlineExceeded, "activeDeadlineSeconds (3600) passed after the run had judged 0 objects of kind ConfigMap, and the list was not read to its end; "+
		"let the Cleaner select less by namespace or labelFilters, or divide it into several Cleaners. ")
	b.wantNames("old")
}

// TestDeadlineCountsFromTheStart, whoever goes on with the run.
func TestDeadlineCountsFromTheStart(t *testing.T) {
	t.Parallel()
	const after = "The operator stopped while the run was acting, and the run was not resumed: " + late + "; raise it (at most 3600), or let the Cleaner select less. "
	t.Run("it has passed", func(t *testing.T) {
		t.Parallel()
		l, next := cutOffRun(t, 3, http.MethodDelete, aMinute)
		must(t, l.user.Delete(t.Context(), l.object("old-0")))
		record := next.goOn(l.first().Add(time.Minute))
		wantRun(t, record, v1alpha1.ReasonDeadlineExceeded, after+"3 of 3 objects matched; 0 deleted, 1 found gone after the run was cut off, 2 left alone.")
		wantOutcome(t, record, "old-1", v1alpha1.OutcomeAbandoned, late)
		if deletes(next) != 0 {
			t.Fatal("the next operator went on")
		}
	})
	t.Run("it passes", func(t *testing.T) {
		t.Parallel()
		l, next := cutOffRun(t, inHand+8, http.MethodDelete, aMinute)
		at := newBarrier(t)
		next.holdRequests(at, http.MethodDelete, "/configmaps/old-")
		next.at(l.first().Add(40 * time.Second))
		at.await(inHand)
		next.clock.Step(20 * time.Second)
		at.open()
		next.finish()
		record := &next.records()[0]
		wantRun(t, record, v1alpha1.ReasonDeadlineExceeded, after+"24 of 24 objects matched; 16 deleted, 8 left alone.")
		if left := len(l.names(l.namespace)); left != 8 {
			t.Fatalf("%d objects are left, want those that were not in hand", left)
		}
	})
	t.Run("there is time left", func(t *testing.T) {
		t.Parallel()
		l, next := cutOffRun(t, 3, http.MethodDelete, aMinute)
		record := next.goOn(l.first().Add(40 * time.Second))
		wantRun(t, record, v1alpha1.ReasonCompleted, "and the run was resumed. 3 of 3 objects matched; 3 deleted.")
	})
}

// TestDeadlineOfARunThatBeginsAnew: its operator went away before it touched anything. With a deadline, the time that passed since
// counts; without one, the run has its whole time.
func TestDeadlineOfARunThatBeginsAnew(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*v1alpha1.Cleaner){"with a deadline": aMinute, "without": func(*v1alpha1.Cleaner) {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMap("old")
			c := b.cleaner(v1alpha1.ActionDelete, edit)
			asked := run.Request{Cleaner: c.Name, Nominal: b.clock.Now().Truncate(time.Second), Trigger: v1alpha1.TriggerSchedule}
			begun, err := b.runner.Record.Journal.Begin(t.Context(), c, v1alpha1.CleanerRunSpec{
				Cleaner: c.Name, CleanerUID: c.UID, CleanerGeneration: c.Generation, NominalTime: metav1.NewTime(asked.Nominal), Trigger: asked.Trigger, Action: v1alpha1.ActionDelete,
			})
			must(t, err)
			b.clock.SetTime(begun.CreationTimestamp.Add(2 * rundeadline.Max))
			record := b.carryOut(t.Context(), asked)
			if name == "without" {
				wantRun(t, record, v1alpha1.ReasonCompleted, "1 deleted.")
				return
			}
			wantRun(t, record, v1alpha1.ReasonDeadlineExceeded, "Nothing was read or touched: "+late+" before the run began; raise it (at most 3600), or let the Cleaner select less.")
			if record.Status.Phase != v1alpha1.RunInterrupted || !b.exists("old") {
				t.Fatalf("the phase is %s", record.Status.Phase)
			}
		})
	}
}
