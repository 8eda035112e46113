// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
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
	t.Parallel()
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

// While a run reads, the schema loses the field that its condition asks for: what is read then has it no more.
func TestSchemaThatChangesWhileARunReads(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	g := b.gadgets()
	used := g.inUse()
	c := b.cleaner(v1alpha1.ActionDelete, selecting(kind(g.group, "v1", "Gadget", b.namespace)), conditions(expression("!has(object.spec.usedBy)", "")))
	other := b.cleaner(v1alpha1.ActionDelete, selecting(kind(g.group, "v1", "Gadget", b.namespace)), conditions(expression("has(object.spec.consumer)", "")))
	b.awaitValid(other, v1alpha1.ReasonInvalidExpression) // the schema is there
	b.reconcile(c)
	var once sync.Once
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/gadgets") {
			once.Do(func() { g.haveInSpec("consumer"); b.awaitValid(other, "") })
		}
		return nil, nil
	})
	wantRun(t, b.run(c), v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the view was not complete: resourceSelectors[0].matchConditions[0]", "undefined field 'usedBy'")
	must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(used), used))
}

// A run that ends because its conditions do not fit the schema makes the Cleaner invalid, until they fit again.
func TestSchemaThatChangedIsSaidInReady(t *testing.T) {
	t.Parallel()
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

// A document of the schemas has a megabyte: it is read once, and a run asks only whether it has changed.
func TestSchemaIsReadOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionDelete, conditions(expression("object.metadata.name == 'x'", ""))) // nothing matches, so nothing is checked twice
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
