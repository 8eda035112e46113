// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// haveInSpec gives version v1 of the Gadgets a schema that knows one field of spec.
func (g *gadgets) haveInSpec(field string) {
	g.t.Helper()
	object := func(fields map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: fields}
	}
	schema := object(map[string]apiextensionsv1.JSONSchemaProps{"spec": object(map[string]apiextensionsv1.JSONSchemaProps{field: {Type: "string"}})})
	edit(g.bench, g.crd, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema = &schema
	})
}

// inUse creates a Gadget that says who uses it, in a field that the schema has.
func (g *gadgets) inUse() *unstructured.Unstructured {
	g.t.Helper()
	g.create(1)
	used := &unstructured.Unstructured{Object: map[string]any{"apiVersion": g.group + "/v1", "kind": "Gadget"}}
	used.SetNamespace(g.namespace)
	used.SetName("gadget-0")
	must(g.t, g.user.Patch(g.t.Context(), used, client.RawPatch(types.MergePatchType, []byte(`{"spec": {"usedBy": "production"}}`))))
	g.haveInSpec("usedBy")
	return used
}

// awaitValid waits until the API server publishes a schema by which the Cleaner is valid, or is not.
func (b *bench) awaitValid(c *v1alpha1.Cleaner, want string) {
	b.t.Helper()
	// The API server publishes the schema of a definition when it comes to it, which took over 2 minutes beside other tests.
	must(b.t, wait.PollUntilContextTimeout(b.t.Context(), 100*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		reason, _, err := b.runner.Check.Validate(ctx, c)
		return reason == want, err
	}))
}

// Of a field that a kind does not have any more, !has(...) is true of every object: a run asks for the schema again.
func TestSchemaThatChangesUnderACondition(t *testing.T) {
	for _, action := range []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionTransform, v1alpha1.ActionScan} {
		t.Run(string(action), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			g := b.gadgets()
			g.inUse()
			c := b.cleaner(action, selecting(kind(g.group, "v1", "Gadget", b.namespace)), conditions(expression("!has(object.spec.usedBy)", "")), transform(touch))
			other := b.cleaner(action, selecting(kind(g.group, "v1", "Gadget", b.namespace)), conditions(expression("has(object.spec.consumer)", "")), transform(touch))
			b.awaitValid(other, v1alpha1.ReasonInvalidExpression) // the schema is there
			c = b.reconcile(c)
			wantCondition(t, c, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
			wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "0 of 1 object matched")
			g.haveInSpec("consumer")
			b.awaitValid(other, "")
			c = b.reconcile(c)
			wantCondition(t, c, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled) // nobody has asked
			if action == v1alpha1.ActionScan {
				wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 of 1 object matched")
				return
			}
			lists := b.requests.count(http.MethodGet, "/gadgets")
			wantRun(t, b.run(c), v1alpha1.ReasonFailed, "The Cleaner cannot run, nothing was touched: resourceSelectors[0].matchConditions[0] (condition): ", "undefined field 'usedBy'")
			if b.requests.count(http.MethodGet, "/gadgets") != lists {
				t.Error("the objects were listed")
			}
		})
	}
}

// freezeSchemas lets the API server publish what it publishes now, whatever changes: it is often late. Before each
// list of the Gadgets, and before each reading of their definition, it calls the functions.
func (g *gadgets) freezeSchemas(onList, onDefinition func()) {
	var mu sync.Mutex
	published := map[string][]byte{}
	g.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		switch uri := r.URL.RequestURI(); {
		case strings.HasPrefix(uri, "/openapi/v3"):
			mu.Lock()
			defer mu.Unlock()
			if published[uri] == nil {
				err := awaitAnswer(uri, func(code int, body string) bool {
					published[uri] = []byte(body)
					return code == http.StatusOK
				})
				if err != nil {
					return nil, err
				}
			}
			return answer(r, http.StatusOK, published[uri]), nil
		case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/gadgets"):
			onList()
		case strings.HasSuffix(r.URL.Path, "/customresourcedefinitions/"+g.crd.Name):
			onDefinition()
		}
		return nil, nil
	})
}

