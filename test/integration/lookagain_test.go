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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestCleanerIsReadAgainBeforeTheIntent: somebody stops the Cleaner while its run lists, and the watch is late. Nothing reconciles
// here.
func TestCleanerIsReadAgainBeforeTheIntent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(c *v1alpha1.Cleaner, nominal time.Time)
		says   string
	}{
		"deleted": {says: "the Cleaner was deleted"},
		"deleted, with a finalizer": {func(c *v1alpha1.Cleaner, _ time.Time) {
			c.Finalizers = []string{"example.com/keep"}
		}, "the Cleaner was deleted"},
		"suspended": {func(c *v1alpha1.Cleaner, _ time.Time) { c.Spec.Suspend = new(true) }, "the Cleaner was suspended"},
		"cancelled": {func(c *v1alpha1.Cleaner, nominal time.Time) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1alpha1.CancelRunAnnotation, v1alpha1.RunName(c.Name, nominal))
		}, cancelled},
		"only reports": {func(c *v1alpha1.Cleaner, _ time.Time) { c.Spec.Action = ptr.To(v1alpha1.ActionScan) }, "the Cleaner was changed to only report"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMap("old")
			c := b.cleaner(v1alpha1.ActionDelete)
			stop := sync.OnceFunc(func() {
				if test.change == nil {
					must(t, b.user.Delete(t.Context(), c.DeepCopy()))
					return
				}
				changed := c.DeepCopy()
				test.change(changed, b.clock.Now().Truncate(time.Second))
				must(t, b.user.Patch(t.Context(), changed, client.MergeFrom(c)))
				if len(changed.Finalizers) > 0 {
					must(t, b.user.Delete(t.Context(), changed))
				}
			})
			b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/configmaps") {
					stop()
				}
				return nil, nil
			})
			record := b.run(c)
			if !strings.Contains(record.Status.Message, test.says+" before anything was touched") && !strings.Contains(record.Status.Message, test.says+".") {
				t.Errorf("the run says: %s", record.Status.Message)
			}
			b.wantNames("old")
		})
	}
}

// TestRunIsStoppedWithoutTheSchema: nobody can say which fields of Cleaners the API server keeps. The user's stop does not wait for that.
func TestRunIsStoppedWithoutTheSchema(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(l *life){
		"cancelled": func(l *life) { l.cancel(l.now.Status.ActiveRun.Name) },
		"suspended": func(l *life) { l.suspend(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMaps(b.namespace, "old", inHand+4)
			l := b.follow(b.cleaner(v1alpha1.ActionDelete))
			l.startExecutor()
			at := newBarrier(t)
			b.holdRequests(at, http.MethodDelete, "/configmaps/old-")
			l.at(l.first())
			at.await(inHand)
			check, unknown := l.reconciler.CheckSchema, errors.New("429")
			l.reconciler.CheckSchema = func(context.Context) (string, error) { return "", unknown }
			change(l)
			if _, err := l.reconciler.Reconcile(t.Context(), request(l.now.Name)); !errors.Is(err, unknown) {
				t.Fatalf("reconciling says: %v", err)
			}
			l.reconciler.CheckSchema = check
			at.open()
			l.finish()
			wantCounts(t, &l.records()[0], v1alpha1.RunCounts{Considered: inHand + 4, Matched: inHand + 4, Acted: inHand, Skipped: 4})
		})
	}
}
