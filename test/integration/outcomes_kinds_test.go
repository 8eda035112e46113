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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// gadgets is a kind of the test's own, in the versions v1, which is stored, and v2. Its objects may name anything: while
// they cannot be read, other tests find nothing unused. So tests of it run before those that run in parallel.
type gadgets struct {
	*bench
	group string
	crd   *apiextensionsv1.CustomResourceDefinition
}

func (b *bench) gadgets() *gadgets {
	b.t.Helper()
	g := &gadgets{bench: b, group: b.namespace + ".kubecleaner.dev"}
	version := func(name string, stored bool) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: stored,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)}},
		}
	}
	g.crd = &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "gadgets." + g.group}}
	g.crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: g.group, Scope: apiextensionsv1.NamespaceScoped,
		Names:    apiextensionsv1.CustomResourceDefinitionNames{Kind: "Gadget", ListKind: "GadgetList", Plural: "gadgets", Singular: "gadget"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1", true), version("v2", false)},
	}
	must(b.t, apiextensionsv1.AddToScheme(b.user.Scheme()))
	must(b.t, b.user.Create(b.t.Context(), g.crd))
	b.t.Cleanup(func() {
		_ = b.user.Delete(context.Background(), g.crd)
		must(b.t, awaitAnswer("/apis", func(_ int, body string) bool { return !strings.Contains(body, g.group) }))
	})
	for _, v := range []string{"v1", "v2"} {
		awaitCode(b.t, g.path(v), http.StatusOK)
		b.eventually("discovery lists the Gadgets", func() bool { // it may come later than the lists
			_, err := b.user.RESTMapper().RESTMapping(schema.GroupKind{Group: g.group, Kind: "Gadget"}, v)
			return err == nil
		})
	}
	return g
}

func (g *gadgets) path(version string) string {
	return fmt.Sprintf("/apis/%s/%s/namespaces/%s/gadgets", g.group, version, g.namespace)
}

// create creates Gadgets, named gadget-0 and so on.
func (g *gadgets) create(n int) {
	g.t.Helper()
	g.together(n, func(i int) client.Object {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": g.group + "/v1", "kind": "Gadget"}}
		u.SetNamespace(g.namespace)
		u.SetName(fmt.Sprintf("gadget-%d", i))
		u.SetLabels(map[string]string{"test": "x"})
		return u
	})
}

// remove removes the CustomResourceDefinition and, with it, the Gadgets.
func (g *gadgets) remove() {
	if err := g.user.Delete(context.Background(), g.crd); err != nil {
		g.t.Error(err)
	}
	g.awaitNoneServed("v1")
}

// stopServing takes a version away.
func (g *gadgets) stopServing(version string) {
	edit(g.bench, g.crd, func(crd *apiextensionsv1.CustomResourceDefinition) {
		for i := range crd.Spec.Versions {
			if crd.Spec.Versions[i].Name == version {
				crd.Spec.Versions[i].Served = false
			}
		}
	})
	g.awaitNoneServed(version)
}

func (g *gadgets) awaitNoneServed(version string) {
	if err := awaitAnswer(g.path(version), func(code int, _ string) bool { return code == http.StatusNotFound }); err != nil {
		g.t.Error(err)
	}
}

// F12: the CustomResourceDefinition is removed, or the version is not served any more, after the list and before the deletes: what
// became of the objects is not known, so they are not Deleted, nor Gone. The others continue.
func TestKindThatGoesAwayBeforeItIsActedOn(t *testing.T) {
	for name, goAway := range map[string]func(*gadgets){
		"removed":    (*gadgets).remove,
		"not served": func(g *gadgets) { g.stopServing("v1") },
	} {
		for action, method := range map[v1alpha1.Action]string{v1alpha1.ActionDelete: http.MethodDelete, v1alpha1.ActionTransform: http.MethodPatch} {
			t.Run(name+", "+string(action), func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				g := b.gadgets()
				g.create(3)
				b.configMaps(b.namespace, "old", 3, stale)
				b.beforeFirst(method, "", func() { goAway(g) })
				c := b.cleaner(action, selecting(kind(g.group, "v1", "Gadget", b.namespace), kind("", "v1", "ConfigMap", b.namespace)), transform(touch))
				run := b.run(c)
				done := map[v1alpha1.Action]string{v1alpha1.ActionDelete: "deleted", v1alpha1.ActionTransform: "changed"}[action]
				wantRun(t, run, v1alpha1.ReasonPartiallyFailed, "6 of 6 objects matched; 3 "+done+", 3 whose kind is not served any more. The first failure was on Gadget ")
				wantCounts(t, run, v1alpha1.RunCounts{Considered: 6, Matched: 6, Acted: 3, Failed: 3})
				for i := range 3 {
					wantOutcome(t, run, fmt.Sprintf("gadget-%d", i), v1alpha1.OutcomeKindGone,
						"the API server does not serve Gadget of "+g.group+"/v1 any more, so it is not known what became of the object: ")
				}
				b.clock.SetTime(b.clock.Now().Add(time.Minute)) // kinds that were found are not asked for anew at once
				wantRun(t, b.run(c), v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the run could not read or judge everything: resourceSelectors[0]: kind Gadget of "+g.group+"/v1 is not served")
			})
		}
	}
}

