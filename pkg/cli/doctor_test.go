// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/doctor"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// clinic is a cluster in which the objects say that an operator runs and is well.
type clinic struct {
	*site
	deployment *appsv1.Deployment
	lease      *coordinationv1.Lease
	patient    *v1alpha1.Cleaner
}

func newClinic(t *testing.T) *clinic {
	s := newSite(t)
	for _, left := range []client.Object{&v1alpha1.Cleaner{}, &v1alpha1.CleanerRun{}} { // by other tests
		must(t, s.DeleteAllOf(t.Context(), left))
	}
	usual := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.DefaultOperatorNamespace, Name: cluster.LeaseName}}
	must(t, client.IgnoreNotFound(s.Delete(t.Context(), usual)))
	s.deployOperator(s.namespace)
	c := &clinic{site: s, deployment: &appsv1.Deployment{}}
	must(t, s.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "kubecleaner-manager"}, c.deployment))
	c.deployment.Spec.Template.Spec.Containers[0].Image = "kubecleaner/manager:v1.2.3"
	c.deployment.Spec.Template.Spec.ServiceAccountName = "kubecleaner-manager"
	c.update()
	c.available(1)
	c.make(c.account())
	c.make(c.pod("pod-1"))
	c.bind("kubecleaner-manager", "cluster-admin")
	c.lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "kubecleaner-leader"}}
	c.lease.Spec.HolderIdentity, c.lease.Spec.LeaseDurationSeconds = ptr.To("pod-1_0123"), ptr.To[int32](15)
	c.lease.Spec.RenewTime = ptr.To(metav1.NowMicro())
	must(t, s.Create(t.Context(), c.lease))
	c.patient = s.cleaner()
	c.says(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonScheduled, "")
	return c
}

// account is the operator's.
func (c *clinic) account() *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "kubecleaner-manager"}}
}

// bind gives an account of the test's namespace a ClusterRole.
func (c *clinic) bind(account, role string) *rbacv1.ClusterRoleBinding {
	c.Helper()
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: c.namespace + "-" + account}}
	binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
	binding.Subjects = []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: c.namespace, Name: account}}
	must(c.T, c.Create(c.Context(), binding))
	c.Cleanup(func() { _ = c.Delete(context.Background(), binding) })
	return binding
}

func (c *clinic) update() {
	c.Helper()
	status := c.deployment.Status
	must(c.T, c.Update(c.Context(), c.deployment))
	c.deployment.Status = status
}

func (c *clinic) available(pods int32) {
	c.Helper()
	c.deployment.Status = appsv1.DeploymentStatus{Replicas: 1, AvailableReplicas: pods, ReadyReplicas: pods}
	if pods == 0 {
		c.deployment.Status.Conditions = []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "exceeded quota: compute.",
		}}
	}
	must(c.T, c.Status().Update(c.Context(), c.deployment))
}

// says sets a condition of the Cleaner, as the operator does.
func (c *clinic) says(typ string, status metav1.ConditionStatus, reason, message string) {
	c.Helper()
	c.status(func(s *v1alpha1.CleanerStatus) {
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: typ, Status: status, Reason: reason, Message: message, ObservedGeneration: c.patient.Generation})
	})
}

// status writes the Cleaner's status as the operator does.
func (c *clinic) status(edit func(*v1alpha1.CleanerStatus)) {
	c.Helper()
	must(c.T, c.Get(c.Context(), client.ObjectKeyFromObject(c.patient), c.patient))
	edit(&c.patient.Status)
	c.patient.Status.ObservedGeneration = c.patient.Generation
	must(c.T, c.Status().Update(c.Context(), c.patient, client.FieldOwner(v1alpha1.StatusManager)))
}

// edit changes the Cleaner, and lets the operator have seen it.
func (c *clinic) edit(change func(*v1alpha1.CleanerSpec)) {
	c.Helper()
	must(c.T, c.Get(c.Context(), client.ObjectKeyFromObject(c.patient), c.patient))
	change(&c.patient.Spec)
	must(c.T, c.Update(c.Context(), c.patient))
	c.says(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonScheduled, "")
}

// make creates an object, and removes it after the case.
func (c *clinic) make(o client.Object) func() {
	c.Helper()
	must(c.T, c.Create(c.Context(), o))
	c.Cleanup(func() { _ = c.Delete(context.Background(), o) })
	return func() { must(c.T, c.Delete(c.Context(), o)) }
}

// examined is what doctor says, as JSON, in the problem lines only, as "STATUS check: message".
func (c *clinic) examined(edit func(*terminal.Options), args ...string) (problems []string, code int) {
	c.Helper()
	now := metav1.NowMicro()
	patch := `{"spec":{"renewTime":"` + now.UTC().Format(metav1.RFC3339Micro) + `"}}`
	if c.lease.Annotations["stays"] == "" { // the leader renews it
		must(c.T, c.Patch(c.Context(), c.lease, client.RawPatch(types.MergePatchType, []byte(patch))))
	}
	got := c.call(c.Context(), edit, append([]string{"doctor", "-o", "json"}, args...)...)
	var result struct{ Checks []doctor.Line }
	if err := json.Unmarshal([]byte(got.out), &result); err != nil {
		c.Fatalf("%v: %s%s", err, got.out, got.errOut)
	}
	for _, line := range result.Checks {
		if line.Status != doctor.OK {
			problems = append(problems, string(line.Status)+" "+line.Check+": "+line.Object+": "+line.Message)
			if line.WayOut == "" {
				c.Errorf("%v has no way out", line)
			}
		}
	}
	return problems, got.code
}

