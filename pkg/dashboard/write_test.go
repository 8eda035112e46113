// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestManifestIsWhole: the operator, and its definitions, may be newer than the page.
func TestManifestIsWhole(t *testing.T) {
	const stored = `{"apiVersion":"v","kind":"Cleaner","metadata":{"name":"x","managedFields":[{"manager":"m"}],"annotations":` +
		`{"kubectl.kubernetes.io/last-applied-configuration":"{}"}},"spec":{"ofTomorrow":9007199254740993},"status":{"lastRun":{}}}`
	s := New(optionsOf(&rest.Config{
		Host: "http://127.0.0.1:1", Transport: answering(func(*http.Request) string { return stored }),
	}))
	p, err := s.person("")
	must(t, err)
	got, err := manifestOf(t.Context(), p, "x")
	must(t, err)
	if want := "apiVersion: v\nkind: Cleaner\nmetadata:\n  name: x\nspec:\n  ofTomorrow: 9007199254740993\n"; got != want {
		t.Errorf("it is shown as\n%s", got)
	}
}

// TestEditKeepsWhatWasApplied: without it, kubectl apply would never delete a field that is gone from its file.
func TestEditKeepsWhatWasApplied(t *testing.T) {
	c := admin(t)
	of := cleaner(t, c, namespace(t, c), nil)
	const applied = `{"spec":{"schedule":"0 3 * * *"}}`
	of.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: applied}
	must(t, c.Update(t.Context(), of))
	page := visit(t, env.Config)
	var shown CleanerDetail
	page.wants(http.StatusOK, http.MethodGet, "cleaners/"+of.Name, nil, &shown)
	if strings.Contains(shown.YAML, "last-applied") {
		t.Errorf("it is shown as\n%s", shown.YAML)
	}
	edited := Manifest{YAML: strings.Replace(shown.YAML, "0 3 * * *", "0 4 * * *", 1)}
	page.wants(http.StatusOK, http.MethodPut, "cleaners/"+of.Name, edited, nil)
	must(t, c.Get(t.Context(), client.ObjectKeyFromObject(of), of))
	if of.Spec.Schedule != "0 4 * * *" || of.Annotations[corev1.LastAppliedConfigAnnotation] != applied {
		t.Errorf("it is stored as %q, with %q", of.Spec.Schedule, of.Annotations)
	}
}

// TestStatusOfAFailedRead: only what the API server says does not exist is not found.
func TestStatusOfAFailedRead(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(refuses.Close)
	for status, page := range map[int]*visitor{
		http.StatusUnauthorized: visit(t, &rest.Config{Host: refuses.URL}),
		http.StatusBadGateway:   visit(t, &rest.Config{Host: "http://127.0.0.1:1"}),
		http.StatusNotFound:     visit(t, env.Config),
	} {
		page.wants(status, http.MethodGet, "cleaners/none", nil, nil)
		page.wants(status, http.MethodPost, "cleaners/none/cancel", nil, nil)
		page.wants(status, http.MethodPost, "cleaners/none/notify-test", nil, nil)
		page.wants(status, http.MethodPost, "plans/none/approve", PlanDecision{Hash: "1234"}, nil)
		manifest := Manifest{YAML: "apiVersion: " + v1alpha1.GroupVersion.String() + "\nkind: Cleaner\nmetadata: {name: none}\n"}
		page.wants(status, http.MethodPut, "cleaners/none", manifest, nil)
	}
}

// TestOfAnotherMoment: what a page shows may be old when somebody presses a button.
func TestOfAnotherMoment(t *testing.T) {
	c := admin(t)
	of := cleaner(t, c, namespace(t, c), nil)
	run := planned(t, c, of, 0)
	of.Status.ActiveRun = &v1alpha1.ActiveRun{Name: "later-2", NominalTime: nominal, Trigger: v1alpha1.TriggerSchedule}
	must(t, c.Status().Update(t.Context(), of))
	page := visit(t, env.Config)
	for _, asked := range []struct {
		path string
		body any
		want string
	}{
		{"cleaners/" + of.Name + "/cancel", Cancel{Run: "first-1"}, "run first-1 has ended; run later-2 is active now"},
		{"plans/" + run.Name + "/approve", PlanDecision{Hash: "1234", User: "ann"}, "you are admin now, not ann: load the page again"},
	} {
		if status, answer := page.ask(http.MethodPost, asked.path, asked.body); status != http.StatusConflict || !strings.Contains(answer, asked.want) {
			t.Errorf("%s: %d %s", asked.path, status, answer)
		}
	}
	page.wants(http.StatusAccepted, http.MethodPost, "cleaners/"+of.Name+"/cancel", Cancel{Run: "later-2"}, nil)
	page.wants(http.StatusOK, http.MethodPost, "plans/"+run.Name+"/approve", PlanDecision{Hash: "1234", User: "admin"}, nil)
}
