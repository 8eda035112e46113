// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
)

// visitor is one person's browser at a server that listens, as kubectl cleaner dashboard starts it.
type visitor struct {
	*testing.T
	url    string
	client *http.Client
}

// optionsOf are those of kubectl cleaner dashboard.
func optionsOf(config *rest.Config) Options {
	return Options{
		Mode: ModeLocal, Cluster: config, Ticket: "once", OperatorNamespace: cluster.DefaultOperatorNamespace,
		Files: fstest.MapFS{"index.html": {Data: []byte("page")}}, Now: time.Now, Log: logr.Discard(),
	}
}

// visit opens the address of a new server, which acts as the person of the config.
func visit(t *testing.T, config *rest.Config) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	return visitWith(t, config, jar)
}

// visitWith is visit in a browser that has cookies.
func visitWith(t *testing.T, config *rest.Config, jar http.CookieJar) *visitor {
	t.Helper()
	listening := httptest.NewUnstartedServer(nil)
	options := optionsOf(config)
	options.Hosts = []string{listening.Listener.Addr().String()}
	listening.Config = NewHTTP(New(options).Handler())
	listening.Start()
	t.Cleanup(listening.Close)
	v := &visitor{t, listening.URL, &http.Client{Jar: jar, Timeout: time.Minute}}
	response, err := v.client.Get(v.url + "/?token=once")
	must(t, err)
	must(t, response.Body.Close())
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the address cannot be opened: %s", response.Status)
	}
	v.client.Transport = withKey(strings.TrimPrefix(response.Request.URL.Fragment, "key="))
	return v
}

// withKey is a page that has the key.
type withKey string

func (key withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(keyHeader, string(key))
	if r.URL.Path == eventsPath {
		r.URL.RawQuery = "key=" + string(key)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// ask sends what the page would send. A path without a slash is one below /api/v1.
func (v *visitor) ask(method, path string, body any) (status int, answer string) {
	v.Helper()
	if !strings.HasPrefix(path, "/") {
		path = "/api/v1/" + path
	}
	text, err := json.Marshal(body)
	must(v.T, err)
	r, err := http.NewRequestWithContext(v.Context(), method, v.url+path, strings.NewReader(string(text)))
	must(v.T, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	response, err := v.client.Do(r)
	must(v.T, err)
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	must(v.T, err)
	return response.StatusCode, string(read)
}

// wants asks, and reads the answer, which must have the status.
func (v *visitor) wants(status int, method, path string, body, into any) {
	v.Helper()
	got, answer := v.ask(method, path, body)
	if got != status {
		v.Fatalf("%s %s: %d %s", method, path, got, answer)
	}
	if into != nil {
		must(v.T, json.Unmarshal([]byte(answer), into))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// admin is a client that may everything.
func admin(t *testing.T) client.Client {
	t.Helper()
	must(t, v1alpha1.AddToScheme(clientgoscheme.Scheme))
	c, err := client.New(env.Config, client.Options{Scheme: clientgoscheme.Scheme})
	must(t, err)
	return c
}

// create creates objects, and deletes them when the test is over.
func create[O client.Object](t *testing.T, c client.Client, o O) O {
	t.Helper()
	must(t, c.Create(t.Context(), o))
	t.Cleanup(func() { _ = c.Delete(context.Background(), o) })
	return o
}

// namespace is a new one.
func namespace(t *testing.T, c client.Client) string {
	t.Helper()
	return create(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "shop-"}}).Name
}

// cleaner is a new Cleaner of ConfigMaps of the namespace.
func cleaner(t *testing.T, c client.Client, namespace string, change func(*v1alpha1.CleanerSpec)) *v1alpha1.Cleaner {
	t.Helper()
	of := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: "of-" + namespace}, Spec: v1alpha1.CleanerSpec{
		Schedule: "0 3 * * *",
		ResourcePolicySet: v1alpha1.ResourcePolicySet{ResourceSelectors: []v1alpha1.ResourceSelector{{
			Version: "v1", Kind: "ConfigMap", Namespace: namespace,
		}}},
	}}
	if change != nil {
		change(&of.Spec)
	}
	return create(t, c, of)
}

// nominal is when the runs of tests were due.
var nominal = metav1.NewTime(time.Unix(1_800_000_000, 0))

// record is a run of the Cleaner, that long before nominal.
func record(t *testing.T, c client.Client, of *v1alpha1.Cleaner, before time.Duration,
	status v1alpha1.CleanerRunStatus,
) *v1alpha1.CleanerRun {
	t.Helper()
	due := metav1.NewTime(nominal.Add(-before))
	run := create(t, c, &v1alpha1.CleanerRun{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", of.Name, due.Unix())},
		Spec: v1alpha1.CleanerRunSpec{
			Cleaner: of.Name, CleanerUID: of.UID, NominalTime: due, Trigger: v1alpha1.TriggerSchedule, Action: v1alpha1.ActionDelete,
		},
	})
	run.Status = status
	must(t, c.Status().Update(t.Context(), run))
	return run
}

// outcome is what became of a ConfigMap.
func outcome(namespace, name string, result v1alpha1.OutcomeResult) v1alpha1.ObjectOutcome {
	return v1alpha1.ObjectOutcome{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: name, UID: "uid-of-" + types.UID(name), Outcome: result}
}
