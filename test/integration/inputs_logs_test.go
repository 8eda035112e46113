// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// kubelet is a node whose kubelet is a server of the test: the API server itself asks it for logs.
type kubelet struct {
	*bench
	node  string
	mu    sync.Mutex
	asked []string
	// logs are by pod/container, previous ones by pod/container/previous. What is not there is a fault.
	logs map[string]http.HandlerFunc
}

func newKubelet(t *testing.T) *kubelet {
	t.Helper()
	k := &kubelet{bench: newBench(t), node: fmt.Sprintf("node-%d", serial.Add(1)), logs: map[string]http.HandlerFunc{}}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(r.URL.Path, "/") // /containerLogs/NAMESPACE/POD/CONTAINER
		name := strings.Join(parts[3:], "/")
		if r.URL.Query().Get("previous") == "true" {
			name += "/previous"
		}
		k.mu.Lock()
		k.asked = append(k.asked, name)
		answer := k.logs[name]
		k.mu.Unlock()
		if answer == nil {
			answer = replies(http.StatusInternalServerError, "no such log: "+name)
		}
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	must(t, err)
	port, err := strconv.ParseInt(at.Port(), 10, 32)
	must(t, err)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: k.node}}
	must(t, k.user.Create(t.Context(), node))
	t.Cleanup(func() { _ = k.user.Delete(context.Background(), node) })
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: at.Hostname()}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(port)
	must(t, k.user.Status().Update(t.Context(), node))
	return k
}

func replies(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, text)
	}
}

// lines answers as a kubelet: the last lines, and of them the first bytes.
func lines(all ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		tail, _ := strconv.Atoi(r.URL.Query().Get("tailLines"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limitBytes"))
		text := strings.Join(all[max(0, len(all)-tail):], "\n") + "\n"
		fmt.Fprint(w, text[:min(limit, len(text))])
	}
}

// pod creates a Pod on the node, with the containers and one restart of each.
func (k *kubelet) pod(name string, containers ...string) {
	k.t.Helper()
	k.restarted(1, name, containers...)
}

// restarted creates a Pod whose containers have restarted so often.
func (k *kubelet) restarted(times int32, name string, containers ...string) {
	k.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: k.namespace, Name: name, Labels: map[string]string{"test": "x"}}, Spec: corev1.PodSpec{NodeName: k.node}}
	for _, container := range containers {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: container, Image: "example.com/x"})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: container, RestartCount: times})
	}
	status := pod.Status
	must(k.t, k.user.Create(k.t.Context(), pod))
	pod.Status = status
	must(k.t, k.user.Status().Update(k.t.Context(), pod))
}

func (k *kubelet) podNamed(name string) *corev1.Pod {
	k.t.Helper()
	pod := &corev1.Pod{}
	must(k.t, k.user.Get(k.t.Context(), client.ObjectKey{Namespace: k.namespace, Name: name}, pod))
	return pod
}

func (k *kubelet) asks() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.asked, " ")
}

func logsOf(source v1alpha1.LogSource) func(*v1alpha1.Cleaner) {
	return func(c *v1alpha1.Cleaner) { selectors(c)[0].Kind, selectors(c)[0].LogSource = "Pod", &source }
}

func messagesOf(run *v1alpha1.CleanerRun) map[string]string {
	messages := map[string]string{}
	for _, o := range run.Status.Objects {
		messages[o.Name] = o.Message
	}
	return messages
}

