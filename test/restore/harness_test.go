// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package restore deletes objects by real runs, on a real API server with its controllers and the garbage collector, and brings
// them back.
package restore

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/run"
	schemas "github.com/kubecleaner/kubecleaner/pkg/schema"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/stop"
	"github.com/kubecleaner/kubecleaner/test/testenv"
)

const operatorNamespace = "projectsveltos"

// labelled is the label by which the Cleaners of these tests find their objects; its value is the test's namespace.
const labelled = "restore-test"

var (
	env    *testenv.Env
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
	log.SetLogger(logr.Discard())
	code := testenv.Main(m, &env, testenv.Options{
		ControllerManager: true, CRDs: []string{filepath.Join("..", "..", "config", "crd", "bases"), filepath.Join("testdata", "crds.yaml")},
	})
	remove()
	os.Exit(code)
}

// bench is an operator, and a user who may do everything, or what a test gives him.
type bench struct {
	t         *testing.T
	user      client.Client
	raw       rest.Interface
	clock     *testingclock.FakeClock
	journal   *journal.Journal
	runner    *run.Runner
	namespace string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, clock: testingclock.NewFakeClock(time.Now()), namespace: fmt.Sprintf("restore-%d", serial.Add(1))}
	b.user, b.raw = clients(t, env.Config)
	scripts := sandbox.New(sandbox.Config{Command: child, Clock: clock.RealClock{}})
	t.Cleanup(scripts.Close)
	b.journal = journal.New(b.user, operatorNamespace, b.clock)
	connections, err := rest.HTTPClientFor(env.Config)
	must(t, err)
	served, err := schemas.NewServed(env.Config, connections, b.clock)
	must(t, err)
	b.runner = run.New(run.Config{
		Client: b.user, Reader: selector.NewReader(b.raw, b.clock), Actor: action.NewActor(b.raw), Journal: b.journal,
		Metrics: metrics.New(prometheus.NewRegistry()), Event: notify.Event(b.user, b.clock, "kubecleaner", "kubecleaner-test"),
		Protection: guard.Protection{Operator: operatorNamespace, Namespaces: []string{"kube-system"}}, Scripts: scripts, Clock: b.clock, CheckSchema: served.Check, Stop: stop.Fixed(""),
	})
	for _, name := range []string{operatorNamespace, b.namespace} {
		err := b.user.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if !apierrors.IsAlreadyExists(err) {
			must(t, err)
		}
	}
	return b
}

