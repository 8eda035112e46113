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

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// cannot is what the API server says of the test's account.
func cannot(b *bench, verb, resource, where string) string {
	if where == "" {
		where = `in the namespace "` + b.namespace + `"`
	}
	name, group, _ := strings.Cut(resource, ".")
	return fmt.Sprintf(`User %q cannot %s resource %q in API group %q %s`, b.accountName(), verb, name, group, where)
}

const (
	nothingRead = "Nothing was touched, because the view was not complete: "
	atTheTop    = "at the cluster scope"
)

func grantHint(b *bench) string {
	return "Grant ServiceAccount " + b.namespace + "/cleaner the right: a Role with that verb and resource and a RoleBinding in the namespace"
}

// TestRunsOfAnAccount tries account x kind x rights x action. The operator has the rights that config gives it, and no right
// to touch anything itself. In the namespace are the ConfigMaps one and two and the Secret three.
func TestRunsOfAnAccount(t *testing.T) {
	t.Parallel()
	config := deployed(t)
	kill, scan, change := v1alpha1.ActionDelete, v1alpha1.ActionScan, v1alpha1.ActionTransform
	setAnnotation := transform(`function transform() obj.metadata.annotations = {seen = "yes"}; return {resource = obj} end`)
	here := func(rules ...rbacv1.PolicyRule) func(*bench) {
		return func(b *bench) { b.allow(b.accountName(), b.namespace, rules...) }
	}
	everywhere := func(rules ...rbacv1.PolicyRule) func(*bench) {
		return func(b *bench) { b.allow(b.accountName(), "", rules...) }
	}
	selects := func(kinds ...string) func(*bench) func(*v1alpha1.Cleaner) {
		return func(b *bench) func(*v1alpha1.Cleaner) {
			var all []v1alpha1.ResourceSelector
			for _, k := range kinds {
				all = append(all, kind("", "v1", k, b.namespace))
			}
			return selecting(all...)
		}
	}
	labelledNamespaces := func(b *bench) func(*v1alpha1.Cleaner) {
		return edited(func(s *v1alpha1.ResourceSelector) {
			s.Namespace, s.NamespaceSelector = "", "kubernetes.io/metadata.name in ("+b.namespace+", default)"
		})
	}
	says := func(texts ...string) func(*bench) []string { return func(*bench) []string { return texts } }
	refused := func(verb, resource, where string) func(*bench) []string {
		return func(b *bench) []string { return []string{nothingRead, cannot(b, verb, resource, where), grantHint(b)} }
	}
	failed := func(verb, resource, counts string) func(*bench) []string {
		return func(b *bench) []string { return []string{counts, cannot(b, verb, resource, ""), grantHint(b)} }
	}
	tests := map[string]struct {
		grant  func(*bench)
		action v1alpha1.Action
		edit   func(*bench) func(*v1alpha1.Cleaner)
		more   func(*v1alpha1.Cleaner)
		reason string
		want   func(*bench) []string
		left   string // of one, two, three
	}{
		"no rights, delete":         {nil, kill, nil, nil, v1alpha1.ReasonForbidden, refused("list", "configmaps", ""), "one two three"},
		"no rights, scan":           {nil, scan, nil, nil, v1alpha1.ReasonForbidden, refused("list", "configmaps", ""), "one two three"},
		"no rights, transform":      {nil, change, nil, setAnnotation, v1alpha1.ReasonForbidden, refused("list", "configmaps", ""), "one two three"},
		"no rights, Secrets":        {nil, kill, selects("Secret"), nil, v1alpha1.ReasonForbidden, refused("list", "secrets", ""), "one two three"},
		"no rights, namespaces":     {nil, kill, selectsAll("Namespace"), nil, v1alpha1.ReasonForbidden, refused("list", "namespaces", atTheTop), "one two three"},
		"all but list":              {here(may("configmaps", "get", "delete", "patch", "watch", "deletecollection")), kill, nil, nil, v1alpha1.ReasonForbidden, refused("list", "configmaps", ""), "one two three"},
		"list, scan":                {here(may("configmaps", "list")), scan, nil, nil, v1alpha1.ReasonCompleted, says("2 of 2 objects matched."), "one two three"},
		"list, delete":              {here(may("configmaps", "list")), kill, nil, nil, v1alpha1.ReasonForbidden, failed("delete", "configmaps", "0 deleted, 2 failed."), "one two three"},
		"list and get, delete":      {here(may("configmaps", "list", "get")), kill, nil, nil, v1alpha1.ReasonForbidden, failed("delete", "configmaps", "0 deleted, 2 failed."), "one two three"},
		"list, transform":           {here(may("configmaps", "list")), change, nil, setAnnotation, v1alpha1.ReasonForbidden, failed("patch", "configmaps", "0 changed, 2 failed."), "one two three"},
		"list and patch, transform": {here(may("configmaps", "list", "patch")), change, nil, setAnnotation, v1alpha1.ReasonCompleted, says("2 changed."), "one two three"},
		"list and patch, delete":    {here(may("configmaps", "list", "patch")), kill, nil, nil, v1alpha1.ReasonForbidden, failed("delete", "configmaps", "0 deleted, 2 failed."), "one two three"},
		"list and delete, delete":   {here(may("configmaps", "list", "delete")), kill, nil, nil, v1alpha1.ReasonCompleted, says("2 deleted."), "three"},
		"delete one by name": {
			here(may("configmaps", "list"), named(may("configmaps", "delete"), "one")), kill, nil, nil, v1alpha1.ReasonForbidden,
			failed("delete", "configmaps", "1 deleted, 1 failed."), "two three",
		},
		"Secrets":                   {here(may("secrets", "list", "delete")), kill, selects("Secret"), nil, v1alpha1.ReasonCompleted, says("1 deleted."), "one two"},
		"ConfigMaps and no Secrets": {here(may("configmaps", "list", "delete")), kill, selects("ConfigMap", "Secret"), nil, v1alpha1.ReasonForbidden, refused("list", "secrets", ""), "one two three"},
		"Secrets to look up": {
			here(may("configmaps", "list", "delete")), kill, selects("ConfigMap", "Secret"),
			aggregated(`function evaluate() return {resources = {}} end`), v1alpha1.ReasonForbidden, refused("list", "secrets", ""), "one two three",
		},
		"the whole cluster, with one namespace's rights": {
			here(may("configmaps", "list", "delete")), kill, selectsAll("ConfigMap"), nil, v1alpha1.ReasonForbidden, refused("list", "configmaps", atTheTop), "one two three",
		},
		"another namespace too": {
			here(may("configmaps", "list", "delete")), kill, nil, func(c *v1alpha1.Cleaner) {
				c.Spec.ResourcePolicySet.ResourceSelectors = append(c.Spec.ResourcePolicySet.ResourceSelectors, kind("", "v1", "ConfigMap", "default"))
			}, v1alpha1.ReasonForbidden, refused("list", "configmaps", `in the namespace "default"`), "one two three",
		},
		"namespaces by label": {
			here(may("configmaps", "list", "delete")), kill, labelledNamespaces, nil, v1alpha1.ReasonForbidden, refused("list", "namespaces", atTheTop), "one two three",
		},
		"namespaces by label, rights in one of two": {
			func(b *bench) {
				here(may("configmaps", "list", "delete"))(b)
				everywhere(may("namespaces", "list"))(b)
			}, kill, labelledNamespaces, nil, v1alpha1.ReasonForbidden, refused("list", "configmaps", `in the namespace "default"`), "one two three",
		},
		"namespaces by label, rights in both": {
			everywhere(may("namespaces", "list"), may("configmaps", "list", "delete")), kill, labelledNamespaces, nil, v1alpha1.ReasonCompleted, says("2 deleted."), "three",
		},
		"a percentage of what it may list": {
			here(may("configmaps", "list", "delete")), kill, nil, func(c *v1alpha1.Cleaner) {
				c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxPercentage: ptr.To[int32](50)}
			}, v1alpha1.ReasonLimitExceeded, says("Nothing was touched: "), "one two three",
		},
		"another kind's rights": {here(may("pods", "list", "delete"), may("secrets", "list", "delete")), kill, nil, nil, v1alpha1.ReasonForbidden, refused("list", "configmaps", ""), "one two three"},
		"another group's rights": {
			here(may("configmaps.example.com", "list", "delete")), kill, nil, nil, v1alpha1.ReasonForbidden, refused("list", "configmaps", ""), "one two three",
		},
		"a group's kind": {
			nil, kill, func(b *bench) func(*v1alpha1.Cleaner) {
				return selecting(kind("apps", "v1", "Deployment", b.namespace))
			}, nil, v1alpha1.ReasonForbidden, refused("list", "deployments.apps", ""), "one two three",
		},
		"rights of the group of all accounts": {func(b *bench) {
			group := "system:serviceaccounts:" + b.namespace
			b.allowGroup(group, may("configmaps", "list", "delete"))
		}, kill, nil, nil, v1alpha1.ReasonCompleted, says("2 deleted."), "three"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, as(config))
			b.configMap("one")
			b.configMap("two")
			must(t, b.user.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "three"}}))
			if test.grant != nil {
				test.grant(b)
			}
			edits := []func(*v1alpha1.Cleaner){naming(b.namespace, "cleaner")}
			if test.edit != nil {
				edits = append(edits, test.edit(b))
			}
			if test.more != nil {
				edits = append(edits, test.more)
			}
			run := b.run(b.cleaner(test.action, edits...))
			wantRun(t, run, test.reason, test.want(b)...)
			if left := b.left(); left != test.left {
				t.Errorf("left are %q, want %q", left, test.left)
			}
			if run.Spec.ServiceAccountRef == nil || *run.Spec.ServiceAccountRef != (v1alpha1.ServiceAccountRef{Namespace: b.namespace, Name: "cleaner"}) {
				t.Errorf("the record says that the run acted as %v", run.Spec.ServiceAccountRef)
			}
			if strings.HasPrefix(run.Status.Message, nothingRead) && run.Status.Acted+run.Status.Failed != 0 {
				t.Errorf("the counts are %+v", run.Status.RunCounts)
			}
		})
	}
}

