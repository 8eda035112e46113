// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