func clients(t *testing.T, config *rest.Config) (client.Client, rest.Interface) {
	t.Helper()
	scheme := runtime.NewScheme()
	must(t, clientgoscheme.AddToScheme(scheme))
	must(t, v1alpha1.AddToScheme(scheme))
	typed, err := client.New(config, client.Options{Scheme: scheme})
	must(t, err)
	plain := rest.CopyConfig(config)
	plain.GroupVersion = &schema.GroupVersion{}
	plain.NegotiatedSerializer = serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion()
	raw, err := rest.RESTClientFor(plain)
	must(t, err)
	return typed, raw
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// cleaner creates a Cleaner of the labelled objects of the kinds.
func (b *bench) cleaner(does v1alpha1.Action, kinds []schema.GroupVersionKind, edit ...func(*v1alpha1.Cleaner)) *v1alpha1.Cleaner {
	b.t.Helper()
	c := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cleaner-%d", serial.Add(1))}}
	c.Spec.Schedule, c.Spec.Action = "0 3 * * *", ptr.To(does)
	for _, kind := range kinds {
		c.Spec.ResourcePolicySet.ResourceSelectors = append(c.Spec.ResourcePolicySet.ResourceSelectors, v1alpha1.ResourceSelector{
			Group: kind.Group, Version: kind.Version, Kind: kind.Kind,
			LabelFilters: []v1alpha1.LabelFilter{{Key: labelled, Operation: v1alpha1.OperationEqual, Value: &b.namespace}},
		})
	}
	for _, e := range edit {
		e(c)
	}
	must(b.t, b.user.Create(b.t.Context(), c))
	b.t.Cleanup(func() { _ = b.user.Delete(context.Background(), c) })
	return c
}

// run carries out a run of the Cleaner, one second after the last.
func (b *bench) run(c *v1alpha1.Cleaner) *v1alpha1.CleanerRun {
	b.t.Helper()
	b.clock.SetTime(b.clock.Now().Add(time.Second))
	record, err := b.runner.Run(logr.NewContext(b.t.Context(), logr.Discard()), run.Request{Cleaner: c.Name, Nominal: b.clock.Now().Truncate(time.Second), Trigger: v1alpha1.TriggerSchedule})
	must(b.t, err)
	return record
}

// wantActed fails the test unless the run went well and touched so many objects.
func wantActed(t *testing.T, record *v1alpha1.CleanerRun, n int64) {
	t.Helper()
	if record.Status.Phase != v1alpha1.RunCompleted || record.Status.Acted != n {
		t.Fatalf("the run ended %s with %d acted, want %d: %s\n%+v", record.Status.Phase, record.Status.Acted, n, record.Status.Message, record.Status.Objects)
	}
}

// restorer is one that acts as the user who may do everything.
func (b *bench) restorer() *restore.Restorer { return restore.New(b.raw, journal.NewParts(b.user)) }

// restore brings back the objects of a run.
func (b *bench) restore(record *v1alpha1.CleanerRun, options restore.Options) *restore.Plan {
	b.t.Helper()
	r := b.restorer()
	plan, err := r.Plan(b.t.Context(), record, options)
	must(b.t, err)
	r.Carry(b.t.Context(), plan, restore.Progress{Waiting: func(string) {}, Done: func(*restore.Item) {}})
	return plan
}

// wantResults fails the test unless every item has the result.
func wantResults(t *testing.T, plan *restore.Plan, n int, want restore.Result) {
	t.Helper()
	if len(plan.Items) != n {
		t.Errorf("there are %d items, want %d", len(plan.Items), n)
	}
	for _, item := range plan.Items {
		if item.Result != want {
			t.Errorf("%s is %s (%s), want %s", item, item.Result, item.Reason, want)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// get reads an object as it is now, with exact numbers. Nil when it is not there.
func (b *bench) get(o object.Object) map[string]any {
	b.t.Helper()
	body, err := b.raw.Get().AbsPath(o.Path()).Do(b.t.Context()).Raw()
	if apierrors.IsNotFound(err) {
		return nil
	}
	must(b.t, err)
	value, err := object.Object{Kind: o.Kind, Raw: body}.Value()
	must(b.t, err)
	return value
}

// create creates an object from JSON and returns it as the API server sent it.
func (b *bench) create(kind object.Kind, value map[string]any) object.Object {
	b.t.Helper()
	metadata, _ := value["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	if labels == nil {
		labels = map[string]any{}
		metadata["labels"] = labels
	}
	labels[labelled] = b.namespace
	payload, err := json.Marshal(value)
	must(b.t, err)
	namespace, _ := metadata["namespace"].(string)
	result := b.raw.Post().AbsPath(kind.Path(namespace, "")).SetHeader("Content-Type", "application/json").Body(payload).Do(b.t.Context())
	must(b.t, result.Error())
	body, err := result.Raw()
	must(b.t, err)
	o, err := object.New(kind, body)
	must(b.t, err)
	b.t.Cleanup(func() { b.raw.Delete().AbsPath(o.Path()).Do(context.Background()) })
	return o
}

var configMaps = object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Resource: "configmaps", Namespaced: true}

// configMap creates a ConfigMap that the test's Cleaners find.
func (b *bench) configMap(name string, data map[string]any, edit ...func(metadata map[string]any)) object.Object {
	b.t.Helper()
	metadata := map[string]any{"name": name, "namespace": b.namespace}
	for _, e := range edit {
		e(metadata)
	}
	return b.create(configMaps, map[string]any{"metadata": metadata, "data": data})
}

// gone waits until an object is not there.
func (b *bench) gone(objects ...object.Object) {
	b.t.Helper()
	var left []string
	err := wait.PollUntilContextTimeout(b.t.Context(), 50*time.Millisecond, 3*time.Minute, true, func(context.Context) (bool, error) {
		left = nil
		for _, o := range objects {
			if live := b.get(o); live != nil && live["metadata"].(map[string]any)["uid"] == string(o.UID) {
				left = append(left, o.String())
			}
		}
		return len(left) == 0, nil
	})
	if err != nil {
		b.t.Fatalf("still there: %s", strings.Join(left, ", "))
	}
}

// served waits until the API server serves a kind.
func (b *bench) served(kind object.Kind) {
	b.t.Helper()
	must(b.t, wait.PollUntilContextTimeout(b.t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return b.raw.Get().AbsPath(kind.Path("", "")).Do(ctx).Error() == nil, nil
	}))
}
