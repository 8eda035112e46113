// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// server answers as an API server: each path with a text, or with the code that is the text.
func server(t *testing.T, answers map[string]string, asked func(path string)) *selector.Reader {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked != nil {
			asked(r.URL.RequestURI())
		}
		w.Header().Set("Content-Type", "application/json")
		text, ok := answers[r.URL.Path]
		switch {
		case !ok:
			text = "404"
		case r.URL.Query().Has("hash"): // answered with a redirect if it is outdated, which the operator refuses
			text = "502"
		}
		var code int
		if _, err := fmt.Sscanf(text, "%d", &code); err == nil {
			w.WriteHeader(code)
			status := metav1.Status{Status: "Failure", Code: int32(code), Reason: map[int]metav1.StatusReason{403: "Forbidden", 404: "NotFound"}[code], Message: "no"}
			status.APIVersion, status.Kind = "v1", "Status"
			if _, name, isNamed := strings.Cut(text, " "); isNamed {
				status.Details = &metav1.StatusDetails{Name: name}
			}
			text = encode(t, status)
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	client, err := rest.UnversionedRESTClientFor(&rest.Config{Host: s.URL, QPS: -1, ContentConfig: rest.ContentConfig{
		GroupVersion: &schema.GroupVersion{}, NegotiatedSerializer: serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return selector.NewReader(client, clocktesting.NewFakePassiveClock(now))
}

func encode(t *testing.T, value any) string {
	t.Helper()
	body, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func list(items ...string) string {
	return `{"metadata":{"resourceVersion":"1"},"items":[` + strings.Join(items, ",") + `]}`
}

func item(namespace, name, rest string) string {
	return fmt.Sprintf(`{"metadata":{"namespace":%q,"name":%q,"uid":"%s/%s","resourceVersion":"1"}%s}`, namespace, name, namespace, name, rest)
}

// catalog serves ConfigMaps, Pods, RoleBindings and a custom resource.
func catalog() *selector.Catalog {
	kind := func(gv schema.GroupVersion, kind, resource string) object.Kind {
		return object.Kind{GroupVersionKind: gv.WithKind(kind), Resource: resource, Namespaced: true}
	}
	return &selector.Catalog{Kinds: []object.Kind{
		kind(corev1.SchemeGroupVersion, "ConfigMap", "configmaps"), kind(corev1.SchemeGroupVersion, "Pod", "pods"),
		kind(schema.GroupVersion{Group: "example.com", Version: "v1"}, "App", "apps"),
	}}
}

func TestMain(m *testing.M) {
	publishPause = time.Microsecond
	os.Exit(m.Run())
}

// learns makes the schemas name the settings of an App, until the test ends.
func learns(t *testing.T) {
	t.Helper()
	before := learnDocument
	learnDocument = func([]byte) ([]graph.Source, error) {
		reference := []graph.Reference{{Path: "spec.settings", To: "ConfigMap"}}
		return []graph.Source{{Kind: "App.example.com", References: reference}, {Kind: "NotServed.example.com", References: reference}}, nil
	}
	t.Cleanup(func() { learnDocument = before })
}

var index = indexOf("{}")

// indexOf is the list of documents where the one of example.com/v1 is this.
func indexOf(document string) string {
	return fmt.Sprintf(`{"paths":{"apis/example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/example.com/v1?hash=%X"}}}`, sha512.Sum512([]byte(document)))
}

// unused are the ConfigMaps, and what is not read.
func answers(changes ...string) map[string]string {
	all := map[string]string{
		"/openapi/v3": index, "/openapi/v3/apis/example.com/v1": "{}",
		"/api/v1/configmaps":        list(item("a", "used", ""), item("a", "unused", "")),
		"/api/v1/pods":              list(),
		"/apis/example.com/v1/apps": list(item("a", "app", `,"spec":{"settings":"used","other":"unused"}`)),
	}
	for i := 0; i < len(changes); i += 2 {
		all[changes[i]] = changes[i+1]
	}
	return all
}

func configMaps() []finding.Want {
	return []finding.Want{{Kind: schema.GroupKind{Kind: "ConfigMap"}, Type: "Unused"}}
}

func reported(finder *finding.Finder) string {
	var lines []string
	for f := range finder.Findings() {
		line := f.Name
		for _, unread := range f.Unknown {
			line += fmt.Sprintf(" (%s: %s)", unread.Kind, unread.Err)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestRead(t *testing.T) {
	learns(t)
	const forbidden = `(App.example.com: listing App (/apis/example.com/v1/apps): no)`
	for name, test := range map[string]struct {
		answers map[string]string
		options Options
		want    string
	}{
		"learned":          {answers(), Options{}, "unused"},
		"App forbidden":    {answers("/apis/example.com/v1/apps", "403"), Options{}, "unused " + forbidden + "\nused " + forbidden},
		"declared":         {answers(), Options{Declared: []graph.Source{{Kind: "App.example.com", References: []graph.Reference{{Path: "spec.other", To: "ConfigMap"}}}}}, ""},
		"schema forbidden": {answers("/openapi/v3/apis/example.com/v1", "403"), Options{}, "unused (*.example.com: the schemas cannot be read: no)\nused (*.example.com: the schemas cannot be read: no)"},
		"server away":      {answers(), Options{Catalog: &selector.Catalog{Kinds: catalog().Kinds, Unserved: map[string]error{"other.io": errors.New("away")}}}, "unused (*.other.io: away)"},
		"group forgotten":  {answers("/openapi/v3", `{"paths":{}}`), Options{}, "unused (*.example.com: the schemas cannot be read: no schema is published)\nused (*.example.com: the schemas cannot be read: no schema is published)"},
		"metrics away":     {answers(), Options{Catalog: &selector.Catalog{Kinds: catalog().Kinds, Unserved: map[string]error{"metrics.k8s.io": errors.New("away")}}}, "unused"},
		"not included":     {answers(), Options{Include: func(o object.Object) bool { return o.Name != "unused" }}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			reader := server(t, test.answers, nil)
			test.options.Wanted, test.options.Now = configMaps(), now
			if test.options.Catalog == nil {
				test.options.Catalog = catalog()
			}
			finder, err := New(t.Context(), reader, test.options)
			if err != nil {
				t.Fatal(err)
			}
			if err := Read(t.Context(), reader, finder, "", nil, Observer{}); err != nil {
				t.Fatal(err)
			}
			if got := reported(finder); got != test.want {
				t.Errorf("found:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

// What a group that nobody knows holds may be templates of Pods, which a selector matches.
func TestUnservedTemplates(t *testing.T) {
	budgets := catalog()
	budgets.Kinds = append(budgets.Kinds[:2:2], object.Kind{
		GroupVersionKind: schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"}, Resource: "poddisruptionbudgets", Namespaced: true,
	})
	budgets.Unserved = map[string]error{"other.io": errors.New("away")}
	reader := server(t, answers("/apis/policy/v1/poddisruptionbudgets", list(item("a", "web", `,"spec":{"selector":{"matchLabels":{"app":"web"}}}`))), nil)
	wanted := []finding.Want{{Kind: schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"}, Type: "Unused"}}
	finder, err := New(t.Context(), reader, Options{Wanted: wanted, Now: now, Catalog: budgets})
	if err != nil {
		t.Fatal(err)
	}
	if err := Read(t.Context(), reader, finder, "", nil, Observer{}); err != nil {
		t.Fatal(err)
	}
	if got, want := reported(finder), "web (*.other.io: away)"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
}

// What is served, and is not in the schemas that the server publishes, may name anything.
func TestSchemasWithoutTheKind(t *testing.T) {
	const other = `{"components":{"schemas":{"Other":{"type":"object","x-kubernetes-group-version-kind":[{"group":"example.com","kind":"Other","version":"v1"}]}}}}`
	for name, document := range map[string]string{"of another kind": other, "gone": "404"} {
		t.Run(name, func(t *testing.T) {
			reader := server(t, answers("/openapi/v3/apis/example.com/v1", document), nil)
			finder, err := New(t.Context(), reader, Options{Wanted: configMaps(), Now: now, Catalog: catalog()})
			if err != nil {
				t.Fatal(err)
			}
			if err := Read(t.Context(), reader, finder, "", nil, Observer{}); err != nil {
				t.Fatal(err)
			}
			const why = "(*.example.com: the schemas cannot be read: no schema is published for App)"
			if got, want := reported(finder), "unused "+why+"\nused "+why; got != want {
				t.Errorf("found:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// A failure that is not a missing right ends the survey, unless who asked can do with less.
func TestReadFails(t *testing.T) {
	learns(t)
	reader := server(t, answers("/apis/example.com/v1/apps", "500"), nil)
	read := func(observer Observer) (*finding.Finder, error) {
		finder, err := New(t.Context(), reader, Options{Wanted: configMaps(), Now: now, Catalog: catalog()})
		if err != nil {
			t.Fatal(err)
		}
		return finder, Read(t.Context(), reader, finder, "", nil, observer)
	}
	if _, err := read(Observer{}); err == nil || !strings.HasPrefix(err.Error(), "looking for findings: listing App (/apis/example.com/v1/apps): ") {
		t.Errorf("got %v", err)
	}
	finder, err := read(Observer{Unread: func(finding.List, error, bool) error { return nil }})
	if found := slices.Collect(finder.Findings()); err != nil || len(found) != 2 || len(found[0].Unknown) != 1 {
		t.Errorf("got %v, %v", err, found)
	}
}

// A list that is not found is empty only when nobody serves the kind any more: a version may have gone, and a server behind an APIService may be
// another one for a while.
func TestReadFindsNoList(t *testing.T) {
	learns(t)
	discovery := func(versions string) string {
		return `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"name":"example.com"},"versions":[` + versions + `]}]}`
	}
	const none = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[]}`
	const apps = `{"version":"v2","resources":[{"resource":"apps","responseKind":{"group":"example.com","version":"v2","kind":"App"},"scope":"Namespaced","verbs":["list"]}]}`
	for name, test := range map[string]struct {
		groups string
		gone   bool
	}{
		"gone": {none, true}, "gone, its group not": {discovery(""), true}, "of another version": {discovery(apps), false},
		"behind a server that is away": {discovery(`{"version":"v1","freshness":"Stale"}`), false}, "nobody knows": {"500", false},
	} {
		t.Run(name, func(t *testing.T) {
			reader := server(t, answers("/apis/example.com/v1/apps", "404", "/api", none, "/apis", test.groups), nil)
			finder, err := New(t.Context(), reader, Options{Wanted: configMaps(), Now: now, Catalog: catalog()})
			if err != nil {
				t.Fatal(err)
			}
			if err := Read(t.Context(), reader, finder, "", nil, Observer{}); (err == nil) != test.gone {
				t.Errorf("got %v", err)
			}
		})
	}
}

// What was not read before the survey was stopped makes nothing look unused.
func TestReadIsStopped(t *testing.T) {
	learns(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	reader := server(t, answers(), nil)
	finder, err := New(ctx, reader, Options{Wanted: configMaps(), Now: now, Catalog: catalog()})
	if err != nil {
		t.Fatal(err)
	}
	stopped := errors.New("stopped")
	observer := Observer{List: func(kind object.Kind, _, _ int) {
		if kind.Kind == "App" {
			cancel(stopped)
		}
	}}
	if err := Read(ctx, reader, finder, "", nil, observer); !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
	for f := range finder.Findings() {
		if len(f.Unknown) == 0 {
			t.Errorf("%s is said to be unused", f.Name)
		}
	}
}

// A schema that is published some time after its kind is served is waited for. What is never published is waited for once.
func TestSchemasAreWaitedFor(t *testing.T) {
	learns(t)
	asked := 0
	all := answers("/openapi/v3", `{"paths":{}}`)
	reader := server(t, all, func(path string) {
		if path != "/openapi/v3" {
			return
		}
		if asked++; asked == 3 {
			all["/openapi/v3"] = index
		}
	})
	var schemas Schemas
	if sources, unlearned, err := schemas.learn(t.Context(), reader, catalog()); err != nil || len(unlearned) > 0 || len(sources) != 1 {
		t.Errorf("after %d looks: %v %v %v", asked, sources, unlearned, err)
	}
	all["/openapi/v3"] = `{"paths":{}}`
	for _, want := range []int{publishTries, 1} {
		before := asked
		if _, unlearned, err := schemas.learn(t.Context(), reader, catalog()); err != nil || len(unlearned) != 1 || asked-before != want {
			t.Errorf("after %d looks, want %d: %v %v", asked-before, want, unlearned, err)
		}
	}
}

// A legacy CustomResourceDefinition preserves what its schema, which is published as any other, does not have. Who may not read them takes each
// for one.
func TestSchemasOfLegacyDefinitions(t *testing.T) {
	const path, document = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"components":{"schemas":{"App":{"type":"object","properties":{"spec":{"type":"object"}},
		"x-kubernetes-group-version-kind":[{"group":"example.com","kind":"App","version":"v1"}]}}}}`
	definition := func(preserve bool) string {
		return list(item("", "apps.example.com", fmt.Sprintf(`,"spec":{"group":"example.com","names":{"kind":"App"},"preserveUnknownFields":%t}`, preserve)))
	}
	for name, test := range map[string]struct{ definitions, want string }{
		"legacy": {definition(true), "unused"}, "current": {definition(false), "legacy\nunused"}, "forbidden": {"403", "unused"}, "broken": {"500", "unused"},
	} {
		t.Run(name, func(t *testing.T) {
			all, asked := answers("/openapi/v3/apis/example.com/v1", document, path, test.definitions,
				"/api/v1/configmaps", list(item("a", "legacy", ""), item("a", "unused", "")),
				"/apis/example.com/v1/apps", list(item("a", "app", `,"spec":{"old":{"configMapName":"legacy"}}`))), 0
			reader := server(t, all, func(uri string) {
				if strings.HasPrefix(uri, path) {
					asked++
				}
			})
			var schemas Schemas
			for range 2 {
				finder, err := New(t.Context(), reader, Options{Wanted: configMaps(), Now: now, Catalog: catalog(), Schemas: &schemas})
				if err != nil {
					t.Fatal(err)
				}
				if err := Read(t.Context(), reader, finder, "", nil, Observer{}); err != nil {
					t.Fatal(err)
				}
				if got := reported(finder); got != test.want {
					t.Errorf("found:\n%s\nwant:\n%s", got, test.want)
				}
			}
			if isRead := strings.HasPrefix(test.definitions, "{"); isRead && asked != 1 {
				t.Errorf("the definitions were read %d times", asked)
			}
		})
	}
}

// Each document is read once, until its hash changes. What is not of the hash is not kept: the list may lag behind.
func TestSchemasAreKept(t *testing.T) {
	learns(t)
	documents := 0
	all := answers()
	reader := server(t, all, func(path string) {
		if strings.HasPrefix(path, "/openapi/v3/") {
			documents++
		}
	})
	var schemas Schemas
	for i, test := range []struct {
		listed, published string
		documents         int
	}{
		{"{}", "{}", 1},
		{"{}", "{}", 1},
		{"{ }", "{ }", 2},
		{"{}", "{ }", 3}, // the list lags behind
		{"{}", "{}", 4},  // back again
		{"{}", "{}", 4},
	} {
		all["/openapi/v3"], all["/openapi/v3/apis/example.com/v1"] = indexOf(test.listed), test.published
		sources, unlearned, err := schemas.learn(t.Context(), reader, catalog())
		if err != nil || len(unlearned) > 0 || len(sources) != 1 || documents != test.documents {
			t.Errorf("%d: %d documents, want %d: %v %v %v", i, documents, test.documents, sources, unlearned, err)
		}
	}
	all["/openapi/v3"] = "403"
	if _, _, err := schemas.learn(t.Context(), reader, catalog()); err == nil {
		t.Error("without schemas nothing was learned, and nobody was warned")
	}
}

// Where the schemas of a group are is said by the server that has the group. It leads to no other path, and its kinds are unknown.
func TestSchemasLeadNowhereElse(t *testing.T) {
	learns(t)
	all := map[string]string{"/openapi/v3": strings.Replace(index, "/openapi/v3/apis/example.com/v1", "/api/v1/nodes/n/proxy/pods", 1), "/api/v1/nodes/n/proxy/pods": "{}"}
	gv := schema.GroupVersion{Group: "example.com", Version: "v1"}
	served := &selector.Catalog{Kinds: []object.Kind{{GroupVersionKind: gv.WithKind("App"), Resource: "apps", Namespaced: true}}}
	sources, unlearned, err := (&Schemas{}).learn(t.Context(), server(t, all, nil), served)
	const want = "the schemas cannot be read: nothing was sent to the API server: it says that the schemas of example.com/v1 are at "
	if got := unlearned["example.com"]; err != nil || len(sources) > 0 || got == nil || !strings.HasPrefix(got.Error(), want) {
		t.Errorf("learned %v, and not %v: %v", sources, unlearned, err)
	}
}

// What was learned is always in the same order: by it, a use is named by one of its paths.
func TestSchemasAreInOrder(t *testing.T) {
	before := learnDocument
	learnDocument = func(document []byte) (sources []graph.Source, err error) {
		err = json.Unmarshal(document, &sources)
		return sources, err
	}
	t.Cleanup(func() { learnDocument = before })
	all, many, want := map[string]string{}, &selector.Catalog{}, ""
	index := ""
	for _, version := range []string{"a.io/v1", "a.io/v2", "b.io/v1", "c.io/v1", "d.io/v1", "e.io/v1"} {
		gv, _ := schema.ParseGroupVersion(version)
		many.Kinds = append(many.Kinds, object.Kind{GroupVersionKind: gv.WithKind("App"), Resource: "apps", Namespaced: true})
		all["/openapi/v3/apis/"+version] = encode(t, []graph.Source{{Kind: "App." + gv.Group, Guess: []string{version}}})
		index += fmt.Sprintf(`,"apis/%[1]s":{"serverRelativeURL":"/openapi/v3/apis/%[1]s"}`, version)
		want += " " + version
	}
	all["/openapi/v3"] = `{"paths":{` + strings.TrimPrefix(index, ",") + `}}`
	reader := server(t, all, nil)
	for range 3 {
		sources, unlearned, err := (&Schemas{}).learn(t.Context(), reader, many)
		got := ""
		for _, source := range sources {
			got += " " + source.Guess[0]
		}
		if err != nil || len(unlearned) > 0 || got != want {
			t.Fatalf("learned from%s, want%s: %v %v", got, want, unlearned, err)
		}
	}
}

func TestDeclared(t *testing.T) {
	const path = "/api/v1/namespaces/ops/configmaps/kubecleaner-references"
	declares := func(data string) string {
		return `{"metadata":{"namespace":"ops","name":"kubecleaner-references","uid":"u","resourceVersion":"1"},"data":{` + data + `}}`
	}
	const good = `"apps.yaml":"- kind: App.example.com\n  references: [{path: spec.settings, to: ConfigMap}]","notes.txt":"- ["`
	for name, test := range map[string]struct {
		answer string
		want   int
		err    string
	}{
		"declared":    {declares(good), 1, ""},
		"none":        {"404 kubecleaner-references", 0, ""},
		"another 404": {"404", 0, "the references declared in ConfigMap ops/kubecleaner-references cannot be read: no"},
		"forbidden":   {"403", 0, "the references declared in ConfigMap ops/kubecleaner-references cannot be read: no"},
		"not YAML":    {declares(good + `,"b.yaml":"- ["`), 1, "ConfigMap ops/kubecleaner-references: data[b.yaml]: "},
		"bad path":    {declares(good + `,"b.yaml":"- {kind: App.example.com, references: [{path: a., to: Pod}]}"`), 1, "ConfigMap ops/kubecleaner-references: data[b.yaml]: references of App.example.com: path \"a.\": a field's name is missing at the end"},
	} {
		t.Run(name, func(t *testing.T) {
			reader := server(t, map[string]string{path: test.answer}, nil)
			sources, err := Declared(t.Context(), reader, catalog(), "ops")
			if len(sources) != test.want || (err == nil) != (test.err == "") || err != nil && !strings.HasPrefix(err.Error(), test.err) {
				t.Errorf("got %v, %v", sources, err)
			}
		})
	}
}

// TestDeclaredKinds: a kind that is mistyped would name nothing, and what it should keep would be deleted. One that the
// cluster does not serve may be served later.
func TestDeclaredKinds(t *testing.T) {
	const core, none = "the core group has no kind ", `write its group after a dot, as in Deployment.apps`
	for kind, want := range map[string]string{
		"ConfigMap": "", "Pod": "", "Secret": "", "Deployment.apps": "", "Ingress.extensions": "", "App.example.com": "",
		"CustomResourceDefinition.apiextensions.k8s.io": "", "APIService.apiregistration.k8s.io": "", "Cleaner.apps.projectsveltos.io": "", "Widget.v1.apps": "",
		"Storefront.shop.example.com": "", "Deployment.app": "", "Other.example.com": "", "Codebase.v2.edp.epam.com": "",
		"Configmap": core + `"Configmap": write ConfigMap`, "configmap": core + `"configmap": write ConfigMap`,
		"ConfigMaps": core + `"ConfigMaps": write ConfigMap`, "Storefront": core + `"Storefront": ` + none,
		"App": core + `"App": write App.example.com`, "apps": core + `"apps": write App.example.com`,
		"Deployment": core + `"Deployment": write Deployment.apps`, "ListOptions": core + `"ListOptions": ` + none,
		"Ingress":             core + `"Ingress": write Ingress.networking.k8s.io`,
		"ConfigMap.core":      `the core group has no name: write ConfigMap`,
		"Deployment.v1.apps":  `group "v1.apps" has a version: write Deployment.apps`,
		"Deployments.apps":    `group "apps" has no kind "Deployments": write Deployment.apps`,
		"Ingress.apps":        `group "apps" has no kind "Ingress": write Ingress.networking.k8s.io`,
		"Widget.apps":         `group "apps" has no kind "Widget": kubectl api-resources lists those of the cluster`,
		"app.example.com":     `group "example.com" has no kind "app": write App.example.com`,
		"Apps.example.com":    `group "example.com" has no kind "Apps": write App.example.com`,
		"Apps.v1.example.com": `group "v1.example.com" has a version: write App.example.com`,
	} {
		text := "- {kind: " + kind + ", references: [{path: a, to: ConfigMap}]}\n- {kind: App.example.com, references: [{path: a, to: " + kind + "}]}"
		sources, err := graph.Parse([]byte(text), Mistaken(catalog()))
		switch {
		case (want == "") != (err == nil):
			t.Errorf("%s: %d sources, %v", kind, len(sources), err)
		case want != "" && err.Error() != "references: entry 1 ("+kind+"): "+want+"\nreferences: entry 2 (App.example.com): references[0].to: "+want:
			t.Errorf("%s: %v\nwant %s", kind, err, want)
		}
	}
}