func selectsAll(k string) func(*bench) func(*v1alpha1.Cleaner) {
	return func(*bench) func(*v1alpha1.Cleaner) { return selecting(kind("", "v1", k, "")) }
}

// left are those of one, two and three that are there.
func (b *bench) left() string {
	b.t.Helper()
	left := b.names(b.namespace)
	var secrets corev1.SecretList
	must(b.t, b.user.List(b.t.Context(), &secrets, client.InNamespace(b.namespace)))
	for _, secret := range secrets.Items {
		left = append(left, secret.Name)
	}
	return strings.Join(left, " ")
}

// allowGroup gives a group rights in the test's namespace, and waits until the account has them.
func (b *bench) allowGroup(group string, rule rbacv1.PolicyRule) {
	b.t.Helper()
	meta := metav1.ObjectMeta{Namespace: b.namespace, Name: "group"}
	must(b.t, b.user.Create(b.t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}}))
	must(b.t, b.user.Create(b.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: group}},
	}))
	account := b.as(b.accountName())
	must(b.t, wait.PollUntilContextTimeout(b.t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := account.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(b.namespace))
		return err == nil, ignoreForbidden(err)
	}))
}

// TestAWeakAccountOfAStrongOperator: the operator may do everything here, and its rights do not help the account.
func TestAWeakAccountOfAStrongOperator(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("one")
	weak := b.cleaner(v1alpha1.ActionDelete, naming(b.namespace, "cleaner"))
	wantRun(t, b.run(weak), v1alpha1.ReasonForbidden, nothingRead, cannot(b, "list", "configmaps", ""), grantHint(b))
	b.wantUntouched()
	b.wantNames("one")
	wantRun(t, b.run(b.cleaner(v1alpha1.ActionDelete)), v1alpha1.ReasonCompleted, "1 deleted.")
}

