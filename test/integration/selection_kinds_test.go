// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Upstream: unknown kind or version gives silent zero results; the aggregated "users" list is then empty and everything looks
// unused (#77). Required: Ready false with reason UnknownKind, zero actions; suggest the nearest kind. Test: kind typo in
// each selector position.
func TestUnknownKindInEachSelectorPosition(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	good := kind("", "v1", "ConfigMap", b.namespace)
	tests := map[string]struct {
		edit []func(*v1alpha1.Cleaner)
		want string
	}{
		"first": {
			[]func(*v1alpha1.Cleaner){selecting(kind("", "v1", "ConfigMpa", b.namespace), good)},
			`resourceSelectors[0]: kind ConfigMpa of v1 is not served; did you mean "ConfigMap"?`,
		},
		"second": {
			[]func(*v1alpha1.Cleaner){selecting(good, kind("", "v1", "Pods", b.namespace))},
			`resourceSelectors[1]: kind Pods of v1 is not served; did you mean "Pod"?`,
		},
		"the lookup kind of an aggregated selection": {
			[]func(*v1alpha1.Cleaner){selecting(good, kind("", "v1", "Pood", b.namespace)), aggregated(unusedConfigMaps)},
			`resourceSelectors[1]: kind Pood of v1 is not served; did you mean "Pod"?`,
		},
		"wrong group": {
			[]func(*v1alpha1.Cleaner){selecting(good, kind("app", "v1", "Deployment", b.namespace))},
			`resourceSelectors[1]: kind Deployment of app/v1 is not served: the cluster has no group "app"; did you mean "apps"?`,
		},
		"group left out": {
			[]func(*v1alpha1.Cleaner){selecting(good, kind("", "v1", "Deployment", b.namespace))},
			`resourceSelectors[1]: kind Deployment of v1 is not served; it is a kind of apps/v1`,
		},
		"wrong version": {
			[]func(*v1alpha1.Cleaner){selecting(good, kind("apps", "v1beta2", "Deployment", b.namespace))},
			`resourceSelectors[1]: kind Deployment of apps/v1beta2 is not served: the cluster serves group "apps" in version v1`,
		},
		"wrong version of the core group": {
			[]func(*v1alpha1.Cleaner){selecting(good, kind("", "v2", "ConfigMap", b.namespace))},
			`resourceSelectors[1]: kind ConfigMap of v2 is not served: the cluster serves group "" in version v1`,
		},
		"a group that nothing is like": {
			[]func(*v1alpha1.Cleaner){selecting(good, kind("longhorn.example.com", "v1", "Volume", b.namespace))},
			`the cluster has no group "longhorn.example.com"; is its CustomResourceDefinition installed?`,
		},
	}
	b.configMap("mine")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := b.cleaner(v1alpha1.ActionDelete, test.edit...)
			wantCondition(t, b.reconcile(c), v1alpha1.ConditionReady, "False", v1alpha1.ReasonUnknownKind, test.want)
			run := b.run(c)
			wantRun(t, run, v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the run could not read or judge everything: ", test.want)
			if run.Status.Acted != 0 {
				t.Fatalf("%d objects were acted on", run.Status.Acted)
			}
			b.wantUntouched()
		})
	}
	b.wantNames("mine")
}

// Two typing mistakes are reported at once.
func TestUnknownKindsAreReportedTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.reconcile(b.cleaner(v1alpha1.ActionDelete, selecting(kind("", "v1", "Secrte", ""), kind("", "v1", "Pood", ""))))
	wantStalled(t, c, v1alpha1.ReasonUnknownKind, `"Secret"?; resourceSelectors[1]: kind Pood`) // nothing brings kinds of v1
	if c.Status.NextScheduleTime != nil {
		t.Fatal("a Cleaner that cannot run has a next run")
	}
}

