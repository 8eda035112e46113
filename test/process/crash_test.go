// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/faultproxy"
	"github.com/kubecleaner/kubecleaner/test/testenv/seed"
)

// crashAll is true when every kill point is to be tried, and not a sample: make crash.
func crashAll() bool { return os.Getenv("CRASH") == "all" }

// killer is a rule of the proxy that kills a manager when its n-th request arrives: before the request reaches the API server, or
// after it was applied, whose answer nobody gets then.
type killer struct {
	n     int
	after bool
	// from begins to count with the call it is true of. Nil begins at once.
	from    func(*faultproxy.Call) bool
	manager *manager

	counting atomic.Bool
	seen     atomic.Int64
	// spent is true when it has killed, or may not any more.
	spent  atomic.Bool
	killed chan struct{}
}

func (k *killer) rule(call *faultproxy.Call) faultproxy.Fault {
	if !k.counting.Load() && k.from != nil && !k.from(call) {
		return nil
	}
	k.counting.Store(true)
	if k.seen.Add(1)-1 != int64(k.n) || !k.spent.CompareAndSwap(false, true) {
		return nil
	}
	return func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
		if k.after {
			next.ServeHTTP(httptest.NewRecorder(), r.Clone(context.WithoutCancel(r.Context())))
		}
		_ = k.manager.cmd.Process.Kill()
		<-k.manager.exited
		close(k.killed)
		panic(http.ErrAbortHandler) //nolint:forbidigo // so a handler breaks its connection
	}
}

func (k *killer) isDone() bool {
	select {
	case <-k.killed:
		return true
	default:
		return false
	}
}

// never counts, and kills nothing.
const never = -1

// crasher lets managers work through a proxy, one after the other.
type crasher struct {
	t          *testing.T
	client     client.Client
	proxy      *faultproxy.Proxy
	kubeconfig string
	manager    *manager
	old        []*manager
	// kills is how many managers were killed in the middle of a run, and missed how often the run was over before.
	kills, missed int
}

func newCrasher(t *testing.T) *crasher {
	t.Helper()
	c := &crasher{t: t, client: newClient(t), proxy: faultproxy.Start(t, env.Config)}
	c.kubeconfig = c.proxy.Kubeconfig(t)
	c.launch()
	return c
}

func (c *crasher) launch() {
	c.t.Helper()
	c.manager = launch(c.t, c.kubeconfig, "--leader-elect=false")
}

// arm makes the proxy kill the manager that runs now, and returns the killer.
func (c *crasher) arm(n int, after bool, from func(*faultproxy.Call) bool) *killer {
	k := &killer{n: n, after: after, from: from, manager: c.manager, killed: make(chan struct{})}
	c.proxy.Handle(k.rule)
	return k
}

// wait waits until the killer has killed its manager, or the run is over.
func (c *crasher) wait(k *killer, w *world) {
	c.t.Helper()
	eventually(c.t, "the manager is killed or the run is over", func(ctx context.Context) (bool, error) {
		if k.isDone() {
			return true, nil
		}
		return w.isOver(ctx)
	})
	if k.spent.CompareAndSwap(false, true) {
		c.missed++
		return
	}
	<-k.killed
	c.proxy.Handle(nil)
	c.kills++
	c.old = append(c.old, k.manager)
	c.launch()
}

// finish waits until the run is over, and checks what there is then.
func (c *crasher) finish(w *world, how string) *v1alpha1.CleanerRun {
	c.t.Helper()
	eventually(c.t, how+": the run is over", w.isOver)
	run := w.check(how)
	w.remove()
	for _, m := range c.old {
		m.log.reset()
	}
	c.old = nil
	return run
}

// requests is how many requests a run takes, from the creation of its Cleaner on.
func (c *crasher) requests(action v1alpha1.Action, objects int) int {
	c.t.Helper()
	w := newWorld(c.t, c.client, action, objects)
	eventually(c.t, "the manager is ready", func(context.Context) (bool, error) { return c.manager.probe("/readyz") == http.StatusOK, nil })
	counter := c.arm(never, false, nil)
	w.start()
	c.finish(w, "nobody was killed")
	c.proxy.Handle(nil)
	return int(counter.seen.Load())
}

// crash kills the manager in the middle of a run.
func (c *crasher) crash(action v1alpha1.Action, objects, n int, after bool) {
	c.t.Helper()
	w := newWorld(c.t, c.client, action, objects)
	k := c.arm(n, after, nil)
	w.start()
	c.wait(k, w)
	c.finish(w, fmt.Sprintf("%s of %d, killed at request %d (applied: %v)", action, objects, n, after))
}

// crashTwice kills the manager in the middle of a run and, while it brings that to its end, the next one too.
func (c *crasher) crashTwice(action v1alpha1.Action, objects, first, second int, after bool) {
	c.t.Helper()
	w := newWorld(c.t, c.client, action, objects)
	k := c.arm(first, !after, nil)
	w.start()
	c.wait(k, w)
	k = c.arm(second, after, func(call *faultproxy.Call) bool { return call.Resource == "cleanerruns" && call.Name != "" })
	c.wait(k, w)
	c.finish(w, fmt.Sprintf("%s of %d, killed at request %d (applied: %v) and at request %d of the takeover (applied: %v)", action, objects, first, !after, second, after))
}

func (c *crasher) summarize(what string, start time.Time) {
	c.t.Helper()
	c.t.Logf(what+" (SEED=%d chose where); %d runs were over before; I1-I5 hold after each; in %s", c.kills, seed.New(), c.missed, time.Since(start).Round(time.Second))
	if c.kills <= c.missed {
		c.t.Fatal("most runs were over before anything was killed: the test means nothing")
	}
}

// sample are the places to kill at, of n: all of them or so many, evenly, from where the seed says.
func sample(n, many int) []int {
	step, first := 1, 0
	if !crashAll() {
		step = max(1, n/many)
		first = int(seed.New() % uint64(step))
	}
	var places []int
	for i := first; i < n; i += step {
		places = append(places, i)
	}
	return places
}

// sides are before and after the request is applied: both, or one of them in turn.
func sides(place int) []bool {
	if crashAll() {
		return []bool{false, true}
	}
	return []bool{place%2 == 1}
}

// TestCrash kills the manager at its requests, one after the other, and lets the next one find out what became of the run. The run
// comes to its end, all that was to be touched is, once, nothing else is, and the record lists all of it.
func TestCrash(t *testing.T) {
	start := time.Now()
	c := newCrasher(t)
	for _, s := range []struct {
		action        v1alpha1.Action
		objects, many int
	}{{v1alpha1.ActionDelete, 100, 8}, {v1alpha1.ActionTransform, 40, 4}} {
		requests := c.requests(s.action, s.objects)
		for _, n := range sample(requests, s.many) {
			for _, after := range sides(n) {
				c.crash(s.action, s.objects, n, after)
			}
		}
		t.Logf("%s of %d objects: %d requests", s.action, s.objects, requests)
	}
	c.summarize("killed %d managers in the middle of a run", start)
}

// TestCrashInTheTakeover kills the second manager as well.
func TestCrashInTheTakeover(t *testing.T) {
	const objects = 100
	start := time.Now()
	c := newCrasher(t)
	requests := c.requests(v1alpha1.ActionDelete, objects)
	// A takeover asks what became of each object, and deals with what is left: more requests than the run itself has.
	for _, n := range sample(requests*3/2, 3) {
		for _, after := range sides(n) {
			c.crashTwice(v1alpha1.ActionDelete, objects, requests/4, n, after)
		}
	}
	c.summarize("killed %d managers, every second one in a takeover", start)
}
