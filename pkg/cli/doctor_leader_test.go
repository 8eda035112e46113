// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// pod is one of the operator's Deployment.
func (c *clinic) pod(name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: c.namespace, Name: name, Labels: c.deployment.Spec.Selector.MatchLabels,
	}}
	pod.Spec.Containers = []corev1.Container{{Name: "manager", Image: "kubecleaner/manager:v1.2.3"}}
	return pod
}

// held changes the Lease as if nobody renewed it any more.
func (c *clinic) held(change func(*coordinationv1.LeaseSpec)) {
	c.Helper()
	must(c.T, c.Get(c.Context(), client.ObjectKeyFromObject(c.lease), c.lease))
	change(&c.lease.Spec)
	c.lease.Annotations = map[string]string{"stays": "yes"}
	must(c.T, c.Update(c.Context(), c.lease))
}

// TestDoctorAllowsForTheClocks: the leader writes the time of its own clock into the Lease.
func TestDoctorAllowsForTheClocks(t *testing.T) {
	c := newClinic(t)
	for name, test := range map[string]struct{ here, renewed time.Duration }{
		"the API server's is ahead": {45 * time.Second, 45 * time.Second},
		"this one is ahead":         {-45 * time.Second, 0},
	} {
		c.held(func(l *coordinationv1.LeaseSpec) {
			l.RenewTime = ptr.To(metav1.NewMicroTime(time.Now().Add(-test.renewed)))
		})
		problems, code := c.examined(func(o *terminal.Options) {
			o.Now = func() time.Time { return time.Now().Add(-test.here) }
		})
		if code != codes.ExitDone {
			t.Errorf("%s: exit %d:\n%s", name, code, strings.Join(problems, "\n"))
		}
	}
	// A clock that is wrong by more makes no Lease young. The API server says its time in whole seconds, and the requests
	// take some.
	old := regexp.MustCompile(`pod-1_0123 has not renewed it for (9m5\ds|10m\d+s)`)
	c.held(func(l *coordinationv1.LeaseSpec) {
		l.RenewTime = ptr.To(metav1.NewMicroTime(time.Now().Add(-10 * time.Minute)))
	})
	problems, _ := c.examined(func(o *terminal.Options) { o.Now = func() time.Time { return time.Now().Add(-time.Hour) } })
	if !slices.ContainsFunc(problems, old.MatchString) {
		t.Errorf("nobody has renewed the Lease, but:\n%s", strings.Join(problems, "\n"))
	}
}

// TestDoctorKnowsTheLeader: who holds the Lease and is no operator keeps the operator from all work.
func TestDoctorKnowsTheLeader(t *testing.T) {
	c := newClinic(t)
	c.held(func(l *coordinationv1.LeaseSpec) {
		l.HolderIdentity, l.RenewTime = ptr.To("pod-1_0123"), ptr.To(metav1.NewMicroTime(time.Now().Add(time.Second*30)))
	})
	if problems, code := c.examined(nil); code != codes.ExitDone {
		t.Errorf("its own Pod: exit %d:\n%s", code, strings.Join(problems, "\n"))
	}
	c.held(func(l *coordinationv1.LeaseSpec) { l.HolderIdentity = ptr.To("payments-controller-7c9f_x") })
	const want = "FAIL   leader   Lease/NS/kubecleaner-leader: payments-controller-7c9f_x holds it, and is not a Pod of " +
		"Deployment/NS/kubecleaner-manager, which waits: no run begins, unless the holder is an operator, too. " +
		"To do: find out who renews it, and run doctor again in half a minute; if nobody knows the holder: " +
		"kubectl -n NS delete lease kubecleaner-leader"
	for _, pods := range []string{"one", "none"} {
		got := c.call(t.Context(), nil, "doctor")
		if text := strings.Join(strings.Fields(c.plain(got.out)), " "); got.code != codes.ExitError ||
			!strings.Contains(text, strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%s: exit %d, want %q in:\n%s", pods, got.code, want, got.out)
		}
		must(t, client.IgnoreNotFound(c.Delete(t.Context(), c.pod("pod-1"), client.GracePeriodSeconds(0))))
	}
}
