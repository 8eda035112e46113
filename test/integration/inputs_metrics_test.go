// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/egress"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
)

// metricsServer answers the query up with a number, idle with no series, and others with what they say. It counts what it is asked.
type metricsServer struct {
	*httptest.Server
	asked atomic.Int64
	login atomic.Value
}

func newMetricsServer(t *testing.T, b *bench, allowed ...string) *metricsServer {
	t.Helper()
	p := &metricsServer{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		p.login.Store(r.Header.Get("Authorization"))
		switch r.URL.Query().Get("query") {
		case "up":
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"scalar","result":[1,"3"]}}`)
		case "idle":
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, "canary")
		}
	}))
	t.Cleanup(p.Close)
	hosts := egress.Hosts{}
	must(t, hosts.Set(strings.Join(allowed, ",")))
	b.runner.Check.Queries = inputs.NewMetrics(nil, hosts, env.Config.Host)
	return p
}

func (p *metricsServer) asks(queries ...string) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) {
		selectors(c)[0].MetricSource = &v1alpha1.MetricSource{URL: p.URL}
		for i, query := range queries {
			selectors(c)[0].MetricQueries = append(selectors(c)[0].MetricQueries, v1alpha1.MetricQuery{Name: fmt.Sprintf("q%d", i), Query: query})
		}
	}
}

// Scripts and conditions see the results. Each query is asked once, however many objects there are.
func TestMetricsReachScriptsAndConditions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := newMetricsServer(t, b, "127.0.0.1")
	b.configMap("one")
	b.configMap("two")
	run := b.run(b.cleaner(v1alpha1.ActionScan, p.asks("up", "idle"), evaluate(`before = metrics.q0 -- the chunk sees them as well
function evaluate() return {matching = metrics["q1"] == nil, message = before .. " " .. tostring(metrics.q1)} end`)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "2 of 2 objects matched.")
	if o := run.Status.Objects[0]; o.Message != "3 nil" || p.asked.Load() != 2 {
		t.Fatalf("the message is %q, and %d queries were asked", o.Message, p.asked.Load())
	}
	run = b.run(b.cleaner(v1alpha1.ActionScan, p.asks("up", "idle"), withEvents, conditions(
		expression("metrics.q0 * 2.0 == 6.0 && metrics.q0 > 2 && !('q1' in metrics) && size(events) == 0", ""))))
	wantRun(t, run, v1alpha1.ReasonCompleted, "2 of 2 objects matched.")
}

// A query without a clear answer is not taken for one without a result, and nothing of the answer is shown.
func TestMetricsThatCannotBeReadTouchNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := newMetricsServer(t, b, "127.0.0.1")
	b.configMap("one")
	matching := evaluate(`function evaluate() return {matching = metrics.q1 == nil} end`)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, p.asks("up", "canary"), matching))
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the run could not read or judge everything: resourceSelectors[0]: metricQueries[1] (q1): asking 127.0.0.1:",
		"it answered 503 Service Unavailable")
	b.wantUntouched()
	c := b.cleaner(v1alpha1.ActionDelete, p.asks("up"), matching)
	p.Close()
	run = b.run(c)
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "metricQueries[0] (q0): asking 127.0.0.1:", "it refused the connection")
	b.wantUntouched()
}

// The credentials are read as the run's identity, and never shown.
func TestMetricsWithCredentials(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := newMetricsServer(t, b, "127.0.0.1")
	b.configMap("one")
	login := func(c *v1alpha1.Cleaner) {
		selectors(c)[0].MetricSource.SecretRef = &v1alpha1.SecretRef{Namespace: b.namespace, Name: "login"}
	}
	matching := evaluate(`function evaluate() return {matching = metrics.q0 == 3} end`)
	run := b.run(b.cleaner(v1alpha1.ActionScan, p.asks("up"), login, matching))
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "metricSource.secretRef: there is no Secret "+b.namespace+"/login")
	must(t, b.user.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "login"}, StringData: map[string]string{"username": "canary", "password": "canary2", "other": "canary3"},
	}))
	run = b.run(b.cleaner(v1alpha1.ActionScan, p.asks("up"), login, matching))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 1 object matched.")
	if want := "Basic " + base64.StdEncoding.EncodeToString([]byte("canary:canary2")); p.login.Load() != want {
		t.Fatalf("it was asked with %q", p.login.Load())
	}
	asked := p.asked.Load()
	run = b.run(b.cleaner(v1alpha1.ActionScan, p.asks("up"), login, matching, b.account(may("configmaps", "list"))))
	wantRun(t, run, v1alpha1.ReasonForbidden, "metricSource.secretRef: reading Secret "+b.namespace+"/login: secrets \"login\" is forbidden")
	if p.asked.Load() != asked || strings.Contains(run.Status.Message, "canary") {
		t.Fatalf("the message is %q, asked: %v", run.Status.Message, p.asked.Load() != asked)
	}
}

// A host that is not allowed is said at apply, and nothing is sent there: neither the query nor the Secret.
func TestMetricsOfOtherHostsAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := newMetricsServer(t, b)
	b.configMap("one")
	const want = `resourceSelectors[0].metricSource.url: the host "127.0.0.1" is none that metrics may be read from`
	c := b.reconcile(b.cleaner(v1alpha1.ActionDelete, p.asks("up")))
	wantCondition(t, c, v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidExpression, want)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, p.asks("up")))
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, `metricSource.url: the host "127.0.0.1" is none that metrics may be read from`)
	if p.asked.Load() > 0 {
		t.Fatal("it was asked")
	}
	b.wantUntouched()
}
