// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/discovery"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/test/testenv"
)

// noon is when the tests read their manifests.
var noon = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// dumpOf loads manifests, each a file of its own: its name and its text.
func dumpOf(t *testing.T, files ...string) (*Cluster, error) {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(newShared(), []string{dir})
}

func newShared() *terminal.Session {
	return &terminal.Session{
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard},
		Options:   terminal.Options{Getenv: func(string) string { return "" }},
	}
}

// found lists what a selector finds in a dump: KIND NAMESPACE/NAME.
func found(t *testing.T, d *Cluster, spec v1alpha1.ResourceSelector) ([]string, error) {
	t.Helper()
	api, err := cluster.New(newShared(), d.Config())
	if err != nil {
		t.Fatal(err)
	}
	s, err := selector.New(0, spec, selector.Judge{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	var all selector.Matches
	result := s.Select(t.Context(), selector.NewReader(api.Raw, cluster.Instant(noon)), &all)
	var names []string
	for _, c := range all.Verdicts.All() {
		names = append(names, c.String())
	}
	return names, result.Err
}

const someManifests = `# what a user may have
apiVersion: v1
kind: ConfigMap
metadata:
  name: bare
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: listed, namespace: b, labels: {app: x}, uid: u1, resourceVersion: "7", creationTimestamp: "2026-11-01T00:00:00Z"}
- apiVersion: v1
  kind: Namespace
  metadata: {name: b}
- apiVersion: v1
  kind: Namespace
  metadata: {name: gone, uid: u9}
  status: {phase: Terminating}
---
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Widget, plural: widgetz}
  versions: [{name: v1, served: true}, {name: v1alpha1, served: false}]
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
---
apiVersion: other.org/v1
kind: Gadget
metadata: {name: g}
`

const rawList = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"p","namespace":"b","uid":"u2","resourceVersion":"1"},"spec":{"x":12345678901234567890}}]}
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"q","namespace":"c"}}`

func TestDumpAnswersLikeACluster(t *testing.T) {
	d, err := dumpOf(t, "a.yaml", someManifests, "pods.json", rawList, "README.md", "not a manifest")
	if err != nil {
		t.Fatal(err)
	}
	kind := func(group, version, kind string) v1alpha1.ResourceSelector {
		return v1alpha1.ResourceSelector{Group: group, Version: version, Kind: kind}
	}
	in := func(s v1alpha1.ResourceSelector, namespace string) v1alpha1.ResourceSelector {
		s.Namespace = namespace
		return s
	}
	labelled := kind("", "v1", "ConfigMap")
	labelled.LabelFilters = []v1alpha1.LabelFilter{{Key: "app", Operation: v1alpha1.OperationHas}}
	selected := kind("", "v1", "Pod")
	selected.NamespaceSelector = "kubernetes.io/metadata.name in (b,gone)"
	tests := map[string]struct {
		selector v1alpha1.ResourceSelector
		want     []string
		err      string
	}{
		"all namespaces":                 {kind("", "v1", "ConfigMap"), []string{"ConfigMap default/bare", "ConfigMap b/listed"}, ""},
		"a namespace":                    {in(kind("", "v1", "ConfigMap"), "default"), []string{"ConfigMap default/bare"}, ""},
		"labels":                         {labelled, []string{"ConfigMap b/listed"}, ""},
		"namespaces by label":            {selected, []string{"Pod b/p"}, ""},
		"items of a list from the API":   {kind("", "v1", "Pod"), []string{"Pod b/p", "Pod c/q"}, ""},
		"a cluster-scoped kind":          {kind("rbac.authorization.k8s.io", "v1", "ClusterRole"), []string{"ClusterRole reader"}, ""},
		"a custom one, with its CRD":     {kind("example.com", "v1", "Widget"), []string{"Widget w"}, ""},
		"a custom one, without":          {kind("other.org", "v1", "Gadget"), []string{"Gadget default/g"}, ""},
		"a kind of which there are none": {kind("apps", "v1", "Deployment"), nil, ""},
		"a mistyped kind":                {kind("", "v1", "ConfigMaps"), nil, `kind ConfigMaps of v1 is not served; did you mean "ConfigMap"?`},
		"a kind of another group":        {kind("", "v1", "Deployment"), nil, "kind Deployment of v1 is not served; it is a kind of apps/v1"},
		"a mistyped group":               {kind("exmaple.com", "v1", "Widget"), nil, `the cluster has no group "exmaple.com"; did you mean "example.com"?`},
		"a version that is not served":   {kind("example.com", "v2", "Widget"), nil, `the cluster serves group "example.com" in version v1`},
		"a namespace where there is none": {
			in(kind("rbac.authorization.k8s.io", "v1", "ClusterRole"), "x"), nil, "is cluster-scoped: remove namespace",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := found(t, d, test.selector)
			if (err == nil) != (test.err == "") || (err != nil && !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDumpIsReadOnly(t *testing.T) {
	d, err := dumpOf(t, "a.yaml", someManifests)
	if err != nil {
		t.Fatal(err)
	}
	api, err := cluster.New(newShared(), d.Config())
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{http.MethodDelete, http.MethodPost, http.MethodPut, http.MethodPatch} {
		err := api.Raw.Verb(method).AbsPath("/api/v1/namespaces/default/configmaps/bare").Body([]byte("{}")).Do(t.Context()).Error()
		if !apierrors.IsMethodNotSupported(err) {
			t.Errorf("%s: got %v", method, err)
		}
	}
	var one struct {
		Metadata struct{ Name, UID, Namespace string }
	}
	if err := api.Read(t.Context(), "/api/v1/namespaces/default/configmaps/bare", &one); err != nil || one.Metadata.UID != "dump/ConfigMap/default/bare" {
		t.Errorf("got %+v, %v", one, err)
	}
	for _, path := range []string{"/api/v1/namespaces/default/configmaps/none", "/api/v1/nothings", "/apis/none/v1", "/", "/api/v1/a/b/c/d/e/f"} {
		if err := api.Read(t.Context(), path, &one); !apierrors.IsNotFound(err) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := api.Read(ctx, "/version", &one); err == nil {
		t.Error("a cancelled request was answered")
	}
}

// A Secret's stringData becomes data, as on a cluster: that is where those who hide values look for them.
func TestDumpEncodesStringData(t *testing.T) {
	d, err := dumpOf(t, "a.yaml", `{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: eA==}, stringData: {b: clear text}}`)
	if err != nil {
		t.Fatal(err)
	}
	raw := string(d.served[schema.GroupVersion{Version: "v1"}]["Secret"].objects[0].raw)
	if !strings.Contains(raw, `"data":{"a":"eA==","b":"Y2xlYXIgdGV4dA=="}`) || strings.Contains(raw, "stringData") {
		t.Error(raw)
	}
}

// TestDumpReadsTheLineOfASeparator: what an object there names would be unused otherwise.
func TestDumpReadsTheLineOfASeparator(t *testing.T) {
	d, err := dumpOf(t, "dump.yaml", "--- {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: x}}\r\n"+
		"---\napiVersion: v1\nkind: Pod\nmetadata: {name: b, namespace: x}\n...\n---\t{apiVersion: v1, kind: Pod, metadata: {name: c, namespace: x}}")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(d.served[schema.GroupVersion{Version: "v1"}]["Pod"].objects); n != 3 {
		t.Errorf("it has %d objects", n)
	}
}

func TestDumpRefuses(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"broken YAML":     {"# x\n---\nkind: x\n  y: [\n", "dump.yaml:4: the document is not valid YAML: "},
		"no object":       {"\n# a comment\nname: x\n", "dump.yaml:3: this is no Kubernetes object: it has no apiVersion or no kind"},
		"no name":         {"apiVersion: v1\nkind: Pod\nmetadata: {generateName: x-}\n", "dump.yaml:1: the Pod has no metadata.name"},
		"a list of lists": {"- a\n- b\n", "dump.yaml:1: this is no Kubernetes object: "},
		"a page of a list": {
			`{"kind":"PodList","apiVersion":"v1","metadata":{"continue":"abc","remainingItemCount":1},"items":[]}`,
			"dump.yaml:1: the PodList is only a part: its metadata.continue says that more objects follow",
		},
		"a bad item": {"apiVersion: v1\nkind: List\nitems:\n- {}\n", "dump.yaml:1: items[0]: this is no Kubernetes object: "},
		"one uid for two": {
			"{apiVersion: v1, kind: Pod, metadata: {name: a, uid: u}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: b, uid: u}}\n",
			"dump.yaml:3: Pod default/b has the uid of Pod default/a (dump.yaml:1)",
		},
		"a version with other fields": {
			"{apiVersion: networking.k8s.io/v1beta1, kind: Ingress, metadata: {name: a, namespace: b}}\n",
			"dump.yaml:1: Ingress b/a is of version networking.k8s.io/v1beta1, which Kubernetes does not serve any more",
		},
		"nothing": {"# nothing\n", "there is no object in "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := dumpOf(t, "dump.yaml", test.text)
			if err == nil {
				t.Fatal("it was accepted")
			}
			dir := filepath.Dir(strings.Fields(err.Error())[0]) + "/"
			if got := strings.ReplaceAll(err.Error(), dir, ""); !strings.HasPrefix(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	_, err := dumpOf(t, "dump.json", "{\"apiVersion\":\"v1\"\n}\n")
	if err == nil || !strings.Contains(err.Error(), "dump.json:1: this is no Kubernetes object") {
		t.Error(err)
	}
	_, err = dumpOf(t, "dump.json", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}\n{\n,}")
	if err == nil || !strings.Contains(err.Error(), "dump.json:3: the document is not valid JSON") {
		t.Error(err)
	}
}

// A dump of all kinds holds Events twice, because two groups serve them. They have one uid.
func TestDumpOfAKindThatTwoGroupsServe(t *testing.T) {
	const event = "{apiVersion: %s, kind: Event, metadata: {name: a, namespace: shop, uid: u}}\n"
	d, err := dumpOf(t, "dump.yaml", fmt.Sprintf(event, "v1")+"---\n"+fmt.Sprintf(event, "events.k8s.io/v1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, gv := range []schema.GroupVersion{{Version: "v1"}, {Group: "events.k8s.io", Version: "v1"}} {
		if n := len(d.served[gv]["Event"].objects); n != 1 {
			t.Errorf("%s: %d Events", gv, n)
		}
	}
}

// What no API server lists is no kind of a dump.
func TestDumpHasOnlyResources(t *testing.T) {
	d, err := dumpOf(t, "dump.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: a}}")
	if err != nil {
		t.Fatal(err)
	}
	if kind := d.served[schema.GroupVersion{Version: "v1"}]["APIGroup"]; kind != nil {
		t.Error("an APIGroup is the answer to a question of discovery")
	}
}

// Of two manifests of one object the later one counts, and it is said.
func TestDumpLaterManifestCounts(t *testing.T) {
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {which: %q}}}\n"
	d, err := dumpOf(t, "1.yaml", fmt.Sprintf(pod, "1"), "2.yaml", fmt.Sprintf(pod, "2"))
	if err != nil {
		t.Fatal(err)
	}
	pods := d.served[schema.GroupVersion{Version: "v1"}]["Pod"].objects
	if len(pods) != 1 || pods[0].labels["which"] != "2" {
		t.Errorf("%d: %s", len(pods), pods[0].raw)
	}
	if len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "2.yaml:1: Pod default/a replaces the one of ") {
		t.Error(d.Notes)
	}
}

func TestDumpExpect(t *testing.T) {
	d, err := dumpOf(t, "a.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n"+
		"{apiVersion: batch/v1beta1, kind: CronJob, metadata: {name: old}}\n---\n{apiVersion: batch/v1, kind: CronJob, metadata: {name: new}}")
	if err != nil {
		t.Fatal(err)
	}
	cleaner := &v1alpha1.Cleaner{}
	age := int64(60)
	cleaner.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{
		{Version: "v1", Kind: "Pod", MinAgeSeconds: &age},
		{Version: "v1", Kind: "Secret", NamespaceSelector: "a=b"},
		{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"},
		{Version: "v1", Kind: "Pot"},
		{Group: "batch", Version: "v1", Kind: "CronJob", MinAgeSeconds: &age},
	}
	want := []string{
		"resourceSelectors[0]: minAgeSeconds leaves 1 Pod out that has no creationTimestamp",
		"resourceSelectors[1]: the manifests hold no Namespace, so namespaceSelector selects none; add what kubectl get namespaces -o yaml prints",
		"resourceSelectors[4]: minAgeSeconds leaves 2 CronJobs out that have no creationTimestamp",
	}
	notes, missing := d.Expect(cleaner)
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Error(diff)
	}
	if len(missing) != 3 || missing[0].Resource != "secrets" || missing[1].Resource != "namespaces" || missing[2].Resource != "certificates" {
		t.Errorf("missing are %v", missing)
	}
	if got, err := found(t, d, cleaner.Spec.ResourcePolicySet.ResourceSelectors[2]); err != nil || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := found(t, d, cleaner.Spec.ResourcePolicySet.ResourceSelectors[3]); err == nil || !strings.Contains(err.Error(), `did you mean "Pod"?`) {
		t.Error(err)
	}
}

// Which built-in kinds have no namespace is written down by hand: here it is compared with a real API server.
func TestDumpKnowsTheScopes(t *testing.T) {
	env, err := testenv.Start(t.Context(), testenv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = env.Stop() })
	client, err := discovery.NewDiscoveryClientForConfig(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, resource := range list.APIResources {
			if strings.Contains(resource.Name, "/") || !slices.Contains(resource.Verbs, "list") {
				continue
			}
			compared++
			if got := builtInKind(gv.WithKind(resource.Kind)); got.Namespaced != resource.Namespaced || !builtInGroup(gv.Group) {
				t.Errorf("%s of %s: namespaced %v, want %v; built-in group %v", resource.Kind, gv, got.Namespaced, resource.Namespaced, builtInGroup(gv.Group))
			}
		}
	}
	if compared < 50 {
		t.Errorf("only %d kinds were compared", compared)
	}
}
