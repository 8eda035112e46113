// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/test/faultproxy"
)

// once makes the Transform one after which its objects do not match any more.
func once(c *v1alpha1.Cleaner) {
	c.Spec.Transform = `function transform()
  obj.metadata.annotations["` + touchedBy + `"] = "yes"
  obj.metadata.labels["` + stateLabel + `"] = "done"
  return {resource = obj}
end`
}

// Something on the way sends each change twice: the second is refused with a conflict, which is not somebody else's edit. What the
// first did is told, also when the object does not match any more because of it, and when another operator had taken the run over.
func TestChangesThatAreSentTwice(t *testing.T) {
	t.Parallel()
	const objects = 6
	s := newSite(t)
	twice := func(w *world) func(*faultproxy.Call) faultproxy.Fault {
		return func(c *faultproxy.Call) faultproxy.Fault {
			if w.isChange(c) {
				return faultproxy.Duplicate
			}
			return nil
		}
	}
	for name, edit := range map[string]func(*v1alpha1.Cleaner){"still matches": func(*v1alpha1.Cleaner) {}, "matches no more": once} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s, s.newNamespace(t), v1alpha1.ActionTransform, edit)
			w.many(objects)
			runner, proxy := s.newRunner(t)
			proxy.Handle(twice(w))
			_, _ = runner.Run(t.Context(), w.request())
			w.wantAllDone(t, objects)
		})
	}
	t.Run("taken over", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, s, s.newNamespace(t), v1alpha1.ActionTransform)
		w.many(objects)
		dead, proxy := s.newRunner(t)
		a := &away{at: w.isChange, from: 1, asks: never}
		proxy.Handle(a.rule)
		config := proxy.Config()
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return deadTransport{next, &a.gone} })
		live, err := client.New(config, client.Options{Scheme: s.scheme, Mapper: s.mapper})
		must(t, err)
		dead.Record.Journal = journal.New(live, operatorNamespace, s.clock)
		ctx, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		a.onAsk = func(int64) { stop(errors.New("it is dead")) }
		_, _ = dead.Run(ctx, w.request())
		w.check(t, "after the first operator")
		runner, proxy := s.newRunner(t)
		proxy.Handle(twice(w))
		_, _ = runner.Run(t.Context(), w.request())
		w.wantAllDone(t, objects)
	})
}
