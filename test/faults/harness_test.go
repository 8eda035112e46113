// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	ctrl "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	schemas "github.com/kubecleaner/kubecleaner/pkg/schema"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
	"github.com/kubecleaner/kubecleaner/pkg/transport"
	"github.com/kubecleaner/kubecleaner/test/faultproxy"
	"github.com/kubecleaner/kubecleaner/test/testenv"
	"github.com/kubecleaner/kubecleaner/test/testenv/seed"
)

const (
	operatorNamespace = "projectsveltos"
	// workers is how many runs go on at once: most of their time they wait for something that was broken on purpose.
	workers = 32
)

var (
	env *testenv.Env
	// child is the command that starts a process for scripts.
	child  []string
	serial atomic.Int64

	faultRuns = flag.Int("fault-runs", 100, "how many fault runs")
	faultSeed = flag.Uint64("fault-seed", seed.New(), "what the choice of fault runs and races begins with; without it, SEED")
	races     = flag.Int("races", 300, "how many races against somebody who creates objects again")
	partial   = flag.Int("partial", 30, "how many runs with a partial view; 0 means all")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(workers)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	klog.SetLogger(logr.Discard()) // of faults that are meant
	ctrl.SetLogger(logr.Discard())
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

// site is what the runs of a test share.
type site struct {
	scheme  *runtime.Scheme
	mapper  meta.RESTMapper
	user    client.Client
	scripts *sandbox.Pool
	clock   *testingclock.FakeClock
	// unclear are the objects of which an operator may not know that it touched them, by kind of resource, namespace and name.
	unclear sync.Map
	// running are the operators, dead ones too.
	running sync.WaitGroup
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{scheme: runtime.NewScheme(), clock: testingclock.NewFakeClock(time.Now())}
	must(t, clientgoscheme.AddToScheme(s.scheme))
	must(t, v1alpha1.AddToScheme(s.scheme))
	web, err := rest.HTTPClientFor(env.Config)
	must(t, err)
	s.mapper, err = apiutil.NewDynamicRESTMapper(env.Config, web)
	must(t, err)
	s.user, err = client.New(env.Config, client.Options{Scheme: s.scheme, Mapper: s.mapper})
	must(t, err)
	s.scripts = sandbox.New(sandbox.Config{Command: child, Clock: clock.RealClock{}})
	t.Cleanup(func() { s.running.Wait(); s.scripts.Close() })
	err = s.user.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: operatorNamespace}})
	must(t, client.IgnoreAlreadyExists(err))
	return s
}

// newNamespace makes a namespace for tests.
func (s *site) newNamespace(t *testing.T) string {
	t.Helper()
	name := fmt.Sprintf("faults-%d", serial.Add(1))
	must(t, s.user.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	return name
}

// newRunner is an operator that has just started, behind a proxy of its own.
func (s *site) newRunner(t *testing.T) (*run.Runner, *faultproxy.Proxy) {
	t.Helper()
	proxy := faultproxy.Start(t, env.Config)
	proxy.Watch(func(c *faultproxy.Call, tampered bool) {
		if tampered {
			s.mayNotLearn(c)
		}
	})
	config := proxy.Config()
	config.QPS = -1
	config.Wrap(transport.RefuseRedirects)
	live, err := client.New(config, client.Options{Scheme: s.scheme, Mapper: s.mapper})
	must(t, err)
	plain := rest.CopyConfig(config)
	plain.GroupVersion = &schema.GroupVersion{}
	plain.NegotiatedSerializer = serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion()
	plain.ContentType, plain.AcceptContentTypes = "application/json", "application/json"
	connections, err := rest.HTTPClientFor(plain)
	must(t, err)
	raw, err := rest.RESTClientForConfigAndClient(plain, connections)
	must(t, err)
	served, err := schemas.NewServed(plain, connections, s.clock)
	must(t, err)
	return run.New(run.Config{
		Client: live, Reader: selector.NewReader(raw, s.clock), Actor: action.NewActor(raw),
		Journal: journal.New(live, operatorNamespace, s.clock), Metrics: metrics.New(prometheus.NewRegistry()),
		Event:      notify.Event(live, s.clock, "kubecleaner", "kubecleaner-test"),
		Protection: guard.Protection{Operator: operatorNamespace},
		Scripts:    s.scripts, Clock: s.clock, CheckSchema: served.Check, Stop: stop.Fixed(""), Stopping: errors.New("the operator stops"),
	}), proxy
}

// mayNotLearn notes that whoever changed an object, or looks at what became of it, may never learn that.
func (s *site) mayNotLearn(c *faultproxy.Call) {
	if c.Changes() || c.Verb == "get" && c.Name != "" {
		s.unclear.Store([3]string{c.Resource, c.Namespace, c.Name}, true)
	}
}

// isUnclear is the World's Unclear.
func (s *site) isUnclear(o *unstructured.Unstructured) bool {
	_, unclear := s.unclear.Load([3]string{strings.ToLower(o.GetKind()) + "s", o.GetNamespace(), o.GetName()})
	return unclear
}

// inParallel tries each case in a test of its name, some at a time, and then calls done.
func inParallel[T fmt.Stringer](t *testing.T, s *site, cases []T, try func(t *testing.T, namespace string, c T), done func()) {
	t.Helper()
	t.Cleanup(done) // the parallel tests go on when this function has returned
	namespaces := make(chan string, workers)
	for range workers {
		namespaces <- s.newNamespace(t)
	}
	for _, c := range cases {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			namespace := <-namespaces
			defer func() { namespaces <- namespace }()
			try(t, namespace, c)
		})
	}
}

// random is a source that begins with a seed.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// calls counts what faults concern, from when on a rule is in place.
type calls struct {
	mu sync.Mutex
	n  map[string]int
}

// next returns how many calls with the key there were before.
func (c *calls) next(key string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[key]++
	return c.n[key] - 1
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