// TestNothingCanBeLearnedWithoutRights is an attempt to escalate: a Cleaner that names an account without rights, whose scripts
// would tell every object's name and content. Neither the record, nor the Cleaner's status, nor its Report, nor an Event holds any.
func TestNothingCanBeLearnedWithoutRights(t *testing.T) {
	t.Parallel()
	config := deployed(t)
	b := newBench(t, as(config))
	const name, value = "carefully-hidden", "c4n4ry-v4lue"
	b.configMap(name, func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"k": value} })
	must(t, b.user.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}, StringData: map[string]string{"k": value}}))
	tell := evaluate(`function evaluate() return {matching = true, message = obj.metadata.name .. obj.data.k} end`)
	b.startExecutor()
	for _, selector := range []v1alpha1.ResourceSelector{
		kind("", "v1", "ConfigMap", b.namespace), kind("", "v1", "Secret", b.namespace), kind("", "v1", "ConfigMap", ""), kind("", "v1", "Secret", ""),
		{Version: "v1", Kind: "Secret", NamespaceSelector: "kubernetes.io/metadata.name"},
	} {
		for _, action := range []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionScan, v1alpha1.ActionTransform} {
			c := b.cleaner(action, naming(b.namespace, "cleaner"), selecting(selector), tell, transform(`function transform() error(obj.data.k) end`),
				notifying(v1alpha1.NotificationCleanerReport, v1alpha1.NotificationEvent))
			b.reconcile(c)
			c = b.runNow(c)
			wantCondition(t, c, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonForbidden, b.accountName())
			var runs v1alpha1.CleanerRunList
			must(t, b.user.List(t.Context(), &runs, client.MatchingLabels{v1alpha1.CleanerLabel: string(c.UID)}))
			text, err := json.Marshal([]any{c.Status, runs.Items, b.reported(c)})
			must(t, err)
			if strings.Contains(string(text), name) || strings.Contains(string(text), value) {
				t.Errorf("%s of %s in %q told something:\n%s", action, selector.Kind, selector.Namespace, text)
			}
			if c.Status.LastRun.RunCounts != (v1alpha1.RunCounts{}) {
				t.Errorf("the counts are %+v", c.Status.LastRun.RunCounts)
			}
		}
	}
	if left := b.left(); left != name+" "+name {
		t.Errorf("left are %s", left)
	}
}

