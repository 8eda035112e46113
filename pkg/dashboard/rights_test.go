// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// people are an administrator, an editor and a viewer of a team that has one namespace, and nobody. The viewer has rights
// in that namespace only; the editor may edit Cleaners, too, by the role that is shipped.
func people(t *testing.T, c client.Client, team string) map[string]*visitor {
	t.Helper()
	all := map[string]*rest.Config{"admin": env.Config}
	for _, name := range []string{"editor", "viewer", "nobody"} {
		user, err := env.AddUser(name)
		must(t, err)
		all[name] = user.Config()
	}
	var role rbacv1.ClusterRole
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "rbac", "cleaner_editor_role.yaml"))
	must(t, err)
	must(t, yaml.UnmarshalStrict(text, &role))
	create(t, c, &role)
	create(t, c, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "editors-"}, Subjects: []rbacv1.Subject{{Kind: "User", Name: "editor"}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
	})
	// The roles view and edit are these, once a controller has put them together.
	for role, names := range map[string][]string{"view": {"viewer", "editor"}, "edit": {"editor"}} {
		for _, name := range names {
			create(t, c, &rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: team, GenerateName: role + "-"}, Subjects: []rbacv1.Subject{{Kind: "User", Name: name}},
				RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:aggregate-to-" + role},
			})
		}
	}
	visitors := map[string]*visitor{}
	for name, config := range all {
		visitors[name] = visit(t, config)
	}
	return visitors
}

func settingsIn(namespace string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "settings"}, Data: map[string]string{"colour": "red"},
	}
}

// asked is a request of TestRights, and what the administrator, the editor, the viewer and nobody are answered: a status
// and, with 403, the missing right.
type asked struct {
	route, path string
	body        any
	want        [4]string
}

const (
	noCleaners  = "403 list cleaners.apps.projectsveltos.io"
	noCleaner   = "403 get cleaners.apps.projectsveltos.io"
	noRuns      = "403 list cleanerruns.apps.projectsveltos.io"
	noRun       = "403 get cleanerruns.apps.projectsveltos.io"
	noReports   = "403 list reports.apps.projectsveltos.io"
	noReport    = "403 get reports.apps.projectsveltos.io"
	noPatch     = "403 patch cleaners.apps.projectsveltos.io"
	noSecret    = "403 get secrets in namespace projectsveltos"
	everybody   = "200"
	nothingHere = "404"
)

// TestRights asks each endpoint as four people.
func TestRights(t *testing.T) {
	c := admin(t)
	team := namespace(t, c)
	settings := create(t, c, settingsIn(team))
	of := cleaner(t, c, team, func(spec *v1alpha1.CleanerSpec) { spec.Action = ptr.To(v1alpha1.ActionDelete) })
	copies := ran(t, c, of, map[string]client.Object{"ConfigMap": settings.DeepCopy()})
	run := planned(t, c, of, time.Hour)
	manifest := Manifest{YAML: fmt.Sprintf("apiVersion: %s\nkind: Cleaner\nmetadata: {name: %s}\nspec: {schedule: '@daily', resourcePolicySet: "+
		"{resourceSelectors: [{group: '', kind: ConfigMap, version: v1, namespace: %s}]}}\n", v1alpha1.GroupVersion, of.Name, team)}
	decision := PlanDecision{Hash: "1234", Reason: "in use"}
	noDecision := fmt.Sprintf("403 approve cleaners.apps.projectsveltos.io %q", of.Name)

	visitors, covered := people(t, c, team), map[string]bool{}
	for _, a := range rights(of.Name, run.Name, copies.Name, team, manifest, decision, noDecision) {
		covered[a.route] = true
		method, path, _ := strings.Cut(a.route, " ")
		if a.path != "" {
			path = a.path
		}
		for i, name := range []string{"admin", "editor", "viewer", "nobody"} {
			status, answer := visitors[name].ask(method, path, a.body)
			var refusal Error
			_ = json.Unmarshal([]byte(answer), &refusal) // of an answer that is no refusal, nothing
			if got := strings.TrimSpace(fmt.Sprintf("%d %s", status, refusal.Missing)); got != a.want[i] {
				t.Errorf("%s %s as %s: %s, not %s: %.300s", method, path, name, got, a.want[i], answer)
			}
		}
	}
	for route := range New(Options{}).routes() {
		if !covered[strings.Replace(route, "/api/v1/", "", 1)] {
			t.Errorf("%s is not asked", route)
		}
	}
}