// serves waits until the API server serves a Gadget with a field of spec, or without.
func (g *gadgets) serves(name, field string, with bool) {
	must(g.t, awaitAnswer(g.path("v1")+"/"+name, func(_ int, body string) bool { return strings.Contains(body, `"`+field+`"`) == with }))
}

// While a run reads, the definition loses the field that its condition asks for, and may get it back: what is read
// meanwhile does not show it. The schema that the API server publishes does not show the change yet.
func TestSchemaThatChangesWhileARunReads(t *testing.T) {
	for name, test := range map[string]struct {
		before, back bool
		options      []func(*v1alpha1.Cleaner)
		want         string
	}{
		"lost":           {false, false, nil, "was changed at "},
		"lost, and back": {false, true, nil, "was changed at "},
		"lost before":    {true, false, nil, "resourceSelectors[0].matchConditions[0] (condition): "},
		"aggregated":     {true, false, []func(*v1alpha1.Cleaner){aggregated("function evaluate() return {resources = {{resource = resources[1]}}} end")}, "resourceSelectors[0].matchConditions[0] (condition): "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			g := b.gadgets()
			used := g.inUse()
			c := b.cleaner(v1alpha1.ActionDelete, append(test.options, selecting(kind(g.group, "v1", "Gadget", b.namespace)), conditions(expression("!has(object.spec.usedBy)", "")))...)
			c.Spec.Rollback = &v1alpha1.Rollback{Storage: v1alpha1.StorageNone} // a copy has reasons of its own
			must(t, b.user.Update(t.Context(), c))
			other := b.cleaner(v1alpha1.ActionDelete, selecting(kind(g.group, "v1", "Gadget", b.namespace)), conditions(expression("has(object.spec.consumer)", "")))
			b.awaitValid(other, v1alpha1.ReasonInvalidExpression) // the schema is there
			b.reconcile(c)
			var lost, back sync.Once
			lose := func() { g.haveInSpec("consumer"); g.serves(used.GetName(), "usedBy", false) }
			restore := func() { g.haveInSpec("usedBy"); g.serves(used.GetName(), "usedBy", true) }
			g.freezeSchemas(func() { lost.Do(lose) }, func() {
				if test.back {
					back.Do(restore)
				}
			})
			if test.before {
				b.awaitValid(other, v1alpha1.ReasonInvalidExpression) // which reads what is published once more
				lost.Do(lose)
				b.clock.SetTime(b.clock.Now().Add(3 * time.Minute))
			}
			wantRun(t, b.run(c), v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the run could not read or judge everything: ", test.want)
			must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(used), used))
		})
	}
}

// A run that ends because its conditions do not fit the schema makes the Cleaner invalid, until they fit again.
func TestSchemaThatChangedIsSaidInReady(t *testing.T) {
	b := newBench(t)
	b.startExecutor()
	g := b.gadgets()
	g.haveInSpec("usedBy")
	c := b.cleaner(v1alpha1.ActionDelete, selecting(kind(g.group, "v1", "Gadget", b.namespace)), conditions(expression("!has(object.spec.usedBy)", "")))
	b.awaitValid(c, "")
	b.reconcile(c)
	g.haveInSpec("consumer")
	b.awaitValid(c, v1alpha1.ReasonInvalidExpression)
	b.runNow(c)
	wantCondition(t, b.reconcile(c), v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidExpression, "undefined field 'usedBy'")
	g.haveInSpec("usedBy")
	b.awaitValid(c, "")
	wantCondition(t, b.reconcile(c), v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
}

// Without a schema nobody knows whether a condition is right: nothing is touched. A Scan touches nothing anyway.
func TestSchemaThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		code   int
		reason string
	}{
		"forbidden": {http.StatusForbidden, v1alpha1.ReasonForbidden},
		"broken":    {http.StatusInternalServerError, v1alpha1.ReasonViewIncomplete},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.configMap("used")
			b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				if strings.HasPrefix(r.URL.Path, "/openapi/") && !strings.Contains(r.URL.Path, v1alpha1.GroupVersion.Group) {
					return answer(r, test.code, fmt.Appendf(nil, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":%d}`, test.code)), nil
				}
				return nil, nil
			})
			mistyped := conditions(expression("!has(object.metadata.lables)", ""))
			c := b.reconcile(b.cleaner(v1alpha1.ActionDelete, mistyped))
			wantCondition(t, c, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
			wantRun(t, b.run(c), test.reason, "Nothing was read or touched, because conditions could not be checked: resourceSelectors[0].matchConditions: reading the schemas of the cluster (/openapi/v3): ")
			b.wantUntouched()
			wantRun(t, b.run(b.cleaner(v1alpha1.ActionScan, mistyped)), v1alpha1.ReasonCompleted, "1 of 1 object matched.")
			wantRun(t, b.run(b.cleaner(v1alpha1.ActionDelete)), v1alpha1.ReasonCompleted, "1 deleted.")
		})
	}
}

