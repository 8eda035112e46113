// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// F21: an object that admission denies again and again is asked for less and less often; others are dealt with in each run.
func TestDeniedIsAskedForLessOften(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("kept")
	b.webhook(func(name string) *metav1.Status {
		if name != "kept" {
			return nil
		}
		return &metav1.Status{Code: http.StatusForbidden, Message: "ask the owner"}
	})
	c := b.cleaner(v1alpha1.ActionDelete)
	asked := 0
	want := func(why string, run *v1alpha1.CleanerRun, asks int, texts ...string) {
		t.Helper()
		wantOutcome(t, run, "kept", v1alpha1.OutcomeDenied, append(texts, "denied the request: ask the owner")...)
		asked += asks
		if n := b.requests.count(http.MethodDelete, "/kept"); n != asked {
			t.Fatalf("%s: %d deletes so far, want %d", why, n, asked)
		}
	}
	spared := func(times string, until time.Time) string {
		return "the last " + times + " attempts to delete or change it were denied. Runs leave it alone until " + until.UTC().Format(time.RFC3339) +
			", unless the object or the Cleaner changes, or you run the Cleaner: kubectl cleaner run " + c.Name + ". The last denial was: "
	}
	want("the first time", b.run(c), 1)
	want("a single denial", b.run(c), 1)
	second := b.clock.Now()
	b.configMap("free")
	run := b.run(c)
	want("the second denial", run, 0, spared("2", second.Add(time.Minute)))
	wantRun(t, run, v1alpha1.ReasonPartiallyFailed, "2 of 2 objects matched; 1 deleted, 1 denied. ")
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 2, Matched: 2, Acted: 1, Failed: 1})

	b.clock.SetTime(second.Add(time.Minute))
	want("a minute later", b.run(c), 1)
	third := b.clock.Now()
	b.clock.SetTime(third.Add(2*time.Minute - 2*time.Second))
	want("two minutes are not over", b.run(c), 0, spared("3", third.Add(2*time.Minute)))
	want("somebody asks for a run", b.manual(c), 1)
	want("four minutes after that are not over", b.run(c), 0)

	must(t, b.user.Patch(t.Context(), b.named("kept"), client.RawPatch("application/merge-patch+json", []byte(`{"data":{"a":"b"}}`))))
	want("the object changes", b.run(c), 1)
	want("a single denial of what it is now", b.run(c), 1)
	want("the second of those", b.run(c), 0)
	c = b.get(c.Name)
	c.Spec.DeleteOptions = &v1alpha1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](1)}
	must(t, b.user.Update(t.Context(), c))
	want("the Cleaner changes", b.run(c), 1)
}

// manual carries out a run of the Cleaner that somebody asked for, one second after the last.
func (b *bench) manual(c *v1alpha1.Cleaner) *v1alpha1.CleanerRun {
	b.t.Helper()
	b.clock.SetTime(b.clock.Now().Add(time.Second))
	return b.carryOut(b.t.Context(), run.Request{Cleaner: c.Name, Nominal: b.clock.Now().Truncate(time.Second), Trigger: v1alpha1.TriggerManual})
}