// Scripts see the logs of the Pods that the cheaper parts of the selector let through, and no others are read.
func TestLogsReachScripts(t *testing.T) {
	t.Parallel()
	k := newKubelet(t)
	k.pod("one", "app")
	k.pod("two", "web", "app")
	k.pod("other", "app")
	k.logs["one/app"], k.logs["one/app/previous"] = lines("a", "b", "c"), lines("p")
	k.logs["two/app"], k.logs["two/web"] = lines("x"), lines("y")
	k.logs["two/app/previous"] = replies(http.StatusOK, "")
	k.logs["two/web/previous"] = lines("q")
	run := k.run(k.cleaner(v1alpha1.ActionScan, logsOf(v1alpha1.LogSource{TailLines: ptr.To(int64(2)), Previous: ptr.To(true)}),
		conditions(expression("object.metadata.name != 'other'", "")), evaluate(`seen = logs -- the chunk sees them as well
function evaluate()
  return {matching = true, message = seen .. "|" .. logsPrevious .. "|" .. (logsByContainer.app or "") .. "|" .. tostring(logsPreviousByContainer.web)}
end`)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "2 of 3 objects matched.")
	messages := messagesOf(run)
	if messages["one"] != "b c |p |b c |nil" || messages["two"] != "==> app <== x ==> web <== y |==> app <== ==> web <== q |x |q " {
		t.Fatalf("the messages are %q", messages)
	}
	if strings.Contains(k.asks(), "other") {
		t.Fatalf("it asked for %s", k.asks())
	}
}

// Conditions that look at logs are asked last. A container that has not started has an empty log.
func TestLogsReachConditions(t *testing.T) {
	t.Parallel()
	k := newKubelet(t)
	for _, name := range []string{"broken", "fine", "other"} {
		k.pod(name, "app")
	}
	k.restarted(0, "starting", "app")
	k.logs["broken/app"], k.logs["fine/app"] = lines("panic: out of luck"), lines("all is well")
	k.logs["starting/app"] = replies(http.StatusBadRequest, `container "app" in pod "starting" is waiting to start: ContainerCreating`)
	late := expression("logs.contains('panic: ') || logs == ''", "it says why")
	early := expression("object.metadata.name != 'other'", "is not the other one")
	early.Name = "early"
	run := k.run(k.cleaner(v1alpha1.ActionScan, logsOf(v1alpha1.LogSource{Containers: []string{"app"}}), conditions(late, early)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "2 of 4 objects matched.")
	if got := messagesOf(run); got["broken"] != "is not the other one; it says why" || got["starting"] == "" || strings.Contains(k.asks(), "other") {
		t.Fatalf("the messages are %q, it asked for %s", got, k.asks())
	}
}

// Many Pods keep their order and their own logs. Of long logs, the newest lines are read.
func TestLogsOfManyPods(t *testing.T) {
	t.Parallel()
	k := newKubelet(t)
	const n = 40
	for i := range n {
		name := fmt.Sprintf("pod-%02d", i)
		k.pod(name, "app")
		k.logs[name+"/app"] = lines(strings.Repeat("old", 20_000), strings.Repeat("x", 10_000), "newest of "+name)
	}
	run := k.run(k.cleaner(v1alpha1.ActionScan, logsOf(v1alpha1.LogSource{}), evaluate(
		`function evaluate() return {matching = true, message = #logs .. " " .. string.match(logs, "newest of .*")} end`)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "40 of 40 objects matched.")
	for i, o := range run.Status.Objects {
		// All three lines are too long together, and so are 25 and 12 and 6 and 3 of them; the last one is not.
		if want := fmt.Sprintf("17 newest of pod-%02d ", i); o.Message != want {
			t.Fatalf("object %d says %q, want %q", i, o.Message, want)
		}
	}
}

// A log that cannot be read is not taken for an empty one. The others are judged, and nothing is touched.
func TestUnreadableLogsTouchNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		reason string
		want   string
	}{
		"a fault":       {replies(http.StatusInternalServerError, "broken"), v1alpha1.ReasonViewIncomplete, "logSource: reading the log of container app: "},
		"unknown Pod":   {replies(http.StatusNotFound, "pod does not exist"), v1alpha1.ReasonViewIncomplete, "logSource: reading the log of container app: "},
		"a bad answer":  {replies(http.StatusBadRequest, `container "app" in pod "bad" is not available`), v1alpha1.ReasonViewIncomplete, "is not available"},
		"lost":          {replies(http.StatusOK, "unable to retrieve container logs for containerd://4f3c2d1e"), v1alpha1.ReasonViewIncomplete, "its node does not have this log any more"},
		"lost, waiting": {replies(http.StatusBadRequest, `container "app" in pod "bad" is waiting to start: CrashLoopBackOff`), v1alpha1.ReasonViewIncomplete, "is waiting to start"},
		"lost, earlier": {replies(http.StatusBadRequest, `previous terminated container "app" in pod "bad" not found`), v1alpha1.ReasonViewIncomplete, "previous terminated container"},
		"cut":           {lines("beginning"), v1alpha1.ReasonViewIncomplete, "logSource: reading the log of container app: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKubelet(t)
			k.pod("bad", "app")
			k.pod("good", "app")
			k.logs["bad/app"], k.logs["good/app"] = test.answer, lines()
			if name == "cut" {
				k.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
					if !strings.HasSuffix(r.URL.Path, "/pods/bad/log") {
						return nil, nil
					}
					half := answer(r, http.StatusOK, nil)
					half.ContentLength, half.Body = -1, io.NopCloser(io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(io.ErrUnexpectedEOF)))
					return half, nil
				})
			}
			run := k.run(k.cleaner(v1alpha1.ActionDelete, logsOf(v1alpha1.LogSource{}), evaluate(`function evaluate() return {matching = #logs < 2} end`)))
			wantRun(t, run, test.reason, "Nothing was touched, because the run could not read or judge everything: resourceSelectors[0]: Pod "+k.namespace+"/bad (1 of 2 objects could not be judged): ", test.want)
			wantOutcome(t, run, "bad", v1alpha1.OutcomeNotEvaluated)
			wantOutcome(t, run, "good", v1alpha1.OutcomeNotActed)
			k.wantUntouched()
		})
	}
}