// A definition says the same as what the API server publishes of it: a condition that fits the one fits the other.
func TestDefinitionSaysWhatIsPublished(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	read := func(path string) (answer object.JSON) {
		must(t, awaitAnswer(path, func(code int, body string) bool { answer = object.JSON(body); return code == http.StatusOK }))
		return answer
	}
	published := read("/openapi/v3/apis/" + v1alpha1.GroupVersion.String())
	var all apiextensionsv1.CustomResourceDefinitionList
	must(t, apiextensionsv1.AddToScheme(b.user.Scheme()))
	must(t, b.user.List(t.Context(), &all))
	compared := 0
	for _, crd := range all.Items {
		if crd.Spec.Group != v1alpha1.GroupVersion.Group {
			continue
		}
		definition := read("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + crd.Name)
		want := cel.Resolve(published, v1alpha1.GroupVersion.WithKind(crd.Spec.Names.Kind))
		got := cel.Defined(definition, v1alpha1.GroupVersion.Version)
		for _, name := range []string{"apiVersion", "kind", "metadata"} { // which all objects have
			delete(want.Properties, name)
			delete(got.Properties, name)
		}
		text := func(s *spec.Schema) string {
			body, err := json.MarshalIndent(s, "", " ")
			must(t, err)
			return string(body)
		}
		if diff := gocmp.Diff(text(want), text(got)); diff != "" || len(want.Properties) == 0 {
			t.Errorf("%s: %s", crd.Name, diff)
		}
		compared++
	}
	if compared < 3 {
		t.Errorf("%d definitions were compared", compared)
	}
}

// A document of the schemas has a megabyte: it is read once, and a run asks only whether it has changed.
func TestSchemaIsReadOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionDelete, conditions(expression("object.metadata.name == 'x'", "")))
	b.reconcile(c)
	for range 3 {
		wantRun(t, b.run(c), v1alpha1.ReasonCompleted)
	}
	if index, documents := b.requests.count(http.MethodGet, "/openapi/v3"), b.requests.count(http.MethodGet, "/openapi/v3/api/v1"); index != 4 || documents != 1 {
		t.Errorf("the index was read %d times and the document %d times", index, documents)
	}
}

// What is wrong with one condition whatever the schema does not hide what is wrong with another by the schema.
func TestAllConditionsAreCheckedAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var all []v1alpha1.MatchCondition
	for i, text := range []string{"object.metadata.nam == 'x'", "object.metadata.name.startWith('x')", "object.data == 3"} {
		all = append(all, v1alpha1.MatchCondition{Name: fmt.Sprint("condition-", i), Expression: text})
	}
	c := b.reconcile(b.cleaner(v1alpha1.ActionScan, conditions(all...)))
	wantCondition(t, c, v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidExpression)
	message := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady).Message
	for _, want := range []string{"matchConditions[0]", "undefined field 'nam'", "matchConditions[1]", "'startWith'", "matchConditions[2]"} {
		if strings.Count(message, want) != 1 {
			t.Errorf("%q is not said once: %s", want, message)
		}
	}
}
