// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// T7: scripts may read Secrets, but no value leaves: not in a message, not in an error, not in the server's answer to a patch.
func TestNoSecretValueLeaves(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "s"}, StringData: map[string]string{"password": "hunter2hunter2"}}
	must(t, b.user.Create(t.Context(), secret))
	secrets := kind("", "v1", "Secret", b.namespace)
	transform := func(c *v1alpha1.Cleaner) {
		c.Spec.Transform = "function transform() obj.data.n = 3 return {resource = obj, message = obj.data.password} end"
	}
	for name, run := range map[string]*v1alpha1.CleanerRun{
		"message": b.run(b.cleaner(v1alpha1.ActionScan, selecting(secrets), evaluate(`function evaluate() return {matching = true, message = "it is " .. obj.data.password} end`))),
		"error":   b.run(b.cleaner(v1alpha1.ActionScan, selecting(secrets), evaluate(`function evaluate() error("it is " .. obj.data.password) end`))),
		"answer":  b.run(b.cleaner(v1alpha1.ActionTransform, selecting(secrets), transform)),
	} {
		text, err := json.Marshal(run.Status)
		must(t, err)
		for _, value := range []string{"hunter2hunter2", "aHVudGVyMmh1bnRlcjI"} {
			if strings.Contains(string(text), value) {
				t.Errorf("%s: the record holds the Secret's value: %s", name, text)
			}
		}
		if len(run.Status.Objects) != 1 || (name != "answer" && !strings.Contains(string(text), "it is ******")) {
			t.Errorf("%s: the record is %s", name, text)
		}
	}
}

// T7: nor a value that a Transform would set, whatever refuses it, and in whatever form.
func TestNoNewSecretValueLeaves(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "s"}, StringData: map[string]string{"password": "hunter2hunter2"}}
	must(t, b.user.Create(t.Context(), secret))
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPatch || !strings.HasSuffix(r.URL.Path, "/secrets/s") {
			return nil, nil
		}
		return refusedWith(t, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "s", errors.New("new-password (bmV3LXBhc3N3b3Jk) is weak")))(r)
	})
	c := b.cleaner(v1alpha1.ActionTransform, selecting(kind("", "v1", "Secret", b.namespace)), func(c *v1alpha1.Cleaner) {
		c.Spec.Transform = `function transform() obj.data.password = "bmV3LXBhc3N3b3Jk" return {resource = obj, message = "to bmV3LXBhc3N3b3Jk"} end`
	})
	run := b.run(c)
	wantOutcome(t, run, "s", v1alpha1.OutcomeDenied, "****** (******) is weak")
	for what, of := range map[string]any{"CleanerRun": b.stored(run), "Cleaner's status": b.reconcile(c).Status} {
		text, err := json.Marshal(of)
		must(t, err)
		for _, value := range []string{"new-password", "bmV3LXBhc3N3b3Jk"} {
			if strings.Contains(string(text), value) {
				t.Errorf("the %s holds the value that was to be set: %s", what, text)
			}
		}
	}
}

// T12: what the operator needs is protected, wherever it is.
func TestTheOperatorsOwnRightsAreProtected(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "own-" + b.namespace, Labels: map[string]string{"app.kubernetes.io/part-of": "kubecleaner", "own": b.namespace}}}
	must(t, b.user.Create(t.Context(), role))
	roles := kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "")
	roles.LabelFilters = equal("own", b.namespace)
	run := b.run(b.cleaner(v1alpha1.ActionDelete, selecting(roles)))
	wantOutcome(t, run, role.Name, v1alpha1.OutcomeProtected, "it belongs to KubeCleaner")
}

// A script that cannot have the function it needs is a mistake at apply, not at the run.
func TestScriptWithoutItsFunctionIsInvalid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.reconcile(b.cleaner(v1alpha1.ActionScan, evaluate("function evalute() return {matching = true} end")))
	wantCondition(t, c, v1alpha1.ConditionReady, "False", v1alpha1.ReasonInvalidExpression, "resourceSelectors[0].evaluate: the script has no global function evaluate; write: function evaluate() ... end")
}

// A request that came with the Cleaner from a backup was for its predecessor.
func TestRestoredRequestIsNotCarriedOut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) {
		c.Annotations = map[string]string{v1alpha1.RunRequestedAtAnnotation: "2020-01-01T00:00:00Z"}
	}))
	l.step()
	l.step()
	l.wantHandled("2020-01-01T00:00:00Z")
	l.wantActive(time.Time{})
	l.wantRecords()
}
