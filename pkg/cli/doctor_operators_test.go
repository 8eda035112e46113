// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// TestDoctorExaminesTheOperatorThatLeads: what has the image of an operator elsewhere is one line, and the first one.
func TestDoctorExaminesTheOperatorThatLeads(t *testing.T) {
	c := newClinic(t)
	before := "a-" + c.namespace // which is listed before the operator's
	c.make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: before}})
	other := c.other("thing", "registry.local/team/kubecleaner:v1", 1)
	other.Namespace = before
	remove := c.make(other)
	problems, code := c.examined(nil)
	want := "FAIL operators: : there are several operators, which act on the same Cleaners: " +
		c.namespace + "/kubecleaner-manager, " + before + "/thing. The other checks are about " + c.namespace + "/kubecleaner-manager"
	if len(problems) != 1 || problems[0] != want || code != codes.ExitError {
		t.Errorf("exit %d, want %q, but:\n%s", code, want, strings.Join(problems, "\n"))
	}
	if got := c.call(t.Context(), nil, "doctor"); !strings.Contains(got.out, "keep the one that leads: kubectl -n "+before+" delete deployment thing") {
		t.Errorf("the way out is not in:\n%s", got.out)
	}
	remove()

	// Without a Deployment of its own, the operator that leads runs outside of the cluster.
	must(t, client.IgnoreAlreadyExists(c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.DefaultOperatorNamespace}})))
	must(t, c.Delete(t.Context(), c.lease))
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.DefaultOperatorNamespace, Name: cluster.LeaseName}}
	lease.Spec = c.lease.Spec
	lease.Spec.RenewTime = ptr.To(metav1.NowMicro())
	c.make(lease)
	want = "there are several operators, which act on the same Cleaners: pod-1_0123 (it is the leader in namespace projectsveltos), " +
		c.namespace + "/kubecleaner-manager"
	if got := c.call(t.Context(), nil, "doctor"); !strings.Contains(got.out, want) || strings.Contains(got.out, "has ever led") ||
		strings.Contains(got.out, "no Cleaner runs") {
		t.Errorf("%q is not in:\n%s", want, got.out)
	}
}

// TestDoctorInTheWrongNamespace names the operator's, instead of what an empty namespace lacks.
func TestDoctorInTheWrongNamespace(t *testing.T) {
	c := newClinic(t)
	wrong := func(namespace, is string) {
		t.Helper()
		c.wants(c.call(t.Context(), nil, "doctor", "-n", namespace), codes.ExitError, "",
			"error: there is no operator in namespace "+namespace+", but there is one in namespace "+is+"\n"+
				"hint: leave -n out, or name the right one: kubectl cleaner doctor -n "+is+"   [E-STP-001]\n")
	}
	wrong("default", "NS")
	wrong("nowhere", "NS")
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: cluster.LeaseName}}
	lease.Spec = c.lease.Spec
	lease.Spec.RenewTime = ptr.To(metav1.NowMicro())
	remove := c.make(lease)
	const outside = "there is no Deployment of the operator, but pod-1_0123 holds the lease: an operator elsewhere runs Cleaners"
	if got := c.call(t.Context(), nil, "doctor", "-n", "default"); !strings.Contains(got.out, outside) {
		t.Errorf("%q is not in:\n%s%s", outside, got.out, got.errOut)
	}
	remove()

	// An operator that leads in the usual namespace is one, too, without a Deployment.
	must(t, c.Delete(t.Context(), c.deployment))
	usual := lease.DeepCopy()
	usual.ObjectMeta = metav1.ObjectMeta{Namespace: cluster.DefaultOperatorNamespace, Name: cluster.LeaseName}
	remove = c.make(usual)
	wrong("default", cluster.DefaultOperatorNamespace)
	remove()
	if got := c.call(t.Context(), nil, "doctor", "-n", "default"); !strings.Contains(got.out, "To do: install KubeCleaner") {
		t.Errorf("there is no operator at all:\n%s%s", got.out, got.errOut)
	}
}

// TestDoctorSeesOtherWorkloads: k8s-cleaner and a second operator may run as something else than a Deployment.
func TestDoctorSeesOtherWorkloads(t *testing.T) {
	c := newClinic(t)
	d := c.other("stray", "registry.local/kubecleaner:v1", 1)
	set := &appsv1.StatefulSet{ObjectMeta: d.ObjectMeta}
	set.Spec.Replicas, set.Spec.Selector, set.Spec.Template = d.Spec.Replicas, d.Spec.Selector, d.Spec.Template
	d = c.other("old", "docker.io/projectsveltos/k8s-cleaner:v0.19.0", 1)
	daemons := &appsv1.DaemonSet{ObjectMeta: d.ObjectMeta}
	daemons.Spec.Selector, daemons.Spec.Template = d.Spec.Selector, d.Spec.Template
	c.make(set)
	c.make(daemons)
	problems, _ := c.examined(nil)
	for _, want := range []string{
		"FAIL operators: : there are several operators, which act on the same Cleaners: " + c.namespace + "/kubecleaner-manager, " + c.namespace + "/stray",
		"FAIL k8s-cleaner: DaemonSet/" + c.namespace + "/old: k8s-cleaner runs beside KubeCleaner",
	} {
		if !slices.ContainsFunc(problems, func(p string) bool { return strings.HasPrefix(p, want) }) {
			t.Errorf("%q is not in:\n%s", want, strings.Join(problems, "\n"))
		}
	}
}