// TestTheOperatorMayNotImpersonate is the default install, without config/policy; and one that is narrowed to other namespaces.
func TestTheOperatorMayNotImpersonate(t *testing.T) {
	t.Parallel()
	setup := newBench(t)
	for name, rules := range map[string][]rbacv1.PolicyRule{
		"at all":                 {may("configmaps", "list", "delete")},
		"accounts, but users":    {may("users", "impersonate"), may("groups", "impersonate"), may("configmaps", "list", "delete")},
		"any but another name's": {named(may("serviceaccounts", "impersonate"), "other"), may("configmaps", "list", "delete")},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, as(setup.operatorWith(rules...)))
			b.namespace = setup.namespace
			b.configMap("one-" + fmt.Sprint(serial.Add(1)))
			before := b.left()
			b.account(may("configmaps", "list", "delete"))
			c := b.cleaner(v1alpha1.ActionDelete, naming(b.namespace, "cleaner"))
			const cannotImpersonate = " cannot impersonate" // each version of Kubernetes goes on in its own way
			wayOut := "The operator may not act as ServiceAccount " + b.namespace + "/cleaner: apply config/policy, or bind its ClusterRole kubecleaner-impersonator to the operator's ServiceAccount."
			wantRun(t, b.run(c), v1alpha1.ReasonForbidden, nothingRead, cannotImpersonate, wayOut)
			wantCondition(t, b.reconcile(c), v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled, "Mind: its kinds could not be checked: ", cannotImpersonate, wayOut)
			if b.left() != before {
				t.Errorf("left are %s, want %s", b.left(), before)
			}
		})
	}
}

// TestEveryRequestIsInTheAccountsName: all that a run asks of the cluster's objects, also for what changed meanwhile; and what
// is the operator's own is not.
func TestEveryRequestIsInTheAccountsName(t *testing.T) {
	t.Parallel()
	config := deployed(t)
	b := newBench(t, as(config))
	b.configMap("one")
	b.allow(b.accountName(), b.namespace, may("configmaps", "list", "get", "delete"))
	b.allow(b.accountName(), "", may("namespaces", "list"))
	var once sync.Once
	var mu sync.Mutex
	var log []string
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodDelete {
			once.Do(func() { // changed since it was judged
				edit(b, b.configMapNamed("one"), func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"changed": "yes"} })
			})
		}
		who := "operator"
		if user := r.Header.Get("Impersonate-User"); user != "" {
			who = strings.ReplaceAll(user, b.namespace, "NS")
		}
		path := strings.ReplaceAll(r.URL.Path, b.namespace, "NS")
		if i := strings.Index(path, "/cleaner"); strings.HasPrefix(path, "/apis/apps.projectsveltos.io/") && i > 0 {
			path = path[:i] + "/..."
		}
		mu.Lock()
		defer mu.Unlock()
		log = append(log, who+" "+r.Method+" "+path)
		return nil, nil
	})
	c := b.cleaner(v1alpha1.ActionDelete, naming(b.namespace, "cleaner"), edited(func(s *v1alpha1.ResourceSelector) {
		s.Namespace, s.NamespaceSelector = "", "kubernetes.io/metadata.name="+b.namespace
		s.MatchConditions = []v1alpha1.MatchCondition{{Name: "all", Expression: "object.metadata.name != ''"}}
	}), func(c *v1alpha1.Cleaner) {
		c.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{MaxPercentage: ptr.To[int32](100)}
	})
	if reason, message, err := b.runner.Validate(t.Context(), b.get(c.Name)); err != nil || reason != "" {
		t.Fatal(reason, message, err)
	}
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 deleted")
	got := map[string]bool{}
	for _, line := range log {
		if path, ok := strings.CutPrefix(line, "operator "); ok && ofTheOperators(path) {
			continue
		}
		got[line] = true
	}
	const account = "system:serviceaccount:NS:cleaner "
	want := map[string]bool{
		"operator GET /api/v1/namespaces/NS":                    true, // for protection
		account + "GET /version":                                true,
		account + "GET /api/v1":                                 true,
		account + "GET /openapi/v3":                             true,
		account + "GET /openapi/v3/api/v1":                      true,
		account + "GET /api/v1/namespaces":                      true,
		account + "GET /api/v1/namespaces/NS/configmaps":        true,
		account + "DELETE /api/v1/namespaces/NS/configmaps/one": true,
		account + "GET /api/v1/namespaces/NS/configmaps/one":    true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who asked what (-want +got):\n%s", diff)
	}
}