// The right to read logs is one of its own.
func TestLogsNeedARight(t *testing.T) {
	t.Parallel()
	k := newKubelet(t)
	k.pod("one", "app")
	k.logs["one/app"] = lines("x")
	run := k.run(k.cleaner(v1alpha1.ActionScan, logsOf(v1alpha1.LogSource{}), k.account(may("pods", "list", "get"))))
	wantRun(t, run, v1alpha1.ReasonForbidden, `pods "one" is forbidden: User "`+k.accountName()+`" cannot get resource "pods/log"`)
	if k.asks() != "" {
		t.Fatalf("it asked for %s", k.asks())
	}
}

// A Pod that is gone when its logs are read does not match, and keeps nobody from anything. One that has changed since it was judged
// is judged again by its logs of then.
func TestLogsOfPodsThatChange(t *testing.T) {
	t.Parallel()
	k := newKubelet(t)
	for _, name := range []string{"gone", "used", "unused"} {
		k.pod(name, "app")
		k.logs[name+"/app"] = lines("idle")
	}
	vanish := sync.OnceFunc(func() {
		must(t, k.user.Delete(t.Context(), k.podNamed("gone"), client.GracePeriodSeconds(0)))
	})
	wake := sync.OnceFunc(func() {
		k.mu.Lock()
		k.logs["used/app"] = lines("busy")
		k.mu.Unlock()
		pod := k.podNamed("used")
		pod.Labels["changed"] = "yes"
		must(t, k.user.Update(t.Context(), pod))
	})
	k.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/pods/gone/log"):
			vanish()
		case r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/pods/used"):
			wake()
		}
		return nil, nil
	})
	run := k.run(k.cleaner(v1alpha1.ActionDelete, logsOf(v1alpha1.LogSource{}), evaluate(`function evaluate() return {matching = logs == "idle\n"} end`)))
	wantOutcome(t, run, "used", v1alpha1.OutcomeChanged)
	if run.Status.Reason != v1alpha1.ReasonCompleted {
		t.Fatalf("the run ended with %s: %s", run.Status.Reason, run.Status.Message)
	}
}

// TestContainerThatIsNotThere has no log, of which it could be said that something is not in it.
func TestContainerThatIsNotThere(t *testing.T) {
	t.Parallel()
	k := newKubelet(t)
	k.serviceAccount()
	k.pod("healthy", "worker")
	k.logs["healthy/worker"] = lines("heartbeat")
	named := func(names ...string) *v1alpha1.CleanerRun {
		return k.run(k.cleaner(v1alpha1.ActionScan, logsOf(v1alpha1.LogSource{Containers: names}), conditions(expression("!logs.contains('heartbeat')", ""))))
	}
	wantRun(t, named("wroker"), v1alpha1.ReasonCompleted, "0 of 1 object matched.")
	wantRun(t, named("wroker", "worker"), v1alpha1.ReasonCompleted, "0 of 1 object matched.")
	k.logs["healthy/worker"] = lines("dead")
	wantRun(t, named("wroker", "worker"), v1alpha1.ReasonCompleted, "1 of 1 object matched.")
}