func TestDoctorOfAHealthyInstallation(t *testing.T) {
	c := newClinic(t)
	if problems, code := c.examined(nil); code != codes.ExitDone {
		t.Errorf("exit %d:\n%s", code, strings.Join(problems, "\n"))
	}
	got := c.call(t.Context(), nil, "doctor")
	for _, want := range []string{"STATUS", "OK", "Deployment " + c.namespace + "/kubecleaner-manager is available", "the leader is pod-1", "1 Cleaner without a problem"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is not in:\n%s", want, got.out)
		}
	}
	if got.errOut != "nothing is wrong\n" {
		t.Errorf("standard error: %q", got.errOut)
	}
}

// TestDoctorNamesWhatIsBroken breaks an installation in one way at a time.
func TestDoctorNamesWhatIsBroken(t *testing.T) {
	c := newClinic(t)
	for _, test := range slices.Concat(c.brokenOperators(), c.brokenCleaners(), c.brokenSurroundings(), c.brokenAPIs(), c.brokenDefinitions()) {
		mend := test.injure()
		problems, code := c.examined(test.options)
		mend()
		found := slices.ContainsFunc(problems, func(p string) bool {
			return strings.HasPrefix(p, test.line) && strings.Contains(p, test.says)
		})
		if !found || code != test.code {
			t.Errorf("%s: exit %d, want %d, and %q with %q in:\n%s", test.name, code, test.code, test.line, test.says, strings.Join(problems, "\n"))
		}
	}
	if problems, code := c.examined(nil); code != codes.ExitDone {
		t.Errorf("after all: exit %d:\n%s", code, strings.Join(problems, "\n"))
	}
}

// A person who may not read something is told which right is missing, and never that all is well.
func TestDoctorDoesNotGuess(t *testing.T) {
	c := newClinic(t)
	got := c.call(t.Context(), nil, "doctor", "-o", "json", "--as", "nobody-"+c.namespace)
	var result struct{ Checks []doctor.Line }
	must(t, json.Unmarshal([]byte(got.out), &result))
	readable := []string{"api-server", "clock"} // which everybody may ask for
	for _, line := range result.Checks {
		if line.Status == doctor.OK && !slices.Contains(readable, line.Check) {
			t.Errorf("%s: %s is well, and nobody could read it: %s", line.Status, line.Check, line.Message)
		}
	}
	// One cause is one line.
	for check, lists := range map[string]string{
		"operators":   "deployments.apps, statefulsets.apps, daemonsets.apps",
		"k8s-cleaner": "deployments.apps, statefulsets.apps, daemonsets.apps, cleaners.apps.projectsveltos.io",
	} {
		var messages []string
		for _, line := range result.Checks {
			if line.Check == check {
				messages = append(messages, line.Message)
			}
		}
		if len(messages) != 1 || !strings.HasPrefix(messages[0], "could not read whether ") || !strings.HasSuffix(messages[0], ": you may not list "+lists) {
			t.Errorf("%s says: %q", check, messages)
		}
	}
	for _, right := range []string{"deployments", "cleaners", "leases", "namespaces", "validatingwebhookconfigurations", "customresourcedefinitions", "apiservices"} {
		if !slices.ContainsFunc(result.Checks, func(l doctor.Line) bool {
			return l.Status == doctor.Unknown && strings.Contains(l.Message, `resource "`+right+`"`) && strings.Contains(l.WayOut, "--as")
		}) {
			t.Errorf("no line says that the right to %s is missing:\n%s", right, got.out)
		}
	}
	if got.code != codes.ExitPartial {
		t.Errorf("exit code %d", got.code)
	}
}

// A person who may not read the Lease is not told that no Cleaner runs: nobody knows.
func TestDoctorDoesNotGuessWhoLeads(t *testing.T) {
	c := newClinic(t)
	user := "no-leases-" + c.namespace
	c.grant(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: no-leases}
rules: [{apiGroups: [apps], resources: [deployments], verbs: [list]}]
`, user)
	c.available(0)
	got := c.call(t.Context(), nil, "doctor", "--as", user)
	if !strings.Contains(got.out, "no Pod of it is available") || strings.Contains(got.out, "Cleaner runs") {
		t.Errorf("it says\n%s", got.out)
	}
}

// The name of the Lease and the supported versions stand in other places, too.
func TestDoctorKnowsTheSameNames(t *testing.T) {
	for file, texts := range map[string][]string{
		"../../cmd/manager/wire.go":         {`leaseName = "kubecleaner-leader"`},
		"../../docs/reference/versions.md":  {"supports Kubernetes 1.31 to 1.36"},
		"../../pkg/cli/doctor/versions.go":  {"oldest = 31", "newest = 36"},
		"../../pkg/cli/kinds/kinds.go":      {"oldest = 31"},
		"../../pkg/cli/cluster/operator.go": {`LeaseName = "kubecleaner-leader"`},
		"../../pkg/transport/skew.go":       {"the operator's clock is "},
		"../../cmd/manager/options.go":      {"--max-copies-bytes"},
		"../../pkg/cli/doctor/copies.go":    {`defaultMaxCopies = "256Mi"`},
		"../../docs/reference/flags.md":     {"256Mi"},
		"../../config/manager/manager.yaml": {"app.kubernetes.io/component: manager"},
	} {
		text, err := os.ReadFile(file)
		must(t, err)
		for _, want := range texts {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s does not say %q", file, want)
			}
		}
	}
}