// TestDoctorNamesTheBindingThatIsMissing: one cause is one line, however many Cleaners lack rights by it.
func TestDoctorNamesTheBindingThatIsMissing(t *testing.T) {
	c := newClinic(t)
	for i := range 3 {
		more := c.patient.DeepCopy()
		more.ObjectMeta = metav1.ObjectMeta{Name: fmt.Sprintf("more-%d-%s", i, c.namespace)}
		c.make(more)
	}
	must(t, c.Delete(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: c.namespace + "-kubecleaner-manager"}}))
	targets := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: c.namespace + "-cleaner-targets"}}
	targets.Rules = []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"list", "get", "delete", "patch"}}}
	c.make(targets)
	account := c.namespace + "/kubecleaner-manager"
	want := "FAIL rights: ClusterRole/" + targets.Name + ": no ClusterRoleBinding binds it to ServiceAccount " + account +
		", which therefore may not list configmaps in namespace " + c.namespace + ", delete configmaps in namespace " + c.namespace
	of := func() (lines []string) {
		problems, _ := c.examined(nil)
		return slices.DeleteFunc(problems, func(p string) bool { return !strings.Contains(p, " rights: ") })
	}
	if lines := of(); len(lines) != 1 || !strings.HasPrefix(lines[0], want) || !strings.HasSuffix(lines[0], "These 3 rights are needed by 4 Cleaners: more-0-"+c.namespace+", more-1-"+c.namespace+", more-2-"+c.namespace+", unused-"+c.namespace) {
		t.Errorf("want %q, but:\n%s", want, strings.Join(lines, "\n"))
	}
	if got := c.call(t.Context(), nil, "doctor"); !strings.Contains(got.out, "To do: kubectl create clusterrolebinding "+targets.Name+
		" --clusterrole="+targets.Name+" --serviceaccount="+strings.Replace(account, "/", ":", 1)) {
		t.Errorf("the way out is not in:\n%s", got.out)
	}
	c.bind("other", targets.Name)
	want = "FAIL rights: ClusterRole/" + targets.Name + ": ClusterRoleBinding " + c.namespace + "-other does not bind it to ServiceAccount " + account
	if lines := of(); len(lines) != 1 || !strings.HasPrefix(lines[0], want) {
		t.Errorf("want %q, but:\n%s", want, strings.Join(lines, "\n"))
	}
}

// TestDoctorNamesTheClusterInItsCommands: without the context, they would act on another cluster.
func TestDoctorNamesTheClusterInItsCommands(t *testing.T) {
	c := newClinic(t)
	c.make(c.other("k8s-cleaner", "docker.io/projectsveltos/k8s-cleaner:v0.19.0", 1))
	config, err := clientcmd.LoadFromFile(c.kubeconfig)
	must(t, err)
	where := " --context " + config.CurrentContext
	for _, output := range []string{"table", "json"} {
		got := c.call(t.Context(), nil, "doctor", "--context", config.CurrentContext, "-o", output)
		if want := "kubectl" + where + " -n " + c.namespace + " delete deployment k8s-cleaner"; !strings.Contains(got.out, want) {
			t.Errorf("%q is not in:\n%s%s", want, got.out, got.errOut)
		}
	}
}

// TestDoctorNamesTheBindingThatIsMissingInANamespace: the chart may make a Role in each namespace (rbac.mode: namespaces).
func TestDoctorNamesTheBindingThatIsMissingInANamespace(t *testing.T) {
	c := newClinic(t)
	for i := range 5 {
		more := c.patient.DeepCopy()
		more.ObjectMeta = metav1.ObjectMeta{Name: fmt.Sprintf("more-%d-%s", i, c.namespace)}
		c.make(more)
	}
	must(t, c.Delete(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: c.namespace + "-kubecleaner-manager"}}))
	name := c.namespace + "-cleaner-targets"
	for _, namespace := range []string{c.namespace, "default"} { // the one in default would give nothing that is needed
		targets := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		targets.Rules = []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"list", "get", "delete", "patch"}}}
		c.make(targets)
	}
	problems, _ := c.examined(nil)
	problems = slices.DeleteFunc(problems, func(p string) bool { return !strings.Contains(p, " rights: ") })
	want := "FAIL rights: Role/NS/NS-cleaner-targets: no RoleBinding binds it to ServiceAccount NS/kubecleaner-manager, " +
		"which therefore may not list configmaps in namespace NS, delete configmaps in namespace NS"
	const who = "These 3 rights are needed by 6 Cleaners: more-0-NS, more-1-NS, more-2-NS and 3 more"
	if text := c.plain(strings.Join(problems, "\n")); len(problems) != 1 || !strings.HasPrefix(text, want) || !strings.HasSuffix(text, who) {
		t.Errorf("want %q and %q, but:\n%s", want, who, text)
	}
	out := c.plain(c.call(t.Context(), nil, "doctor").out)
	if !strings.Contains(out, "To do: kubectl -n NS create rolebinding NS-cleaner-targets --role=NS-cleaner-targets --serviceaccount=NS:kubecleaner-manager") {
		t.Errorf("the way out is not in:\n%s", out)
	}
}
