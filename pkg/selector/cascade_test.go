// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// pages answers each path with its text. What has none is not there.
type pages map[string]string

func (p pages) RoundTrip(r *http.Request) (*http.Response, error) {
	body, ok := p[r.URL.Path]
	code := http.StatusOK
	if !ok {
		name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		code, body = http.StatusNotFound, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"details":{"name":%q}}`, name)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func (p pages) reader(t *testing.T) *Reader {
	t.Helper()
	config := &rest.Config{Host: "http://server", QPS: -1, ContentConfig: rest.ContentConfig{
		GroupVersion: &schema.GroupVersion{}, NegotiatedSerializer: serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion(),
	}}
	client, err := rest.RESTClientForConfigAndClient(config, &http.Client{Transport: p})
	if err != nil {
		t.Fatal(err)
	}
	return NewReader(client, clock.RealClock{})
}

// A resource is read once, in the version that its group prefers, also when other resources of the group are in other versions only.
func TestNamespaceContent(t *testing.T) {
	t.Parallel()
	resource := func(name, kind, rest string) string {
		return fmt.Sprintf(`{"name":%q,"kind":%q,"namespaced":true,"verbs":["list","delete"]%s}`, name, kind, rest)
	}
	resources := func(all ...string) string {
		return `{"kind":"APIResourceList","resources":[` + strings.Join(all, ",") + `]}`
	}
	reader := pages{
		"/apis": `{"kind":"APIGroupList","groups":[
			{"name":"example.com","versions":[{"version":"v2"},{"version":"v1"}],"preferredVersion":{"version":"v1"}},
			{"name":"events.k8s.io","versions":[{"version":"v1"}],"preferredVersion":{"version":"v1"}}]}`,
		"/api/v1": resources(resource("configmaps", "ConfigMap", ""), resource("pods", "Pod", ""), resource("pods/log", "Pod", ""),
			resource("nodes", "Node", `,"namespaced":false`), resource("events", "Event", ""), resource("bindings", "Binding", `,"verbs":["create"]`),
			resource("metrics", "Metrics", `,"verbs":["get","list"]`)),
		"/apis/example.com/v1":   resources(resource("apps", "App", "")),
		"/apis/example.com/v2":   resources(resource("apps", "App", ""), resource("routes", "Route", "")),
		"/apis/events.k8s.io/v1": resources(resource("events", "Event", "")),
	}.reader(t)
	kinds, err := reader.NamespaceContent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, kind := range kinds {
		paths = append(paths, kind.Path("a", ""))
	}
	want := []string{"/api/v1/namespaces/a/configmaps", "/api/v1/namespaces/a/pods", "/apis/example.com/v1/namespaces/a/apps", "/apis/example.com/v2/namespaces/a/routes"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Error(diff)
	}
}

// A group of which the server does not say what it serves may hold anything, and so may an answer that is another one.
func TestNamespaceContentThatIsNotKnown(t *testing.T) {
	t.Parallel()
	const groups = `{"kind":"APIGroupList","groups":[{"name":"example.com","versions":[{"version":"v1"}],"preferredVersion":{"version":"v1"}}]}`
	const none = `{"kind":"APIResourceList","resources":[]}`
	for name, server := range map[string]pages{
		"a version that is not found": {"/apis": groups, "/api/v1": none},
		"resources of a proxy":        {"/apis": groups, "/api/v1": none, "/apis/example.com/v1": `{"status":"ok"}`},
		"groups of a proxy":           {"/apis": `{"status":"ok"}`, "/api/v1": none},
	} {
		if kinds, err := server.reader(t).NamespaceContent(t.Context()); err == nil {
			t.Errorf("%s: no error, and %v", name, kinds)
		}
	}
}

// Dependents of a cluster-scoped owner may be in any namespace, however many namespaces have owners. That the list is
// not found does not say that there are none.
func TestMetadataOfTheCluster(t *testing.T) {
	t.Parallel()
	list := func(namespace string) string {
		return fmt.Sprintf(`{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"namespace":%q,"name":"p","uid":"1","resourceVersion":"1"}}]}`, namespace)
	}
	pod := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: "pods", Namespaced: true}
	scope := Scope{}
	for i := range manyNamespaces {
		scope.Namespaces = append(scope.Namespaces, fmt.Sprintf("n%02d", i))
	}
	server := pages{"/version": `{"major":"1","minor":"36"}`, "/api/v1/pods": list("other")}
	for _, cluster := range []bool{true, false} {
		scope.Cluster = cluster
		var found []string
		err := server.reader(t).Metadata(t.Context(), pod, scope, func(o object.Object) error {
			found = append(found, o.Namespace)
			return nil
		})
		if err != nil || cluster != (len(found) == 1) {
			t.Errorf("of the cluster: %v; found in %v, error %v", cluster, found, err)
		}
	}
	nothing := func(object.Object) error { return nil }
	if err := (pages{"/version": `{"major":"1","minor":"36"}`}).reader(t).Metadata(t.Context(), pod, Scope{Namespaces: []string{"a"}}, nothing); err == nil {
		t.Error("a list that is not found is no error")
	}
}

// Owners are followed to their end, also in a circle, and not to another object of an owner's name.
func TestAncestors(t *testing.T) {
	t.Parallel()
	owned := func(name, uid, owners string) string {
		return fmt.Sprintf(`{"metadata":{"namespace":"shop","name":%q,"uid":%q,"resourceVersion":"1","ownerReferences":[%s]}}`, name, uid, owners)
	}
	owner := func(name, uid string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q}`, name, uid)
	}
	reader := pages{
		"/api/v1": `{"kind":"APIResourceList","resources":[{"name":"configmaps","kind":"ConfigMap","namespaced":true,"verbs":["list"]}]}`,
		"/apis":   `{"kind":"APIGroupList","groups":[]}`,
		"/api/v1/namespaces/shop/configmaps/parent":   owned("parent", "2", owner("top", "3")+","+owner("replaced", "4")),
		"/api/v1/namespaces/shop/configmaps/top":      owned("top", "3", owner("parent", "2")+","+owner("gone", "6")),
		"/api/v1/namespaces/shop/configmaps/replaced": owned("replaced", "new", owner("never", "5")),
	}.reader(t)
	kind := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Namespaced: true}
	o := object.Object{Kind: kind, Namespace: "shop", Raw: []byte(owned("a", "1", owner("parent", "2")+","+owner("../../../nodes/n", "8")+`,{"apiVersion":"nobody.example.com/v1","kind":"App","name":"x","uid":"7"}`))}
	ancestors := NewAncestors(reader, (*Budget)(nil).Share())
	// A wrong reference to an owner leads nowhere, and does not hide the owners from the next object.
	wrong := o
	wrong.Raw = []byte(owned("b", "9", strings.Replace(owner("parent", "2"), `"v1"`, `"nobody.example.com/v1"`, 1)+","+owner("other", "2")))
	if got, err := ancestors.Of(t.Context(), wrong); err != nil || !slices.Equal(got, []types.UID{"2"}) {
		t.Error(got, err)
	}
	for range 2 {
		got, err := ancestors.Of(t.Context(), o)
		if diff := cmp.Diff([]types.UID{"2", "8", "7", "3", "4", "6"}, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
}
