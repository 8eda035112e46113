// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/faultproxy"
)

// forgeries are answers that claim success, or absence, and are no API server's. Before applying: nothing took place.
var forgeries = []string{
	"empty object", "empty body", "garbage", "login page", "failure in a success", "404 without details",
	"404 of an aggregated API that is down", "half a body", "cut in the body",
}

// forged is a run of which one request has such an answer: the n-th of the verb and the resource.
type forged struct {
	action         v1alpha1.Action
	kind           faultproxy.Kind
	verb, resource string
	n              int
}

func (f forged) String() string {
	return fmt.Sprintf("%s, %s to %s %s %d", f.action, f.kind.Name, f.verb, f.resource, f.n)
}

// No answer that something between the operator and the API server has made up makes a run do anything else than it was asked to: each
// record is read and written in the way of a client, which takes over whatever the answer says.
func TestForgedAnswers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var cases []forged
	for _, action := range []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionTransform} {
		for _, kind := range faultproxy.Kinds {
			if !slices.Contains(forgeries, kind.Name) {
				continue
			}
			for resource, verbs := range map[string][]string{
				"cleanerruns": {"get", "create", "update"}, "secrets": {"create", "update", "list"},
			} {
				for _, verb := range verbs {
					for n := range 2 {
						cases = append(cases, forged{action, kind, verb, resource, n})
					}
				}
			}
			cases = append(cases, forged{action, kind, "get", "cleaners", 0}, forged{action, kind, "get", "namespaces", 0}, forged{action, kind, "get", "namespaces", 1})
		}
	}
	if *faultRuns <= 200 { // each request has some of the answers, the most dangerous one always
		cases = slices.DeleteFunc(cases, func(f forged) bool {
			return f.kind.Name != "empty object" && (f.n > 0 || f.action == v1alpha1.ActionDelete)
		})
	}
	var came sync.Map // "get cleanerruns"
	inParallel(t, s, cases, func(t *testing.T, namespace string, f forged) {
		w := newWorld(t, s, namespace, f.action)
		w.populate()
		request := w.request()
		runner, proxy := s.newRunner(t)
		proxy.Handle(func(c *faultproxy.Call) faultproxy.Fault {
			if c.Verb == f.verb && c.Resource == f.resource && c.Nth == f.n {
				came.Store(f.verb+" "+f.resource, true)
				return w.paged(c, f.kind.Fault)
			}
			return w.paged(c, nil)
		})
		_, _ = runner.Run(t.Context(), request)
		proxy.Wait()
		w.replan(begun(w.check(t, "after the run")))
		next, proxy := s.newRunner(t)
		proxy.Handle(func(c *faultproxy.Call) faultproxy.Fault { return w.paged(c, nil) })
		_, _ = next.Run(t.Context(), request)
		proxy.Wait()
		if seen := w.check(t, "after the next operator"); len(seen.Records) != 1 || !seen.Records[0].Run.Status.Phase.Final() {
			t.Errorf("the run came to no end: it is %s", phase(seen))
		}
	}, func() {
		for _, f := range cases { // a request that no run makes is no test
			if _, is := came.Load(f.verb + " " + f.resource); !is {
				t.Errorf("no run made the request: %s %s", f.verb, f.resource)
				came.Store(f.verb+" "+f.resource, true)
			}
		}
	})
}
