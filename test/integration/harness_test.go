// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tries the operator's parts together on a real API server, without a manager: runs are carried out and
// Cleaners reconciled by calling them, and time is a fake clock that tests step.
package integration

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/controllers"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/executor"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	schemas "github.com/kubecleaner/kubecleaner/pkg/schema"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/selector/broadcast"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
	"github.com/kubecleaner/kubecleaner/pkg/transport"
	"github.com/kubecleaner/kubecleaner/test/testenv"
)

const operatorNamespace = "projectsveltos"

var (
	env *testenv.Env
	// child is the command that starts a process for scripts.
	child  []string
	serial atomic.Int64
)

func TestMain(m *testing.M) {
	command, remove, err := testenv.BuildScriptChild(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	child = command
	code := testenv.Main(m, &env, testenv.Options{})
	remove()
	os.Exit(code)
}

// bench is the operator on a workbench: all its parts, a user's client beside them, and a log of the operator's requests.
type bench struct {
	t *testing.T
	// user is somebody with kubectl; live is the operator's client.
	user, live client.Client
	clock      *testingclock.FakeClock
	requests   *requestLog
	runner     *run.Runner
	reconciler *controllers.CleanerReconciler
	executor   *controllers.Executor
	events     *events.FakeRecorder
	finished   chan string
	// shown asks which schemas the API server shows, and showing is its clock.
	shown   *schemas.Served
	showing *testingclock.FakeClock
	// accounts asks as whom the operator may act, and woken are the Cleaners that it wants looked at.
	accounts *controllers.AccountWatcher
	woken    []string
	// namespace is the test's own.
	namespace string
}

// options of a bench.
type option func(*settings)

type settings struct {
	config *rest.Config
	// off says whether acting is off. It is on unless a test says otherwise.
	off *stop.Switch
	// requireAccount refuses Cleaners without a ServiceAccount.
	requireAccount bool
	// old makes the API server one of before the large pages.
	old bool
	// memory is how much the scripts of a run may use, in bytes, when it begins for the first time. Zero is as much as any may.
	memory int64
	// gate, if any, is called at the beginning of each run.
	gate func(ctx context.Context, request executor.Request)
}

func newBench(t *testing.T, opts ...option) *bench {
	t.Helper()
	s := settings{config: env.Config, off: stop.Fixed("")}
	for _, o := range opts {
		o(&s)
	}
	scheme := runtime.NewScheme()
	must(t, clientgoscheme.AddToScheme(scheme))
	must(t, v1alpha1.AddToScheme(scheme))
	must(t, apiextensionsv1.AddToScheme(scheme)) // while nothing else uses it yet
	b := &bench{t: t, requests: &requestLog{old: s.old}, finished: make(chan string, 1000), events: events.NewFakeRecorder(1000)}
	b.clock = testingclock.NewFakeClock(time.Now())
	config := rest.CopyConfig(s.config)
	config.Wrap(b.requests.wrap)
	var err error
	b.user, err = client.New(env.Config, client.Options{Scheme: scheme})
	must(t, err)
	b.live, err = client.New(config, client.Options{Scheme: scheme})
	must(t, err)
	plain := rest.CopyConfig(config)
	plain.GroupVersion = &schema.GroupVersion{}
	plain.NegotiatedSerializer = serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion()
	b.wire(plain, s)
	b.namespace = b.newNamespace(nil)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: operatorNamespace}}
	must(t, ignoreExists(b.user.Create(t.Context(), ns)))
	return b
}

