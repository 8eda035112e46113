// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/faultproxy"
)

// inTransport is how many requests of a run may be on their way when its operator is stopped: as many as it acts on at once.
const inTransport = 16

// replica is a manager that competes for the lease, with a proxy of its own.
type replica struct {
	*manager
	proxy *faultproxy.Proxy
	// late are the writes that came after the replica was resumed.
	late    atomic.Int64
	resumed atomic.Bool
}

func startReplica(t *testing.T) *replica {
	t.Helper()
	r := &replica{proxy: faultproxy.Start(t, env.Config)}
	r.manager = launch(t, r.proxy.Kubeconfig(t),
		"--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s", "--leader-elect-retry-period=500ms")
	t.Cleanup(func() { _ = r.cmd.Process.Signal(syscall.SIGCONT) }) // else it could not be ended
	eventually(t, "the manager is ready", func(context.Context) (bool, error) { return r.probe("/readyz") == http.StatusOK, nil })
	return r
}

func isWrite(call *faultproxy.Call) bool {
	return call.Verb != "get" && call.Verb != "list" && call.Resource != "leases"
}

// pauseAt makes the replica stop when its n-th write arrives, which is carried out. paused is closed then.
func (r *replica) pauseAt(n int64) (paused chan struct{}) {
	paused = make(chan struct{})
	var writes atomic.Int64
	r.proxy.Handle(func(call *faultproxy.Call) faultproxy.Fault {
		if !isWrite(call) {
			return nil
		}
		if r.resumed.Load() {
			r.late.Add(1)
		}
		if writes.Add(1)-1 != n {
			return nil
		}
		return func(w http.ResponseWriter, request *http.Request, next http.Handler) {
			_ = r.cmd.Process.Signal(syscall.SIGSTOP)
			close(paused)
			next.ServeHTTP(w, request)
		}
	})
	return paused
}

// reach returns a channel that is closed when the replica's n-th write arrives. Each write takes a while, so that others have the
// time to disturb.
func (r *replica) reach(n int64) chan struct{} {
	reached := make(chan struct{})
	var writes atomic.Int64
	r.proxy.Handle(func(call *faultproxy.Call) faultproxy.Fault {
		if !isWrite(call) {
			return nil
		}
		if writes.Add(1)-1 == n {
			close(reached)
		}
		return faultproxy.Delay(20 * time.Millisecond)
	})
	return reached
}

// resume lets the replica go on, and waits for its end, which the loss of the lease brings about.
func (r *replica) resume(t *testing.T, how string) {
	t.Helper()
	r.resumed.Store(true)
	must(t, r.cmd.Process.Signal(syscall.SIGCONT))
	select {
	case <-r.exited:
	case <-time.After(patience):
		t.Fatalf("%s: the old leader did not end", how)
	}
	if code := r.cmd.ProcessState.ExitCode(); code != 1 {
		t.Fatalf("%s: the old leader ended with exit code %d", how, code)
	}
	if late := r.late.Load(); late > inTransport {
		t.Fatalf("%s: the old leader sent %d writes after it was resumed", how, late)
	}
}

// TestPausedLeader stops the leader in the middle of a run until another one has the lease, and lets it go on then. It starts no new
// write, whatever it was doing; the other one brings the run to its end.
func TestPausedLeader(t *testing.T) {
	const objects = 100
	start, cycles, late := time.Now(), 2, int64(0)
	if crashAll() {
		cycles = 20
	}
	c := newClient(t)
	leader := startReplica(t)
	eventually(t, "the first manager leads", func(ctx context.Context) (bool, error) {
		var lease leaseHolder
		err := lease.read(ctx, c)
		return lease.holder != "", client.IgnoreNotFound(err)
	})
	for i := range cycles {
		standby := startReplica(t)
		// From the first writes of the run on, and evenly over its deletes.
		place := int64(2 + i*objects/cycles)
		how := fmt.Sprintf("cycle %d, paused at write %d", i, place)
		w := newWorld(t, c, v1alpha1.ActionDelete, objects)
		paused := leader.pauseAt(place)
		// Resumed when the other one takes the run over, while it acts, or when all is over.
		reached := standby.reach(int64([]int{0, 5, 30}[i%3]))
		w.start()
		select {
		case <-paused:
		case <-time.After(patience):
			t.Fatalf("%s: the leader does not come that far", how)
		}
		if i%4 == 3 {
			eventually(t, how+": the run is over", w.isOver)
		} else {
			eventually(t, how+": the other one works", func(ctx context.Context) (bool, error) {
				select {
				case <-reached:
					return true, nil
				default:
					return w.isOver(ctx)
				}
			})
		}
		leader.resume(t, how)
		eventually(t, how+": the run is over", w.isOver)
		w.check(how)
		w.remove()
		late += leader.late.Load()
		leader.log.reset()
		standby.proxy.Handle(nil)
		leader = standby
	}
	t.Logf("paused %d leaders past their lease; they sent %d writes after that in all; in %s", cycles, late, time.Since(start).Round(time.Second))
}
