// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

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
// would show every object's name and content. Neither the record, nor the Cleaner's status, nor its Report, nor an Event holds any.
func TestNothingCanBeLearnedWithoutRights(t *testing.T) {
	t.Parallel()
	config := deployed(t)
	b := newBench(t, as(config))
	const name, value = "carefully-hidden", "c4n4ry-v4lue"
	b.configMap(name, func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"k": value} })
	must(t, b.user.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}, StringData: map[string]string{"k": value}}))
	show := evaluate(`function evaluate() return {matching = true, message = obj.metadata.name .. obj.data.k} end`)
	b.startExecutor()
	for _, selector := range []v1alpha1.ResourceSelector{
		kind("", "v1", "ConfigMap", b.namespace), kind("", "v1", "Secret", b.namespace), kind("", "v1", "ConfigMap", ""), kind("", "v1", "Secret", ""),
		{Version: "v1", Kind: "Secret", NamespaceSelector: "kubernetes.io/metadata.name"},
	} {
		for _, action := range []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionScan, v1alpha1.ActionTransform} {
			c := b.cleaner(action, naming(b.namespace, "cleaner"), selecting(selector), show, transform(`function transform() error(obj.data.k) end`),
				notifying(v1alpha1.NotificationCleanerReport, v1alpha1.NotificationEvent))
			b.reconcile(c)
			c = b.runNow(c)
			wantCondition(t, c, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonForbidden, b.accountName())
			var runs v1alpha1.CleanerRunList
			must(t, b.user.List(t.Context(), &runs, client.MatchingLabels{v1alpha1.CleanerLabel: string(c.UID)}))
			text, err := json.Marshal([]any{c.Status, runs.Items, b.reported(c)})
			must(t, err)
			if strings.Contains(string(text), name) || strings.Contains(string(text), value) {
				t.Errorf("%s of %s in %q showed something:\n%s", action, selector.Kind, selector.Namespace, text)
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
			wayOut := "The operator may not act as ServiceAccount " + b.namespace + "/cleaner: apply config/policy (with Helm: policies.enabled=true), or bind its ClusterRole kubecleaner-impersonator to the operator's ServiceAccount."
			wantRun(t, b.run(c), v1alpha1.ReasonForbidden, nothingRead, cannotImpersonate, wayOut)
			wantCondition(t, b.reconcile(c), v1alpha1.ConditionReady, "False", v1alpha1.ReasonServiceAccountForbidden, cannotImpersonate, wayOut)
			if b.left() != before {
				t.Errorf("left are %s, want %s", b.left(), before)
			}
		})
	}
}

// TestReadyFollowsTheRightToImpersonate: no object of ours changes when the operator gets the right to act as an account, or loses it.
func TestReadyFollowsTheRightToImpersonate(t *testing.T) {
	t.Parallel()
	setup := newBench(t)
	operator := fmt.Sprintf("operator-%d", serial.Add(1))
	b := newBench(t, as(setup.operatorNamed(operator)))
	b.account(may("configmaps", "list"))
	c := b.cleaner(v1alpha1.ActionScan, naming(b.namespace, "cleaner"))
	ready := func(status, reason, text string) {
		t.Helper()
		b.woken = nil
		b.accounts.Look(t.Context())
		if !slices.Contains(b.woken, c.Name) {
			t.Fatalf("nothing looks at the Cleaner again; woken are %q", b.woken)
		}
		c = b.reconcile(c)
		wantCondition(t, c, v1alpha1.ConditionReady, status, reason, text)
		b.woken = nil
		if b.accounts.Look(t.Context()); slices.Contains(b.woken, c.Name) {
			t.Errorf("the Cleaner is looked at again although its status says what is so")
		}
	}
	c = b.reconcile(c)
	wantCondition(t, c, v1alpha1.ConditionReady, "False", v1alpha1.ReasonServiceAccountForbidden, "The operator may not act as ServiceAccount "+b.namespace+"/cleaner: apply config/policy")
	wantNotStalled(t, c) // somebody may give the right at any time

	binding := b.allow(operator, b.namespace, may("serviceaccounts", "impersonate"))
	ready("True", v1alpha1.ReasonScheduled, "It runs every day at 03:00 UTC.")
	must(t, b.user.Delete(t.Context(), binding))
	awaitReview(t, operator, authorizationv1.ResourceAttributes{Verb: "impersonate", Resource: "serviceaccounts", Namespace: b.namespace}, false)
	ready("False", v1alpha1.ReasonServiceAccountForbidden, "cannot impersonate")
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
	if reason, message, err := b.runner.Check.Validate(t.Context(), b.get(c.Name)); err != nil || reason != "" {
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
		"operator GET " + schemaPath:                            true,
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
			resume := b.stopped(http.MethodDelete, "/configmaps/one", func() { _, _ = b.runner.Run(t.Context(), ask) })
			other := newBench(t, as(config))
			record := other.carryOut(t.Context(), ask)
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