func (b *bench) wire(plain *rest.Config, s settings) {
	connections, err := rest.HTTPClientFor(plain)
	must(b.t, err)
	raw, err := rest.RESTClientForConfigAndClient(plain, connections)
	must(b.t, err)
	served, err := schemas.NewServed(plain, connections, b.clock)
	must(b.t, err)
	b.showing = testingclock.NewFakeClock(b.clock.Now())
	b.shown, err = schemas.NewServed(plain, connections, b.showing)
	must(b.t, err)
	book := journal.New(b.live, operatorNamespace, b.clock)
	facts := metrics.New(prometheus.NewRegistry())
	b.runner = run.New(run.Config{
		Client: b.live, Reader: selector.NewReader(raw, b.clock), Actor: action.NewActor(raw), Journal: book, Metrics: facts,
		As: transport.Impersonate(plain, connections), RequireServiceAccount: s.requireAccount, Namespace: operatorNamespace, Lists: broadcast.New(clock.RealClock{}), Schemas: &cel.Schemas{},
		Event:      notify.Event(b.live, b.clock, "kubecleaner", "kubecleaner-test"),
		Protection: guard.Protection{Operator: operatorNamespace, Namespaces: []string{"kube-system"}},
		Scripts:    newScripts(b.t),
		Clock:      b.clock, CheckSchema: served.Check, Stop: s.off, Stopping: executor.ErrStopping,
	})
	b.executor = executor.New(executor.Rooms{{Workers: 4, Weight: 1 << 30}}, func(ctx context.Context, request executor.Request) (controllers.Attempt, *executor.Request) {
		if s.gate != nil {
			s.gate(ctx, request)
		}
		trigger := v1alpha1.TriggerSchedule
		if request.Manual {
			trigger = v1alpha1.TriggerManual
		}
		outgrown := false
		_, err := b.runner.Run(ctx, run.Request{
			Cleaner: request.Name, UID: types.UID(request.Owner), Nominal: request.Nominal, Trigger: trigger, WhileSuspended: request.WhileSuspended,
			Spec: request.Spec, Account: request.Account,
			Memory: request.Weight, Outgrown: func() { outgrown = true },
		})
		if err != nil {
			return controllers.Attempt{Err: err}, nil
		}
		if outgrown {
			request.Weight = 0
			return controllers.Attempt{Recorded: true}, &request
		}
		return controllers.Attempt{Recorded: true}, nil
	}, func(name string) { b.finished <- name }, b.clock)
	b.reconciler = &controllers.CleanerReconciler{
		Client: b.live, Journal: book, Metrics: facts, Events: b.events, Clock: b.clock,
		Validate: func(ctx context.Context, c *v1alpha1.Cleaner) (string, string, error) {
			return b.runner.Check.Validate(ctx, c)
		},
		Cleaners: func(context.Context) ([]v1alpha1.Cleaner, error) { return nil, nil }, // other tests have some
		Weight:   func(*v1alpha1.Cleaner) int64 { return s.memory }, CheckClock: func() error { return nil }, CheckSchema: served.Check,
		Executor: b.executor, WhyOff: s.off.Why, RequireServiceAccount: s.requireAccount,
	}
	b.accounts = &controllers.AccountWatcher{WithAccount: allCleaners(b.live), MayActAs: b.runner.Check.Identities.MayActAs, Clock: b.clock, Wake: func(name string) { b.woken = append(b.woken, name) }}
	b.reconciler.AccountRefused = b.accounts.Refused
}

// newScripts makes a pool of script children that ends with the test.
func newScripts(t *testing.T) *sandbox.Pool {
	scripts := sandbox.New(sandbox.Config{Command: child, Clock: clock.RealClock{}})
	t.Cleanup(scripts.Close)
	return scripts
}

// oldServer makes the API server one that lists are read from in small pages.
func oldServer(s *settings) { s.old = true }

// startExecutor lets submitted runs go on until the test ends.
func (b *bench) startExecutor() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = b.executor.Start(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	b.t.Cleanup(stop)
	return stop
}

func (b *bench) newNamespace(labels map[string]string) string {
	b.t.Helper()
	name := fmt.Sprintf("test-%d", serial.Add(1))
	must(b.t, b.user.Create(b.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}))
	b.t.Cleanup(func() { // a run with a finding reads the texts of all ConfigMaps, and some are large
		_ = b.user.DeleteAllOf(context.Background(), &corev1.ConfigMap{}, client.InNamespace(name))
	})
	return name
}

// cleaner creates a Cleaner of ConfigMaps in the test's namespace, changed by edit.
func (b *bench) cleaner(action v1alpha1.Action, edit ...func(*v1alpha1.Cleaner)) *v1alpha1.Cleaner {
	b.t.Helper()
	c := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cleaner-%d", serial.Add(1))}}
	c.Spec.Schedule = "0 3 * * *"
	c.Spec.Action = ptr.To(action)
	c.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{
		Version: "v1", Kind: "ConfigMap", Namespace: b.namespace,
		LabelFilters: []v1alpha1.LabelFilter{{Key: "test", Operation: v1alpha1.OperationHas}},
	}}
	for _, e := range edit {
		e(c)
	}
	must(b.t, b.user.Create(b.t.Context(), c))
	b.t.Cleanup(func() { _ = b.user.Delete(context.Background(), c) })
	return c
}

