// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/faultproxy"
)

// TestRequestsNameTheCleaner: the API server knows whose run a request is of: its lists, its deletes and its records. What the
// operator does for all of them names none.
func TestRequestsNameTheCleaner(t *testing.T) {
	proxy := faultproxy.Start(t, env.Config)
	var mu sync.Mutex
	agents := map[string]map[string]bool{} // by verb and resource
	w := newWorld(t, newClient(t), v1alpha1.ActionDelete, 3)
	name := w.cleaner.Name
	proxy.Handle(func(call *faultproxy.Call) faultproxy.Fault {
		if call.Resource == "cleanerruns" && call.Name != "" && !strings.HasPrefix(call.Name, name+"-") {
			return nil // a run that a manager of another test had not ended
		}
		mu.Lock()
		defer mu.Unlock()
		request := call.Verb + " " + call.Resource
		if call.Resource == "configmaps" {
			request += " of " + call.Namespace // the counts of all Cleaners are in the operator's
		}
		if agents[request] == nil {
			agents[request] = map[string]bool{}
		}
		agents[request][call.Request.UserAgent()] = true
		return nil
	})
	launch(t, proxy.Kubeconfig(t), "--leader-elect=false")
	w.start()
	eventually(t, "the run has ended", w.isOver)
	mu.Lock()
	defer mu.Unlock()
	suffix := " (cleaner/" + name + ")"
	for _, request := range []string{"list configmaps of " + name, "delete configmaps of " + name, "create cleanerruns", "update cleanerruns", "create secrets", "patch reports"} {
		for agent := range agents[request] {
			if !strings.HasPrefix(agent, "kubecleaner/") || !strings.HasSuffix(agent, suffix) {
				t.Errorf("%s: the User-Agent is %q", request, agent)
			}
		}
		if len(agents[request]) == 0 {
			t.Errorf("%s: nothing was sent; there were %q", request, slices.Sorted(maps.Keys(agents)))
		}
	}
	for agent := range agents["patch cleaners"] { // by the reconciler, for each of them
		if !strings.HasPrefix(agent, "kubecleaner/") || strings.Contains(agent, "cleaner/"+name) {
			t.Errorf("the reconciler's User-Agent is %q", agent)
		}
	}
}
