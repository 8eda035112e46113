// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/faultproxy"
)

// victimsPerRound is how many objects one run of a race is after.
const victimsPerRound = 250

// recreator creates every victim of a run again, under the same name and matching, and edits some.
type recreator struct {
	*world
	mu  sync.Mutex
	rng *rand.Rand
	// uids are those of the objects that are there by what the recreator knows, by name.
	uids map[string]types.UID
	// mine are the objects that it removed itself, and again those that it created while the run went on.
	mine, again map[types.UID]bool
	edits       int
	background  sync.WaitGroup
}

func (r *recreator) configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: r.namespace, Name: name, Labels: map[string]string{"world": r.name, stateLabel: "old"},
	}}
}

// renew removes the object of the name, if it is there, and creates another.
func (r *recreator) renew(name string) {
	ctx := context.Background()
	r.mu.Lock()
	uid := r.uids[name]
	r.mu.Unlock()
	err := r.user.Delete(ctx, r.configMap(name), client.Preconditions{UID: &uid})
	if err == nil {
		r.mu.Lock()
		r.mine[uid] = true
		r.mu.Unlock()
	} else if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		r.t.Error(err)
	}
	r.add(name)
}

// add creates an object of the name, unless one is there.
func (r *recreator) add(name string) {
	cm := r.configMap(name)
	err := r.user.Create(context.Background(), cm)
	if apierrors.IsAlreadyExists(err) {
		return
	}
	if err != nil {
		r.t.Error(err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.uids[name], r.again[cm.UID] = cm.UID, true
}

// edit changes the object of the name, so that it still matches.
func (r *recreator) edit(name string) {
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"data":{"n":"%d"}}`, serial.Add(1)))
	err := r.user.Patch(context.Background(), r.configMap(name), patch)
	if client.IgnoreNotFound(err) != nil {
		r.t.Error(err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.edits++
}

// race does something to the object of a request of the operator: before it goes on, meanwhile, or after it was answered.
func (r *recreator) race(c *faultproxy.Call) faultproxy.Fault {
	if c.Resource != "configmaps" || c.Namespace != r.namespace || c.Name == "" {
		return nil
	}
	name := c.Name
	r.mu.Lock()
	choice := r.rng.IntN(5)
	r.mu.Unlock()
	switch choice {
	case 0:
		r.renew(name)
	case 1:
		r.background.Go(func() { r.renew(name) })
	case 2: // and then again before it is judged again
		r.edit(name)
		return after(func() { r.renew(name) })
	case 3:
		r.edit(name)
	case 4:
		return after(func() { r.add(name) })
	}
	return nil
}

// after does something between the API server's answer and its arrival.
func after(do func()) faultproxy.Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(w, r)
		do()
	}
}

// Somebody creates every victim again under the same name, all the while: no new object is ever deleted.
func TestRecreateRaces(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	won, edits := 0, 0
	outcomes := map[string]int{}
	for round := uint64(0); won < *races && !t.Failed(); round++ {
		w := newWorld(t, s, s.newNamespace(t), v1alpha1.ActionDelete)
		r := &recreator{
			world: w, rng: rand.New(rand.NewPCG(*faultSeed, round)), uids: map[string]types.UID{}, mine: map[types.UID]bool{}, again: map[types.UID]bool{},
		}
		r.round(t, outcomes)
		won += len(r.again)
		edits += r.edits
	}
	t.Logf("%d objects were created again and %d edited while runs deleted, with -fault-seed=%d; the outcomes:%s", won, edits, *faultSeed, lines(outcomes))
}

func (r *recreator) round(t *testing.T, outcomes map[string]int) {
	t.Helper()
	for i := range victimsPerRound {
		r.add(fmt.Sprintf("%s-%d", r.name, i))
	}
	before := r.again
	r.again = map[types.UID]bool{}
	runner, proxy := r.newRunner(t)
	proxy.Handle(r.race)
	_, _ = runner.Run(t.Context(), r.request())
	proxy.Wait()
	r.background.Wait()
	seen, err := r.observe(t.Context())
	must(t, err)
	if len(seen.Records) != 1 || len(seen.Records[0].Intents) != victimsPerRound || !seen.Records[0].Run.Status.Phase.Final() {
		t.Fatalf("the run came to no end, or did not mean all: %s", phase(seen))
	}
	for uid := range r.again {
		if seen.After[uid] == nil && !r.mine[uid] {
			t.Errorf("the object %s was created while the run went on, and is gone", uid)
		}
	}
	record := &seen.Records[0]
	for i, intent := range record.Intents {
		if !before[intent.UID] {
			t.Errorf("the run intended %s, which was not there before", intent.UID)
		}
		outcome := record.Outcomes[i].Outcome
		outcomes[string(outcome)]++
		if !r.mine[intent.UID] && seen.After[intent.UID] == nil && !record.admits(record.Outcomes[i], false) && outcome != v1alpha1.OutcomeReplaced {
			t.Errorf("%s is gone, and the outcome is %s (%s)", intent.Name, outcome, record.Outcomes[i].Reason)
		}
	}
	for _, err := range Check(seen) {
		t.Error(err)
	}
}