// A kind that can be created but not listed cannot be selected, and says so.
func TestKindThatCannotBeListed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cleaner(v1alpha1.ActionDelete, selecting(kind("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "")))
	want := "kind SelfSubjectAccessReview of authorization.k8s.io/v1 cannot be listed, so a Cleaner cannot select it"
	wantCondition(t, b.reconcile(c), v1alpha1.ConditionReady, "False", v1alpha1.ReasonUnknownKind, want)
	wantRun(t, b.run(c), v1alpha1.ReasonViewIncomplete, want)
	b.wantUntouched()
}

// A cluster-scoped kind with a namespace is refused: it must never be read as the whole cluster.
func TestClusterScopedKindWithNamespaceIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	role := kind("rbac.authorization.k8s.io", "v1", "ClusterRole", b.namespace)
	byLabel := role
	byLabel.Namespace, byLabel.NamespaceSelector = "", "env=prod"
	for name, selector := range map[string]v1alpha1.ResourceSelector{"namespace": role, "namespaceSelector": byLabel} {
		t.Run(name, func(t *testing.T) {
			c := b.cleaner(v1alpha1.ActionDelete, selecting(selector))
			want := "kind ClusterRole of rbac.authorization.k8s.io/v1 is cluster-scoped: remove namespace and namespaceSelector from its selector"
			wantStalled(t, b.reconcile(c), v1alpha1.ReasonInvalidExpression, want)
			wantRun(t, b.run(c), v1alpha1.ReasonViewIncomplete, want)
			if n := b.requests.count("GET", "/clusterroles"); n != 0 {
				t.Fatalf("the cluster was listed %d times", n)
			}
			b.wantUntouched()
		})
	}
}

// Cluster-scoped kinds work.
func TestClusterScopedKinds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mark := map[string]string{"cluster-scoped": b.namespace}
	must(t, b.user.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "role-" + b.namespace, Labels: mark}}))
	namespace := b.newNamespace(mark)
	roles, namespaces := kind("rbac.authorization.k8s.io", "v1", "ClusterRole", ""), kind("", "v1", "Namespace", "")
	roles.LabelFilters, namespaces.LabelFilters = equal("cluster-scoped", b.namespace), equal("cluster-scoped", b.namespace)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(roles, namespaces)))
	wantRun(t, run, v1alpha1.ReasonCompleted, "2 of 2 objects matched; 1 deleted, 1 being deleted")
	wantOutcome(t, run, "role-"+b.namespace, v1alpha1.OutcomeDeleted)
	wantOutcome(t, run, namespace, v1alpha1.OutcomeTerminating, "finalizers hold it: kubernetes")
}

// Upstream: partial discovery (one API group down) reads as "no such kind". Required: ask only the selector's own
// group-version; failure stops the run. Test: dead APIService for the group: 0 deletes; unrelated Cleaner still works.
func TestDeadAPIServiceStopsOnlyCleanersOfItsGroup(t *testing.T) {
	b := newBench(t) // what its group may name is unknown to all tests of findings, so that it does not run beside them
	b.configMap("mine", stale)
	b.configMap("other", func(cm *corev1.ConfigMap) { cm.Labels = map[string]string{"other": "x"} })
	gv := schema.GroupVersion{Group: "dead.kubecleaner.dev", Version: "v1"}
	b.thing(schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}, gv.Version+"."+gv.Group, map[string]any{
		"spec": map[string]any{
			"group": gv.Group, "version": gv.Version, "groupPriorityMinimum": int64(1000), "versionPriority": int64(10),
			"insecureSkipTLSVerify": true, "service": map[string]any{"namespace": b.namespace, "name": "nobody"},
		},
	})
	awaitCode(t, "/apis/"+gv.String(), http.StatusServiceUnavailable)
	dead := b.cleaner(v1alpha1.ActionDelete, selecting(kind("", "v1", "ConfigMap", b.namespace), kind(gv.Group, gv.Version, "Ghost", "")))
	wantCondition(t, b.reconcile(dead), v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	run := b.run(dead)
	wantRun(t, run, v1alpha1.ReasonViewIncomplete, "resourceSelectors[1]: asking what dead.kubecleaner.dev/v1 serves: ",
		"the server is currently unable to handle the request")
	wantCounts(t, run, v1alpha1.RunCounts{Considered: 2, Matched: 2, Skipped: 2})
	b.wantUntouched()
	run = b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, run, v1alpha1.ReasonCompleted, "1 deleted")
	b.wantNames("other")
}

// awaitCode waits until the API server answers a path with the code.
func awaitCode(t *testing.T, path string, code int) {
	t.Helper()
	must(t, awaitAnswer(path, func(got int, _ string) bool { return got == code }))
}

// awaitAnswer waits until the API server answers a path as wanted. It is for any goroutine.
func awaitAnswer(path string, wanted func(code int, body string) bool) error {
	web, err := rest.HTTPClientFor(env.Config)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(env.Config.Host, "/")+path, nil)
		if err != nil {
			return false, err
		}
		response, err := web.Do(request)
		if err != nil {
			return false, err
		}
		body, err := io.ReadAll(response.Body)
		return wanted(response.StatusCode, string(body)), errors.Join(err, response.Body.Close())
	})
}
