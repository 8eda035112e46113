// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/egress"
)

// update writes the golden files anew: go test ./pkg/notify -update. Read what changed before it is committed.
var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// instantClock is a clock on which pauses end at once, and which remembers them.
type instantClock struct {
	clock.RealClock
	mutex  sync.Mutex
	pauses []time.Duration
}

func (c *instantClock) After(pause time.Duration) <-chan time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.pauses = append(c.pauses, pause)
	over := make(chan time.Time, 1)
	over <- time.Time{}
	return over
}

func newTestSender(t *testing.T, authorities *x509.CertPool) (*Sender, *instantClock) {
	t.Helper()
	clk := &instantClock{}
	s := NewSender(authorities, nil, testGuard("127.0.0.1", "localhost"), clk)
	s.timeout, s.dialer.Timeout = time.Minute, time.Minute // a test's machine may be slow
	for _, transport := range []*http.Transport{s.direct, s.proxied} {
		transport.TLSHandshakeTimeout = time.Minute
		t.Cleanup(transport.CloseIdleConnections)
	}
	return s, clk
}

// testGuard is one of a cluster whose API server is elsewhere.
func testGuard(allowed ...string) egress.Guard {
	hosts := egress.Hosts{}
	for _, host := range allowed {
		hosts[host] = true
	}
	return egress.NewGuard(hosts, "https://192.0.2.1:6443").WithLookup(func(ctx context.Context, network, host string) ([]netip.Addr, error) {
		if _, err := netip.ParseAddr(host); err != nil && host != "localhost" {
			return nil, &net.DNSError{Name: host, IsNotFound: true}
		}
		return net.DefaultResolver.LookupNetIP(ctx, network, host)
	}, nil)
}

// received is a request that a service got.
type received struct {
	method, path string
	header       http.Header
	body         []byte
}

// trouble is what a service does instead of answering.
type trouble func(w http.ResponseWriter, r *http.Request)

// loopback is a service's server: it checks what it gets by the service's contract.
type loopback struct {
	*httptest.Server
	mutex    sync.Mutex
	requests []received
	faults   []trouble
}

// serve starts a server of the service. The faults come first, one for each request.
func serve(t *testing.T, s service, faults ...trouble) *loopback {
	t.Helper()
	l := &loopback{faults: faults}
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("%s: reading the request: %v", s.kind, err)
		}
		got := received{r.Method, r.URL.RequestURI(), r.Header, body}
		l.mutex.Lock()
		l.requests = append(l.requests, got)
		var next trouble
		if len(l.faults) > 0 {
			next, l.faults = l.faults[0], l.faults[1:]
		}
		l.mutex.Unlock()
		if next != nil {
			next(w, r)
			return
		}
		status, answer, problem := s.contract(got, l.URL)
		if problem != "" {
			t.Errorf("%s: %s %s: %s", s.kind, got.method, got.path, problem)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}
	l.Server = httptest.NewUnstartedServer(http.HandlerFunc(handler))
	l.Config.ErrorLog = log.New(io.Discard, "", 0)
	l.Start()
	t.Cleanup(l.Close)
	return l
}

func (l *loopback) got() []received {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.requests
}

// settingsOf are the settings of a Secret.
func settingsOf(keys map[string]string) Settings {
	settings := Settings{Secret: "team-a/channel", Keys: map[string][]byte{}}
	for name, value := range keys {
		settings.Keys[name] = []byte(value + "\n") // as kubectl create secret --from-file stores it
	}
	return settings
}

// sample is a run that has something of everything that a message can say.
func sample() Message {
	at := metav1.NewTime(time.Date(2026, 5, 1, 3, 0, 0, 0, time.UTC))
	cleaner := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: "stale-configmaps", Generation: 2}}
	cleaner.Spec.Schedule, cleaner.Status.Schedule, cleaner.Spec.Action = "0 3 * * *", "every day at 03:00 UTC", ptr.To(v1alpha1.ActionDelete)
	run := &v1alpha1.CleanerRun{ObjectMeta: metav1.ObjectMeta{Name: "stale-configmaps-1777604400", UID: "0a1b2c3d-0000-4000-8000-000000000001"}}
	run.Spec = v1alpha1.CleanerRunSpec{Cleaner: "stale-configmaps", NominalTime: at, Trigger: v1alpha1.TriggerSchedule, Action: v1alpha1.ActionDelete, CleanerGeneration: 2}
	run.Status = v1alpha1.CleanerRunStatus{
		Phase: v1alpha1.RunFailed, Reason: v1alpha1.ReasonPartiallyFailed, Duration: &metav1.Duration{Duration: 1200 * time.Millisecond},
		Message: "30 of 90 objects matched; 24 deleted, 1 being deleted, 3 left alone, 1 denied, 1 failed. The first failure was on ConfigMap team-b/old-25: the webhook policy.example.com refused",
		Copies:  &v1alpha1.RunCopies{}, RunCounts: v1alpha1.RunCounts{Considered: 90, Matched: 30, Acted: 25, Skipped: 3, Failed: 2},
	}
	add := func(namespace string, i int, outcome v1alpha1.OutcomeResult, reason, message string) {
		run.Status.Objects = append(run.Status.Objects, v1alpha1.ObjectOutcome{
			APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: fmt.Sprintf("old-%02d", i), UID: types.UID(fmt.Sprintf("uid-%02d", i)),
			Outcome: outcome, Reason: reason, Message: message,
		})
	}
	for i := range 24 {
		add("team-a", i, v1alpha1.OutcomeDeleted, "", "not used by any Pod <since> 30 days & more")
	}
	add("team-a", 24, v1alpha1.OutcomeTerminating, "held by the finalizer example.com/hold", "not used by any Pod")
	add("team-b", 25, v1alpha1.OutcomeDenied, "the webhook policy.example.com refused", "")
	add("team-b", 26, v1alpha1.OutcomeFailed, "the API server did not answer", "")
	for i := range 3 {
		add("kube-system", 27+i, v1alpha1.OutcomeProtected, "the namespace kube-system is protected", "")
	}
	return Message{Cleaner: cleaner, Run: run}
}

// large is a run with more objects than any service takes in a message.
func large() Message {
	message := sample()
	one := message.Run.Status.Objects[0]
	message.Run.Status.Objects = nil
	for i := range 900 {
		o := one
		o.Name = fmt.Sprintf("old-%03d", i)
		message.Run.Status.Objects = append(message.Run.Status.Objects, o)
	}
	message.Run.Status.ObjectsOmitted = 100
	message.Run.Status.Tallies = []v1alpha1.ObjectTally{
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "team-a", Outcome: v1alpha1.OutcomeDeleted, Count: 960},
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "team-b", Outcome: v1alpha1.OutcomeDeleted, Count: 30},
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "team-b", Outcome: v1alpha1.OutcomeTerminating, Count: 10},
	}
	message.Run.Status.RunCounts = v1alpha1.RunCounts{Considered: 5000, Matched: 1000, Acted: 1000}
	message.Run.Status.Phase, message.Run.Status.Reason = v1alpha1.RunCompleted, v1alpha1.ReasonCompleted
	message.Run.Status.Message = "1000 of 5000 objects matched; 990 deleted, 10 being deleted."
	return message
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); go test ./pkg/notify -update writes it anew:\n%s", file, diff)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// authorityOf is the authority of a TLS server of a test.
func authorityOf(server *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool
}
