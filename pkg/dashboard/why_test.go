// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestWhyNotThere asks for objects that cannot be read: one that a run deleted, one that a Pod names in vain, one of which
// nobody knows anything, and one that the person may not read.
func TestWhyNotThere(t *testing.T) {
	c := admin(t)
	shop := namespace(t, c)
	create(t, c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "settings"}})
	run := record(t, c, cleaner(t, c, shop, nil), 0, v1alpha1.CleanerRunStatus{
		Phase: v1alpha1.RunCompleted, RunCounts: v1alpha1.RunCounts{Considered: 1, Matched: 1, Acted: 1},
		Objects: []v1alpha1.ObjectOutcome{outcome(shop, "deleted", v1alpha1.OutcomeDeleted)},
	})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "storefront"}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: "i", EnvFrom: []corev1.EnvFromSource{{
			ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "missing"}},
		}}}},
	}}
	create(t, c, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "default"}})
	create(t, c, pod)
	v := visit(t, env.Config)
	var answer struct {
		Exists    bool
		Unsure    string
		Users     []struct{ Name string }
		DeletedBy *struct{ Run string }

		CleanersUnread string
	}
	ask := func(v *visitor, name string) {
		t.Helper()
		answer.DeletedBy = nil
		v.wants(http.StatusOK, http.MethodGet, "why?object=ConfigMap/"+shop+"/"+name, nil, &answer)
	}
	if ask(v, "deleted"); answer.Exists || answer.DeletedBy == nil || answer.DeletedBy.Run != run.Name {
		t.Errorf("of one that a run deleted: %+v", answer)
	}
	if ask(v, "missing"); answer.Exists || len(answer.Users) != 1 || answer.Users[0].Name != "storefront" {
		t.Errorf("of one that a Pod names: %+v", answer)
	}
	status, text := v.ask(http.MethodGet, "why?object=ConfigMap/"+shop+"/setings", nil)
	if status != http.StatusNotFound || !strings.Contains(text, "no run that is on record deleted it") ||
		!strings.Contains(text, "did you mean") {
		t.Errorf("of one of which nobody knows: %d %s", status, text)
	}
	nobody, err := env.AddUser("why-nobody")
	must(t, err)
	if ask(visit(t, nobody.Config()), "settings"); answer.Exists || !strings.Contains(answer.Unsure, `"why-nobody" cannot get`) {
		t.Errorf("of one that may not be read: %+v", answer)
	}
	create(t, c, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "why-local"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:aggregate-to-view"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "why-local"}},
	})
	local, err := env.AddUser("why-local")
	must(t, err)
	if ask(visit(t, local.Config()), "settings"); !strings.Contains(answer.CleanersUnread, "cleaners") {
		t.Errorf("as somebody who may not list Cleaners: %+v", answer)
	}
}