// A kind that goes away when an object of it is looked at after a lost answer, or judged again.
func TestKindThatGoesAwayBeforeItIsReadAgain(t *testing.T) {
	for name, answered := range map[string]func(*gadgets, *http.Request) (*http.Response, error){
		"lost": func(_ *gadgets, r *http.Request) (*http.Response, error) { return cut(r) },
		"conflict": func(_ *gadgets, r *http.Request) (*http.Response, error) {
			return answer(r, http.StatusConflict, []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","message":"it changed","code":409}`)), nil
		},
		"no proof": func(_ *gadgets, r *http.Request) (*http.Response, error) { return answer(r, http.StatusOK, nil), nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			g := b.gadgets()
			g.create(1)
			b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
				if r.Method != http.MethodDelete {
					return nil, nil
				}
				g.stopServing("v1")
				return answered(g, r)
			})
			run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(kind(g.group, "v1", "Gadget", b.namespace))))
			wantOutcome(t, run, "gadget-0", v1alpha1.OutcomeKindGone, "so it is not known what became of the object")
		})
	}
}

// F12, F13: a kind that goes away between being resolved and being listed, a version that is not served, a conversion webhook that
// is down: the view is not complete, and nothing is touched.
func TestKindThatCannotBeReadWhole(t *testing.T) {
	for name, test := range map[string]struct {
		version string
		prepare func(*gadgets)
		want    string
	}{
		"removed before the list": {"v1", func(g *gadgets) { g.beforeList(g.remove) }, "the server could not find the requested resource"},
		"removed before the run":  {"v1", (*gadgets).remove, "/v1 is not served"},
		"version not served": {
			"v1", func(g *gadgets) { g.stopServing("v1") },
			"/v1 is not served: the cluster serves group ",
		},
		"version not served from the list on": {"v1", func(g *gadgets) { g.beforeList(func() { g.stopServing("v1") }) }, "the server could not find the requested resource"},
		"conversion webhook down":             {"v2", (*gadgets).breakConversion, "conversion webhook for "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			g := b.gadgets()
			g.create(3)
			b.configMaps(b.namespace, "old", 3)
			test.prepare(g)
			run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(kind("", "v1", "ConfigMap", b.namespace), kind(g.group, test.version, "Gadget", b.namespace))))
			wantRun(t, run, v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the run could not read or judge everything: resourceSelectors[1]: ", test.want)
			wantCounts(t, run, v1alpha1.RunCounts{Considered: 3, Matched: 3, Skipped: 3})
			b.wantUntouched()
			b.wantNames("old-0", "old-1", "old-2")
		})
	}
}

// beforeList does something when the Gadgets are about to be listed.
func (g *gadgets) beforeList(do func()) {
	var once sync.Once
	g.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && r.URL.Path == g.path("v1") {
			once.Do(do)
		}
		return nil, nil
	})
}

// breakConversion lets a webhook that nobody answers convert between the versions.
func (g *gadgets) breakConversion() {
	edit(g.bench, g.crd, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ConversionReviewVersions: []string{"v1"},
				ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:1/convert")},
			},
		}
	})
	must(g.t, awaitAnswer(g.path("v2"), func(code int, body string) bool {
		return code != http.StatusOK && strings.Contains(body, "conversion webhook")
	}))
	// The API server answers 429 with a time to wait that grows, which the client waits for ten times: the test does not.
	g.answering("/gadgets", func(_ int, r *http.Request, body []byte) *http.Response { return answer(r, http.StatusOK, body) })
}
