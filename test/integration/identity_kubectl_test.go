// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// kubectlAs is kubectl of a user. It returns what the user reads when it fails.
func kubectlAs(t *testing.T, user, input string, args ...string) (string, error) {
	t.Helper()
	args = append([]string{"--kubeconfig", env.Kubeconfig, "--cache-dir", t.TempDir(), "--as", user}, args...)
	cmd := exec.CommandContext(t.Context(), filepath.Join(env.Assets, "kubectl"), args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return string(out), err
}

// TestAccountsWithKubectl is what people see.
func TestAccountsWithKubectl(t *testing.T) {
	t.Parallel()
	deployed(t)
	b := newBench(t)
	stranger, member := b.namespace+"-stranger", b.namespace+"-member"
	b.allow(stranger, "", mayWriteCleaners)
	b.allow(member, "", mayWriteCleaners)
	b.allow(member, b.namespace, may("serviceaccounts", "impersonate"))
	manifest := func(edits ...func(*v1alpha1.Cleaner)) string {
		c := unsaved(append(edits, naming(b.namespace, "cleaner"))...)
		c.Name = "kubectl-" + b.namespace
		text, err := yaml.Marshal(c)
		must(t, err)
		return string(text)
	}
	name := "cleaner/kubectl-" + b.namespace
	const refused = "denied request: spec.serviceAccountRef: "
	remove := []string{"patch", name, "--type=json", "-p", `[{"op":"remove","path":"/spec/serviceAccountRef"}]`}
	null := []string{"patch", name, "--type=merge", "-p", `{"spec":{"serviceAccountRef":null}}`}
	for _, step := range []struct {
		user, input string
		args        []string
		want        string
	}{
		{stranger, manifest(), []string{"apply", "-f", "-"}, refused + stranger + " may not impersonate"},
		{stranger, manifest(), []string{"create", "-f", "-"}, refused + stranger + " may not impersonate"},
		{member, manifest(), []string{"apply", "-f", "-"}, ""},
		{stranger, manifest(evaluate(matchStale)), []string{"apply", "-f", "-"}, refused + stranger + " may not impersonate"},
		{stranger, manifest(evaluate(matchStale)), []string{"replace", "-f", "-"}, refused + stranger + " may not impersonate"},
		{stranger, "", remove, refused + stranger + " may not take away"},
		{stranger, "", null, refused + stranger + " may not take away"},
		{stranger, "", []string{"annotate", name, v1alpha1.RunRequestedAtAnnotation + "=now"}, ""},
		{member, manifest(evaluate(matchStale)), []string{"apply", "-f", "-"}, ""},
		{member, "", remove, ""},
		{stranger, "", []string{"delete", name}, ""},
	} {
		out, err := kubectlAs(t, step.user, step.input, step.args...)
		if (err == nil) != (step.want == "") || !strings.Contains(out, step.want) {
			t.Errorf("%s: kubectl %s: %v, want %q:\n%s", step.user, strings.Join(step.args, " "), err, step.want, out)
		}
	}
}

// TestTheOperatorIsNotInThePolicysWay: it writes status and removes finalizers of Cleaners whose account it may not name itself.
func TestTheOperatorIsNotInThePolicysWay(t *testing.T) {
	t.Parallel()
	deployed(t)
	b := newBench(t, as(newBench(t).operatorWith(may("configmaps", "list"))))
	c := b.cleaner(v1alpha1.ActionScan, naming(b.namespace, "cleaner"), func(c *v1alpha1.Cleaner) {
		c.Finalizers = []string{v1alpha1.Finalizer, v1alpha1.LegacyFinalizer}
	})
	c = b.reconcile(c)
	wantCondition(t, c, v1alpha1.ConditionReady, "False", v1alpha1.ReasonServiceAccountForbidden)
	must(t, b.user.Delete(t.Context(), c))
	_, err := b.reconciler.Reconcile(t.Context(), request(c.Name))
	must(t, err)
	if err := b.user.Get(t.Context(), client.ObjectKeyFromObject(c), c); !apierrors.IsNotFound(err) {
		t.Fatalf("the Cleaner is still there: %v, %v", c.Finalizers, err)
	}
}

// TestSampleOfATeam applies the sample as it stands, runs it, and looks what is left.
func TestSampleOfATeam(t *testing.T) {
	t.Parallel()
	config := deployed(t)
	b := newBench(t, as(config))
	text, err := os.ReadFile("../../config/samples/team_service_account.yaml")
	must(t, err)
	kubectl(t, string(text), "apply", "-f", "-")
	t.Cleanup(func() {
		meta := metav1.ObjectMeta{Namespace: "team-a", Name: "precious"}
		_ = b.user.Delete(context.Background(), &corev1.ConfigMap{ObjectMeta: meta})
		_ = b.user.Delete(context.Background(), &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: "team-a-temporary"}})
	})
	b.namespace = "team-a"
	b.configMap("precious")
	b.configMap("rubbish", func(cm *corev1.ConfigMap) { cm.Labels["temporary"] = "yes" })
	awaitRight(t, b.accountName(), authorizationv1.ResourceAttributes{Namespace: "team-a", Resource: "configmaps", Verb: "delete"})
	c := b.get("team-a-temporary")
	run := b.run(c)
	wantRun(t, run, v1alpha1.ReasonCompleted, "0 of 0 objects matched") // nothing is a day old
	edit(b, c, func(c *v1alpha1.Cleaner) { c.Spec.ResourcePolicySet.ResourceSelectors[0].MinAgeSeconds = nil })
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 of 1 object matched; 1 deleted.")
	b.wantNames("precious")
	// Whatever somebody writes into it, it does not go further than its Role.
	for kind, resource := range map[string]string{"Secret": "secrets", "ServiceAccount": "serviceaccounts"} {
		edit(b, c, func(c *v1alpha1.Cleaner) { c.Spec.ResourcePolicySet.ResourceSelectors[0].Kind = kind })
		wantRun(t, b.run(c), v1alpha1.ReasonForbidden, `User "system:serviceaccount:team-a:cleaner" cannot list resource "`+resource+`"`)
	}
}