func rights(of, run, copies, team string, manifest Manifest, decision PlanDecision, noDecision string) []asked {
	get := func(route, path string, want ...string) asked {
		return asked{"GET " + route, path, nil, [4]string(want)}
	}
	post := func(route, path string, body any, want ...string) asked {
		return asked{"POST " + route, path, body, [4]string(want)}
	}
	name := "cleaners/" + of
	record, copied := "runs/"+run, "runs/"+copies
	object := "object=ConfigMap/" + team + "/settings"
	return []asked{
		get("health", "", everybody, everybody, everybody, everybody),
		get("whoami", "", everybody, everybody, everybody, everybody),
		get("access", "", everybody, everybody, everybody, everybody),
		get("summary", "", everybody, everybody, everybody, everybody),
		get("library", "", everybody, everybody, everybody, everybody),
		get("library/{name}", "library/unused", everybody, everybody, everybody, everybody),
		get("doctor", "", everybody, everybody, everybody, everybody),
		get("cleaners", "", "200", "200", noCleaners, noCleaners),
		get("cleaners/{name}", name, "200", "200", noCleaner, noCleaner),
		post("cleaners", "cleaners?dryRun=true", Manifest{YAML: strings.Replace(manifest.YAML, of, "another", 1)},
			"201", "201", "403 create cleaners.apps.projectsveltos.io", "403 create cleaners.apps.projectsveltos.io"),
		{"PUT cleaners/{name}", name + "?dryRun=true", manifest, [4]string{"200", "200", noCleaner, noCleaner}},
		post("cleaners/{name}/trigger", name+"/trigger", nil, "202", "202", noPatch, noPatch),
		post("cleaners/{name}/suspend", name+"/suspend", nil, "200", "200", noPatch, noPatch),
		post("cleaners/{name}/resume", name+"/resume", nil, "200", "200", noPatch, noPatch),
		post("cleaners/{name}/cancel", name+"/cancel", nil, "409", "409", noCleaner, noCleaner),
		post("cleaners/{name}/notify-test", name+"/notify-test", nil, "200", "200", noCleaner, noCleaner),
		get("channels", "", "200", "200", noCleaners, noCleaners),
		post("trigger-all", "trigger-all", nil, "202", "202", noCleaners, noCleaners),
		get("runs", "", "200", "200", noRuns, noRuns),
		get("runs/{name}", record, "200", "200", noRun, noRun),
		get("runs/{name}/outcomes", record+"/outcomes", "200", "200", noRun, noRun),
		get("runs/{name}/diff", record+"/diff", nothingHere, nothingHere, noRun, noRun),
		get("runs/{name}/restore", copied+"/restore", "200", noSecret, noRun, noRun),
		get("runs/{name}/copy", copied+"/copy?"+object, "200", noSecret, noRun, noRun),
		post("runs/{name}/restore", copied+"/restore", RestoreRequest{}, "200", noSecret, noRun, noRun),
		get("activity", "activity?cleaner="+of, everybody, everybody, everybody, everybody), // with what could not be read
		get("plans", "", "200", "200", noRuns, noRuns),
		get("plans/{name}", "plans/"+run, "200", "200", noRun, noRun),
		post("plans/{name}/approve", "plans/"+run+"/approve", decision, "200", noDecision, noRun, noRun),
		post("plans/{name}/reject", "plans/"+run+"/reject", decision, "409", noDecision, noRun, noRun),
		get("findings", "findings?namespace="+team, everybody, everybody, everybody, everybody), // with what could not be read
		get("findings/cleaner", "findings/cleaner?namespace="+team+"&kind=ConfigMap&type=Unused", "200", "422", "422", "422"),
		get("why", "why?"+object, everybody, everybody, everybody, everybody),
		get("loss", "loss?kind=Pod", everybody, everybody, everybody, everybody),
		get("reports", "", "200", "200", noReports, noReports),
		get("reports/{name}", "reports/"+of, nothingHere, nothingHere, noReport, noReport),
		post("reports/{name}/rollback", "reports/"+of+"/rollback", nil, "200", noSecret, noRuns, noRuns),
	}
}

// TestOneNamespace is of a person with rights in one namespace: the findings of that namespace, and of no other.
func TestOneNamespace(t *testing.T) {
	c := admin(t)
	team, other := namespace(t, c), namespace(t, c)
	create(t, c, settingsIn(team))
	create(t, c, settingsIn(other))
	visitors := people(t, c, team)
	for name, want := range map[string]struct{ namespace, found string }{
		"its own":     {team, team + "/settings"},
		"another":     {other, ""},
		"the cluster": {"", ""},
	} {
		for _, who := range []string{"viewer", "editor"} {
			var found Findings
			visitors[who].wants(http.StatusOK, http.MethodGet, "findings?q=settings&namespace="+want.namespace, nil, &found)
			names := ""
			for _, f := range found.Items {
				names += f.Namespace + "/" + f.Name
			}
			if names != want.found || len(found.Unread) == 0 {
				t.Errorf("%s of %s: found %q, and %d lists were not read", who, name, names, len(found.Unread))
			}
		}
	}
	var why struct{ Exists bool }
	visitors["viewer"].wants(http.StatusOK, http.MethodGet, "why?object=ConfigMap/"+team+"/settings", nil, &why)
	if !why.Exists {
		t.Error("the viewer is not shown an object of the namespace")
	}
	visitors["viewer"].wants(http.StatusOK, http.MethodGet, "why?object=ConfigMap/"+other+"/settings", nil, &why)
	if why.Exists {
		t.Error("the viewer is shown an object of another namespace")
	}
	var access Access
	visitors["viewer"].wants(http.StatusOK, http.MethodGet, "access?namespace="+team, nil, &access)
	for _, right := range access.Rights {
		if right.Allowed.Allowed != (right.ID == RightFindings) || right.Allowed.Allowed == (right.Missing != "") {
			t.Errorf("the viewer's right %+v", right)
		}
	}
}

// TestEditorLeavesEvents is of the role that is shipped.
func TestEditorLeavesEvents(t *testing.T) {
	c := admin(t)
	team := namespace(t, c)
	of := cleaner(t, c, team, nil)
	people(t, c, team)["editor"].wants(http.StatusAccepted, http.MethodPost, "cleaners/"+of.Name+"/trigger", nil, nil)
	if notes := eventsOf(t, c, of); len(notes) != 1 || notes[0] != "RunRequested: editor asked for a run of Cleaner "+of.Name {
		t.Errorf("the Events are %q", notes)
	}
}