// ofTheOperators are the requests for records, the Cleaner and the parts of what is written down, and those by which the
// operator's client finds them.
func ofTheOperators(request string) bool {
	_, path, _ := strings.Cut(request, " ")
	return path == "/api" || path == "/apis" || strings.HasPrefix(path, "/apis/apps.projectsveltos.io/") ||
		strings.HasPrefix(path, "/api/v1/namespaces/"+operatorNamespace+"/secrets")
}

func (b *bench) configMapNamed(name string) *corev1.ConfigMap {
	var cm corev1.ConfigMap
	must(b.t, b.user.Get(b.t.Context(), client.ObjectKey{Namespace: b.namespace, Name: name}, &cm))
	return &cm
}

// TestProtectionDoesNotDependOnTheAccount: it may not read namespaces, and the annotation of one holds.
func TestProtectionDoesNotDependOnTheAccount(t *testing.T) {
	t.Parallel()
	config := deployed(t)
	b := newBench(t, as(config))
	b.configMap("one")
	var ns corev1.Namespace
	must(t, b.user.Get(t.Context(), client.ObjectKey{Name: b.namespace}, &ns))
	edit(b, &ns, func(ns *corev1.Namespace) { ns.Annotations = map[string]string{v1alpha1.ProtectAnnotation: "true"} })
	run := b.run(b.cleaner(v1alpha1.ActionDelete, b.account(may("configmaps", "list", "delete"))))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 of 1 object matched; 0 deleted, 1 left alone.")
	if outcomes(run)["one"] != v1alpha1.OutcomeProtected {
		t.Errorf("the outcomes are %v", outcomes(run))
	}
	b.wantNames("one")
}

// TestTakeoverIsInTheAccountsName: an operator that takes over a run reads and acts as the account that the record names. A
// right that was taken away meanwhile is gone for it too.
func TestTakeoverIsInTheAccountsName(t *testing.T) {
	t.Parallel()
	config := deployed(t)
	for name, test := range map[string]struct {
		rules  []rbacv1.PolicyRule
		reason string
		want   func(*bench) string
		left   []string
	}{
		"all rights": {[]rbacv1.PolicyRule{may("configmaps", "list", "get", "delete")}, v1alpha1.ReasonCompleted, func(*bench) string { return "1 deleted" }, nil},
		"no get": {
			[]rbacv1.PolicyRule{may("configmaps", "list", "delete")},
			v1alpha1.ReasonForbidden,
			func(b *bench) string { return cannot(b, "get", "configmaps", "") },
			[]string{"one"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, as(config))
			b.configMap("one")
			c := b.cleaner(v1alpha1.ActionDelete, b.account(test.rules...))
			nominal := b.clock.Now()
			ask := run.Request{Cleaner: c.Name, Nominal: nominal, Trigger: v1alpha1.TriggerManual}
			resume := b.stopped(http.MethodDelete, "/configmaps/one", func() { b.runner.Run(t.Context(), ask) })
			other := newBench(t, as(config))
			record := other.runner.Run(t.Context(), ask)
			text, err := json.Marshal(record.Status)
			must(t, err)
			seen := strings.ReplaceAll(string(text), `\"`, `"`)
			if record.Status.Reason != test.reason || !strings.Contains(seen, test.want(b)) {
				t.Errorf("it ended with %s, want %s and %q:\n%s", record.Status.Reason, test.reason, test.want(b), text)
			}
			b.wantNames(test.left...)
			resume()
		})
	}
}
