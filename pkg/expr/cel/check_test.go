// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

var (
	podKind        = corev1.SchemeGroupVersion.WithKind("Pod")
	secretKind     = corev1.SchemeGroupVersion.WithKind("Secret")
	configMapKind  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")
	cleanerKind    = v1alpha1.GroupVersion.WithKind("Cleaner")
)

// published serves what a Kubernetes 1.36 API server publishes of a few kinds, without the descriptions.
func published(t *testing.T) rest.Interface {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		name := "index.json"
		if of, ok := strings.CutPrefix(r.URL.Path, "/openapi/v3/"); ok {
			name = strings.ReplaceAll(of, "/", "_") + ".json"
			if r.URL.RawQuery != "" {
				t.Errorf("%s was asked for with a hash, which may be outdated", r.URL)
			}
		}
		http.ServeFile(w, r, "testdata/"+name)
	})
}

func serve(t *testing.T, handler http.HandlerFunc) rest.Interface {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := rest.UnversionedRESTClientFor(&rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{
		GroupVersion: &schema.GroupVersion{}, ContentType: "application/json",
		NegotiatedSerializer: serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Client.CloseIdleConnections)
	return client
}

func schemaOf(t *testing.T, client rest.Interface, gvk schema.GroupVersionKind) *spec.Schema {
	t.Helper()
	found, err := (&Schemas{}).At(client).Schema(t.Context(), gvk)
	if err != nil || found == nil {
		t.Fatalf("got %v, %v", found, err)
	}
	return found
}

func TestCheck(t *testing.T) {
	client := published(t)
	for _, test := range []struct {
		name       string
		kind       schema.GroupVersionKind
		expression string
		want       string // empty: no problem
	}{
		{"typo", deploymentKind, "object.spec.replica > 1", "line 1, column 12: undefined field 'replica'; did you mean 'replicas'?: object.spec.replica > 1"},
		{"typo at the root", podKind, "object.stauts.phase == 'Failed'", "line 1, column 7: undefined field 'stauts'; did you mean 'status'?: object.stauts.phase == 'Failed'"},
		{"typo in metadata", podKind, "has(object.metadata.label)", "line 1, column 4: undefined field 'label'; did you mean 'labels'?: has(object.metadata.label)"},
		{"typo in a loop", podKind, "object.spec.containers.all(c, c.img == '')", "line 1, column 32: undefined field 'img'; did you mean 'image'?: object.spec.containers.all(c, c.img == '')"},
		{"typo in an optional", podKind, "object.?spec.?nodename.orValue('') == ''", "line 1, column 13: undefined field 'nodename'; did you mean 'nodeName'?: object.?spec.?nodename.orValue('') == ''"},
		{"typo in an index", podKind, "object.spec['nodename'] == ''", "line 1, column 12: undefined field 'nodename'; did you mean 'nodeName'?: object.spec['nodename'] == ''"},
		{"few fields", secretKind, "object.spec.x == 1", "line 1, column 7: undefined field 'spec'; the fields are apiVersion, data, immutable, kind, metadata, stringData, type: object.spec.x == 1"},
		{"wrong comparison", deploymentKind, "object.spec.replicas == '1'", "line 1, column 22: found no matching overload for '_==_' applied to '(int, string)': object.spec.replicas == '1'"},
		{
			"age of a text", podKind, "now - object.metadata.creationTimestamp > duration('1h')",
			"line 1, column 5: found no matching overload for '_-_' applied to '(timestamp, string)': now - object.metadata.creationTimestamp > duration('1h')",
		},
		{"not a condition", deploymentKind, "object.spec.replicas", "the expression is of type int, but a condition must be true or false: compare it with something"},
		{"escaped", cleanerKind, "object.metadata.__namespace__ == 'x'", "line 1, column 16: undefined field '__namespace__'; fields are not escaped here: write [\"namespace\"]: object.metadata.__namespace__ == 'x'"},
		{"unknown variable", podKind, "metrics.x", "line 1, column 1: metrics are not read: set metricSource and metricQueries in the selector: metrics.x"},
		{"syntax", podKind, "1 +", "line 1, column 4: Syntax error: mismatched input '<EOF>': 1 +"},
		{"custom resource", cleanerKind, "object.spec.scheduel == ''", "line 1, column 12: undefined field 'scheduel'; did you mean 'schedule'?: object.spec.scheduel == ''"},

		{"phase and age", podKind, "object.status.phase == 'Succeeded' && now - timestamp(object.metadata.creationTimestamp) > duration('24h')", ""},
		{"plain names", podKind, "object.metadata.namespace == 'default' && object.kind == 'Pod' && object.apiVersion == 'v1'", ""},
		{"labels", podKind, "object.metadata.labels['app.kubernetes.io/name'] == 'a' && object.metadata.labels.app == 'a' && 'x' in object.metadata.labels", ""},
		{"quantities", podKind, "object.spec.containers.all(c, quantity(c.resources.requests['cpu']).isLessThan(quantity('1')))", ""},
		{"int or string", deploymentKind, "object.spec.strategy.rollingUpdate.maxSurge == '25%' || object.spec.strategy.rollingUpdate.maxSurge == 1", ""},
		{"bytes are text", secretKind, "object.data['key'].startsWith('YWJj') && object.data.exists(k, k == 'x')", ""},
		{"map of text", configMapKind, "object.data.size() > 1 && object.data.all(k, v, k != v)", ""},
		{"an embedded object's metadata", deploymentKind, "object.spec.template.metadata.labels.app == 'a'", ""},
		{"what is open", deploymentKind, "object.metadata.managedFields.all(f, f.fieldsV1['f:spec'].anything == 1)", ""},
		{"an object as a map", deploymentKind, "'replicas' in object.spec && size(object.spec) > 1 && object.spec.selector == {'matchLabels': {'a': 'b'}}", ""},
		{"loop over an object", deploymentKind, "object.spec.exists(k, k == 'replicas')", ""},
		{"optional object", deploymentKind, "object.?spec.?strategy.orValue({}) == {}", ""},
		{"index of an object", podKind, "object['spec']['nodeName'] == '' && object.spec[?'nodeName'].hasValue()", ""},
		{"an object or null", podKind, "object.spec.affinity == null", ""},
		{"owner", podKind, "object.metadata.ownerReferences.exists(o, o.kind == 'Job' && o.controller)", ""},
		{"lists", podKind, "object.spec.containers.map(c, c.name) == ['a'] && object.spec.containers.size() > 1 && object.spec.containers == []", ""},
		{"merge patch of a Cleaner", cleanerKind, "object.spec.resourcePolicySet.resourceSelectors.all(s, s.kind != '')", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if err := Check([]v1alpha1.MatchCondition{{Name: "c", Expression: test.expression}}, schemaOf(t, client, test.kind)); err != nil {
				got = err.Error()
			}
			want := test.want
			if want != "" {
				want = "matchConditions[0] (c): " + want
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A custom resource's schema may say that it does not say everything.
func TestCheckOfWhatIsOpen(t *testing.T) {
	var custom spec.Schema
	if err := json.Unmarshal([]byte(`{"type":"object","properties":{"metadata":{"type":"object"},"spec":{"type":"object","properties":{
		"known":{"type":"integer"},"x-y":{"type":"string"},"for":{"type":"string"},"number":{"type":"number"},"maybe":{"type":"string","nullable":true},
		"port":{"x-kubernetes-int-or-string":true},"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"any":{"x-kubernetes-preserve-unknown-fields":true},
		"half":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"integer"}}},
		"template":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"spec":{"type":"object","properties":{"n":{"type":"integer"}}}}},
		"more":{"type":"object","additionalProperties":{"type":"array","items":{"type":"integer"}}},"some":{"type":"object","additionalProperties":true}}}}}`), &custom); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ expression, want string }{
		{"object.spec.free.a.b == 1 && object.spec.any.a == 1 && object.spec.some.a == 1", ""},
		{"object.spec.half.b == 'x' && object.spec.half.a == 1", ""},
		{"object.spec.half.a == 'x'", "found no matching overload for '_==_' applied to '(int, string)'"},
		{"object.spec.number == 1 && object.spec.number == 1.5", ""},
		{"object.spec.maybe == null || object.spec.maybe == 'x'", ""},
		{"object.spec.port == 80 || object.spec.port == 'http'", ""},
		{"object.spec.more['a'].all(n, n > 1)", ""},
		{"object.spec.more['a'].all(n, n > 'x')", "found no matching overload for '_>_' applied to '(int, string)'"},
		{"object.spec['x-y'] == 'a'", ""},
		{"object.spec.x__dash__y == 'a'", `undefined field 'x__dash__y'; fields are not escaped here: write ["x-y"]`},
		{"object.spec['for'] == 'a'", ""},
		{"object.spec.template.metadata.name == 'a' && object.spec.template.kind == 'A' && object.spec.template.spec.n == 1", ""},
		{"object.spec.template.spec.m == 1", "undefined field 'm'; did you mean 'n'?"},
		{"object.metadata.generation > 1 && object.metadata.finalizers.size() == 0 && object.metadata.annotations['x'] == 'y'", ""},
		{"object.metadata.generation == 'x'", "found no matching overload for '_==_' applied to '(int, string)'"},
		{"object.metadata.uuid == 'x'", "undefined field 'uuid'; did you mean 'uid'?"},
		{"object.status.x == 1", "undefined field 'status'; the fields are apiVersion, kind, metadata, spec"},
	} {
		err := Check([]v1alpha1.MatchCondition{{Name: "c", Expression: test.expression}}, &custom)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.expression, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got %v, want %s", test.expression, err, test.want)
		}
	}
}

func TestCheckWithoutKnowledge(t *testing.T) {
	anything := []v1alpha1.MatchCondition{{Name: "c", Expression: "object.what.ever == 1"}}
	for name, schema := range map[string]*spec.Schema{"none": nil, "empty": {}, "an object": {SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}} {
		if err := Check(anything, schema); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := Check([]v1alpha1.MatchCondition{{Name: "c", Expression: "objct.x == 1"}}, schema); err == nil {
			t.Errorf("%s: an unknown variable passed", name)
		}
	}
}

func TestSchema(t *testing.T) {
	client := published(t)
	pod := schemaOf(t, client, podKind)
	container := pod.Properties["spec"].Properties["containers"].Items.Schema
	if got := container.Properties["image"].Type; !got.Contains("string") {
		t.Errorf("the image is a %v", got)
	}
	if got := container.Properties["resources"].Properties["limits"].AdditionalProperties; got == nil || got.Schema == nil || len(got.Schema.Type) != 0 {
		t.Errorf("the limits are %v", got)
	}
	for name, gvk := range map[string]schema.GroupVersionKind{
		"no such kind":  corev1.SchemeGroupVersion.WithKind("Nothing"),
		"no such group": {Group: "example.com", Version: "v1", Kind: "Thing"},
	} {
		if found, err := (&Schemas{}).At(client).Schema(t.Context(), gvk); found != nil || err != nil {
			t.Errorf("%s: got %v, %v", name, found, err)
		}
	}
}

func TestSchemaThatRefersToItself(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/openapi/v3" {
			_, _ = w.Write([]byte(`{"paths":{"apis/example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/example.com/v1?hash=A"}}}`))
			return
		}
		_, _ = w.Write([]byte(`{"components":{"schemas":{"Tree":{"type":"object","properties":{"name":{"type":"string"},
			"left":{"$ref":"#/components/schemas/Tree"},"all":{"type":"array","items":{"allOf":[{"$ref":"#/components/schemas/Tree"}],"default":{}}}},
			"x-kubernetes-group-version-kind":[{"group":"example.com","kind":"Tree","version":"v1"}]}}}}`))
	})
	tree := schemaOf(t, client, schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Tree"})
	ok := v1alpha1.MatchCondition{Name: "c", Expression: "object.left.left.name == 'x' && object.all.exists(t, t.left.name == 'x')"}
	if err := Check([]v1alpha1.MatchCondition{ok}, tree); err != nil {
		t.Error(err)
	}
	if err := Check([]v1alpha1.MatchCondition{{Name: "c", Expression: "object.right.name == 'x'"}}, tree); err == nil {
		t.Error("a field that is not there passed")
	}
}

func TestSchemaOfServersThatHaveNone(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		want   string
	}{
		{"old", http.StatusNotFound, ""},
		{"forbidden", http.StatusForbidden, "reading the schemas of the cluster (/openapi/v3): "},
		{"broken", http.StatusInternalServerError, "reading the schemas of the cluster (/openapi/v3): "},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, err := (&Schemas{}).At(serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(test.status) })).Schema(t.Context(), podKind)
			switch {
			case found != nil:
				t.Errorf("got %v", found)
			case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// What passes the check of a real Pod does not fail on it for a name or a type, and gives the same answer.
func TestCheckAgreesWithEvaluation(t *testing.T) {
	pod := schemaOf(t, published(t), podKind)
	raw, err := os.ReadFile("testdata/pod.json")
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	o := realPod(t)
	var walk func(path string, value any)
	tried := 0
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, held := range value {
				quoted, _ := json.Marshal(name)
				walk(path+"["+string(quoted)+"]", held)
			}
			return
		case []any:
			for i, held := range value {
				index, _ := json.Marshal(i)
				walk(path+"["+string(index)+"]", held)
			}
			return
		case nil:
			return
		}
		literal, _ := json.Marshal(value)
		expression := path + " == " + string(literal)
		tried++
		condition := v1alpha1.MatchCondition{Name: "c", Expression: expression}
		if err := Check([]v1alpha1.MatchCondition{condition}, pod); err != nil {
			t.Errorf("%s: %v", expression, err)
		}
		if matches, err := ask(t, expression, o); err != nil || !matches {
			t.Errorf("%s: got %v, %v", expression, matches, err)
		}
	}
	walk("object", tree)
	if tried < 50 {
		t.Errorf("only %d values were tried", tried)
	}
}