// configMap creates a ConfigMap that the Cleaners of this test select.
func (b *bench) configMap(name string, edit ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	b.t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name, Labels: map[string]string{"test": "x"}}}
	for _, e := range edit {
		e(cm)
	}
	must(b.t, b.user.Create(b.t.Context(), cm))
	return cm
}

// exists reports whether a ConfigMap is there.
func (b *bench) exists(name string) bool {
	b.t.Helper()
	var cm corev1.ConfigMap
	err := b.user.Get(b.t.Context(), client.ObjectKey{Namespace: b.namespace, Name: name}, &cm)
	must(b.t, client.IgnoreNotFound(err))
	return err == nil
}

// run carries out a run of the Cleaner, one second after the last.
func (b *bench) run(c *v1alpha1.Cleaner) *v1alpha1.CleanerRun {
	b.t.Helper()
	b.clock.SetTime(b.clock.Now().Add(time.Second))
	return b.carryOut(b.t.Context(), run.Request{Cleaner: c.Name, Nominal: b.clock.Now().Truncate(time.Second), Trigger: v1alpha1.TriggerSchedule})
}

// carryOut carries out a run, which must have a record.
func (b *bench) carryOut(ctx context.Context, request run.Request) *v1alpha1.CleanerRun {
	b.t.Helper()
	record, err := b.runner.Run(ctx, request)
	if err != nil {
		b.t.Errorf("the run of %s has no record: %v", request.Cleaner, err)
		return &v1alpha1.CleanerRun{}
	}
	return record
}

// wantNoRecord fails the test unless a run cannot begin, for a cause with the text.
func (b *bench) wantNoRecord(request run.Request, text string) {
	b.t.Helper()
	if record, err := b.runner.Run(b.t.Context(), request); record != nil || err == nil || !strings.Contains(err.Error(), text) {
		b.t.Fatalf("the record is %+v, and the error %v, want %q", record, err, text)
	}
}

// reconcile reconciles the Cleaner and returns it as it is then.
func (b *bench) reconcile(c *v1alpha1.Cleaner) *v1alpha1.Cleaner {
	b.t.Helper()
	result, err := b.reconciler.Reconcile(b.t.Context(), request(c.Name))
	must(b.t, err)
	_ = result
	return b.get(c.Name)
}

func (b *bench) get(name string) *v1alpha1.Cleaner {
	b.t.Helper()
	var c v1alpha1.Cleaner
	must(b.t, b.user.Get(b.t.Context(), client.ObjectKey{Name: name}, &c))
	return &c
}

// waitFinished waits for the end of a run of the Cleaner.
func (b *bench) waitFinished(c *v1alpha1.Cleaner) {
	b.t.Helper()
	select {
	case name := <-b.finished:
		if name != c.Name {
			b.t.Fatalf("the run of %s finished, want %s", name, c.Name)
		}
	case <-time.After(patience):
		b.t.Fatalf("the run of %s did not finish", c.Name)
	}
}

// requestLog remembers what the operator asked of the API server, and lets a test meddle.
type requestLog struct {
	// old makes the server say that it is of an older version.
	old bool

	mu      sync.Mutex
	entries []string
	// meddle, if any, may answer in the server's place, or do something before the request goes on.
	meddle func(*http.Request) (*http.Response, error)
}

func (l *requestLog) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		l.mu.Lock()
		l.entries = append(l.entries, r.Method+" "+r.URL.Path)
		meddle := l.meddle
		l.mu.Unlock()
		if l.old && r.URL.Path == "/version" {
			return answer(r, http.StatusOK, []byte(`{"major":"1","minor":"32"}`)), nil
		}
		if meddle != nil {
			if response, err := meddle(r); response != nil || err != nil {
				return response, err
			}
		}
		return next.RoundTrip(r)
	})
}

// count returns how many requests of the method went to paths with the suffix.
func (l *requestLog) count(method, suffix string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, e := range l.entries {
		m, path, _ := strings.Cut(e, " ")
		if m == method && strings.HasSuffix(path, suffix) {
			n++
		}
	}
	return n
}

func (l *requestLog) setMeddle(f func(*http.Request) (*http.Response, error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.meddle = f
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
