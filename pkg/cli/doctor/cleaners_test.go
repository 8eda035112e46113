// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// A Cleaner need not be wrong when it does not run: the way out says where to look.
func TestWaysOutOfNotReady(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		v1alpha1.ReasonInvalidExpression:       "kubectl edit cleaner a",
		v1alpha1.ReasonServiceAccountForbidden: "see the check rights",
	} {
		c := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
		c.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason}}
		if line, wrong := notReady(c, time.Now()); !wrong || !strings.Contains(line.WayOut, want) {
			t.Errorf("%s: the way out is %q, want %q", reason, line.WayOut, want)
		}
	}
}

// A suspended Cleaner is not among those whose schedules fire.
func TestSuspendedSchedulesDoNotFire(t *testing.T) {
	t.Parallel()
	p := &patient{there: time.Now(), cleaners: make([]v1alpha1.Cleaner, 3)}
	for i := range p.cleaners {
		p.cleaners[i].Spec.Schedule = "@daily"
	}
	p.cleaners[0].Spec.Suspend = ptr.To(true)
	lines, well := p.schedules(t.Context())
	if want := "2 schedules can be read and fire; suspended, and so not run: 1 Cleaner"; len(lines) > 0 || well != want {
		t.Errorf("it says %v %q, want %q", lines, well, want)
	}
}
