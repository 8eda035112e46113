// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// refusing is a client that refuses updates of a status with one error after the other, and reads what another operator wrote.
type refusing struct {
	client.Client
	status refusingStatus
	live   v1alpha1.CleanerRun
}

type refusingStatus struct {
	client.SubResourceWriter
	refusals []error
}

func (r *refusing) Status() client.SubResourceWriter { return &r.status }

func (r *refusingStatus) Update(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	err := r.refusals[0]
	r.refusals = r.refusals[1:]
	return err
}

func (r *refusing) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	run, ok := o.(*v1alpha1.CleanerRun)
	if !ok {
		return fmt.Errorf("a %T was read", o)
	}
	r.live.DeepCopyInto(run)
	return nil
}

// TestSaveOfATakenRun: a run that was not written has no end.
func TestSaveOfATakenRun(t *testing.T) {
	fenced := fmt.Errorf("not the leader: %w", ErrTaken)
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "cleanerruns"}, "r", errors.New("changed"))
	for name, c := range map[string]struct {
		refusals []error
		uid      string
		live     v1alpha1.RunPhase
		want     v1alpha1.RunPhase
	}{
		"by the fence":                     {refusals: []error{fenced}, want: v1alpha1.RunExecuting},
		"by the fence, after a conflict":   {[]error{conflict, fenced}, "u", v1alpha1.RunExecuting, v1alpha1.RunExecuting},
		"by who brought it to its end":     {[]error{conflict}, "u", v1alpha1.RunCompleted, v1alpha1.RunCompleted},
		"by a new record of the same name": {[]error{conflict}, "other", v1alpha1.RunExecuting, v1alpha1.RunExecuting},
	} {
		t.Run(name, func(t *testing.T) {
			client := &refusing{status: refusingStatus{refusals: c.refusals}, live: v1alpha1.CleanerRun{
				ObjectMeta: metav1.ObjectMeta{Name: "r", UID: "u", ResourceVersion: "2"},
				Status:     v1alpha1.CleanerRunStatus{Phase: c.live},
			}}
			if c.uid == "other" {
				client.live.UID = "other"
			}
			run := &v1alpha1.CleanerRun{
				ObjectMeta: metav1.ObjectMeta{Name: "r", UID: "u", ResourceVersion: "1"},
				Status:     v1alpha1.CleanerRunStatus{Phase: v1alpha1.RunFailed},
			}
			err := New(client, "operator", clocktesting.NewFakePassiveClock(time.Now())).Save(t.Context(), run, v1alpha1.RunExecuting)
			if !errors.Is(err, ErrTaken) || run.Status.Phase != c.want {
				t.Fatalf("the phase is %q and the error %v, want %q and %v", run.Status.Phase, err, c.want, ErrTaken)
			}
		})
	}
}
