// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// A run of a Cleaner that the operator does not run would be refused: the hint says what to do first.
func TestHintForACleanerThatIsNotReady(t *testing.T) {
	const run = "to have the operator do this now: kubectl cleaner run a"
	is := func(status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: v1alpha1.ConditionReady, Status: status, Reason: reason, Message: "why"}
	}
	const remove = "; first remove the other controller. To look for it: kubectl cleaner doctor"
	for name, test := range map[string]struct {
		edit func(*v1alpha1.Cleaner)
		want string
	}{
		"never seen":   {func(c *v1alpha1.Cleaner) { c.Status.Conditions = nil }, run},
		"ready":        {func(c *v1alpha1.Cleaner) { c.Status.Conditions[0] = is("True", v1alpha1.ReasonScheduled) }, run},
		"suspended":    {func(c *v1alpha1.Cleaner) { c.Status.Conditions[0] = is("False", v1alpha1.ReasonSuspended) }, run},
		"edited since": {func(c *v1alpha1.Cleaner) { c.Generation = 2 }, run},
		"wrong": {
			func(*v1alpha1.Cleaner) {},
			"the operator does not run this Cleaner (UnknownKind: why); first correct the Cleaner: kubectl edit cleaner a",
		},
		"another controller": {
			func(c *v1alpha1.Cleaner) { c.Status.Conditions[0] = is("False", v1alpha1.ReasonForeignController) },
			"the operator does not run this Cleaner (ForeignController: why)" + remove,
		},
		"rights": {
			func(c *v1alpha1.Cleaner) {
				c.Status.Conditions[0] = is("False", v1alpha1.ReasonServiceAccountForbidden)
			},
			"the operator does not run this Cleaner (ServiceAccountForbidden: why); first correct the installation. To see what it lacks: kubectl cleaner doctor",
		},
		"lost fields": {
			func(c *v1alpha1.Cleaner) {
				c.Status.Conditions[0] = is("False", v1alpha1.ReasonCRDOutdated)
				c.Status.Conditions[0].Message = v1alpha1.LostFieldsWords
			},
			"the operator does not run this Cleaner (CRDOutdated: " + v1alpha1.LostFieldsWords + "); first apply its manifest again",
		},
		"fields are dropped": {
			func(c *v1alpha1.Cleaner) { c.Status.Conditions[0] = is("False", v1alpha1.ReasonCRDOutdated) },
			"the operator does not run this Cleaner (CRDOutdated: why); do not edit the Cleaner. To see what to do: kubectl cleaner doctor",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
			c.Status.Conditions = []metav1.Condition{is("False", v1alpha1.ReasonUnknownKind)}
			test.edit(c)
			found := &result{Action: v1alpha1.ActionScan, Considered: 1, Matched: 1}
			if got := (&job{options: &options{}}).next(c, found, []string{"a"}); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			nothing, want := &result{Action: v1alpha1.ActionDelete, Considered: 1}, test.want
			if want == run {
				want = ""
			}
			if got := (&job{options: &options{}}).next(c, nothing, []string{"a"}); got != want {
				t.Errorf("nothing matches: got  %q\nwant %q", got, want)
			}
		})
	}

	patient := &v1alpha1.Cleaner{Spec: v1alpha1.CleanerSpec{OccurrenceThreshold: ptr.To[int32](2)}}
	patient.Spec.BlastRadiusLimit = &v1alpha1.BlastRadiusLimit{}
	later := "a run now touches only what has matched for long enough: kubectl cleaner run a"
	if got := (&job{options: &options{}}).next(patient, &result{Action: v1alpha1.ActionDelete, Considered: 1, Matched: 1, WouldAct: 1}, []string{"a"}); got != later {
		t.Errorf("with an occurrenceThreshold: got %q, want %q", got, later)
	}

	j := &job{options: &options{}, drops: true}
	want := "no run begins now. To see what to do: kubectl cleaner doctor"
	if got := j.next(&v1alpha1.Cleaner{}, &result{Action: v1alpha1.ActionScan, Considered: 1, Matched: 1}, []string{"a"}); got != want {
		t.Errorf("while fields are dropped: got  %q\nwant %q", got, want)
	}
}
