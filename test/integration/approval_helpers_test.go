// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

var mayApprove = []rbacv1.PolicyRule{
	may("cleaners.apps.projectsveltos.io", "approve"),
	may("cleanerapprovals.apps.projectsveltos.io", "create"),
}

// needsApproval makes the Cleaner one whose plans a person must approve within half a day. A mode that is left out means Required.
func needsApproval(c *v1alpha1.Cleaner) {
	seconds := int64(day / time.Second / 2)
	c.Spec.Approval = &v1alpha1.Approval{ExpiresAfterSeconds: &seconds}
}

// planned is a life whose first run has left a plan to do something to the ConfigMaps "a", "b" and "c".
func planned(t *testing.T, action v1alpha1.Action, edit ...func(*v1alpha1.Cleaner)) *life {
	t.Helper()
	deployed(t)
	b := newBench(t)
	for _, name := range []string{"a", "b", "c"} {
		b.configMap(name)
	}
	l := b.follow(b.cleaner(action, append(edit, needsApproval)...))
	l.startExecutor()
	l.at(l.first())
	l.finish()
	if l.now.Status.Plan == nil {
		t.Fatalf("no plan waits: %+v", l.now.Status.Conditions)
	}
	return l
}

// decide says something of the plan that waits, as the user, who may.
func (l *life) decide(user string, decision v1alpha1.ApprovalDecision, edit ...func(*v1alpha1.CleanerApproval)) {
	l.t.Helper()
	must(l.t, l.as(user, mayApprove...).Create(l.t.Context(), l.approval(user, decision, edit...)))
}

func (l *life) approval(
	user string,
	decision v1alpha1.ApprovalDecision,
	edit ...func(*v1alpha1.CleanerApproval),
) *v1alpha1.CleanerApproval {
	plan := l.now.Status.Plan
	approval := &v1alpha1.CleanerApproval{
		ObjectMeta: metav1.ObjectMeta{Name: plan.Run},
		Spec: v1alpha1.CleanerApprovalSpec{
			Cleaner: l.now.Name, Run: plan.Run, PlanHash: plan.Hash, By: user, Decision: decision,
		},
	}
	for _, e := range edit {
		e(approval)
	}
	l.t.Cleanup(func() { _ = l.user.Delete(context.Background(), approval) })
	return approval
}

// record is a record of the life.
func (l *life) record(name string) *v1alpha1.CleanerRun {
	l.t.Helper()
	var run v1alpha1.CleanerRun
	must(l.t, l.user.Get(l.t.Context(), client.ObjectKey{Name: name}, &run))
	return &run
}

// wantEnded fails the test unless the plan of a run ended so, and no plan waits.
func (l *life) wantEnded(run, reason string, texts ...string) {
	l.t.Helper()
	record := l.record(run)
	if record.Status.Phase != v1alpha1.RunCompleted || record.Status.Reason != reason {
		l.t.Fatalf("the run is %s, %s: %s", record.Status.Phase, record.Status.Reason, record.Status.Message)
	}
	wantTexts(l.t, "the run's message", record.Status.Message, texts...)
	if l.now.Status.Plan != nil && l.now.Status.Plan.Run == run {
		l.t.Fatalf("the plan still waits: %+v", l.now.Status.Plan)
	}
}

// backdateApproval has the operator see the approval of the plan as if it was there before the run began.
func (l *life) backdateApproval() {
	name := l.now.Status.Plan.Run
	var said v1alpha1.CleanerApproval
	must(l.t, l.user.Get(l.t.Context(), client.ObjectKey{Name: name}, &said))
	said.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("CleanerApproval"))
	said.CreationTimestamp = metav1.NewTime(l.record(name).CreationTimestamp.Add(-time.Second))
	body, err := json.Marshal(said)
	must(l.t, err)
	l.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/cleanerapprovals/"+name) {
			return answer(r, http.StatusOK, body), nil
		}
		return nil, nil
	})
}

// changePolicyAfterApproval has the operator see the policies' bindings as if they were created with the approval.
func (l *life) changePolicyAfterApproval() {
	var said v1alpha1.CleanerApproval
	must(l.t, l.user.Get(l.t.Context(), client.ObjectKey{Name: l.now.Status.Plan.Run}, &said))
	var bindings admissionv1.ValidatingAdmissionPolicyBindingList
	admin, err := client.New(env.Config, client.Options{})
	must(l.t, err)
	must(l.t, admin.List(l.t.Context(), &bindings))
	bindings.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicyBindingList"))
	for i := range bindings.Items {
		bindings.Items[i].CreationTimestamp = said.CreationTimestamp
	}
	body, err := json.Marshal(bindings)
	must(l.t, err)
	l.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/validatingadmissionpolicybindings") {
			return answer(r, http.StatusOK, body), nil
		}
		return nil, nil
	})
}
