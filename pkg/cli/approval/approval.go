// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package approval finds plans that wait for a person, and says what a person decides about them.
package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Find finds the run of the name or, with the name of a Cleaner, that of its plan. Its plan must wait.
func Find(ctx context.Context, api *cluster.Client, name string) (*v1alpha1.CleanerRun, error) {
	run, err := api.CleanerRun(ctx, name)
	if is(err, codes.RunNotFound) {
		cleaner, no := api.Cleaner(ctx, name)
		switch {
		case is(no, codes.CleanerNotFound):
			return nil, err
		case no != nil:
			return nil, no
		case cleaner.Status.Plan == nil:
			return nil, terminal.Fail(codes.PlanNotWaiting,
				fmt.Errorf("no plan of cleaner %q waits for approval", name), "its runs: "+terminal.Program+" runs "+name)
		}
		run, err = api.CleanerRun(ctx, cleaner.Status.Plan.Run)
	}
	switch {
	case err != nil:
		return nil, err
	case run.Status.Phase == v1alpha1.RunAwaitingApproval && run.Status.Plan != nil:
		return run, nil
	case run.Status.Plan == nil:
		return nil, terminal.Fail(codes.PlanNotWaiting,
			fmt.Errorf("run %s has no plan: %s", run.Name, terminal.OneLine(run.Status.Message)),
			"the plans that wait: "+terminal.Program+" runs --waiting")
	}
	return nil, terminal.Fail(codes.PlanNotWaiting,
		fmt.Errorf("the plan of run %s does not wait any more: %s", run.Name, terminal.OneLine(run.Status.Message)),
		"the plans that wait: "+terminal.Program+" runs --waiting")
}

// is reports whether an error has the code.
func is(err error, code codes.Code) bool {
	var failure *terminal.Failure
	return errors.As(err, &failure) && failure.Code == code
}

// Who is the name that an approval of the user must have.
func Who(ctx context.Context, api *cluster.Client) (string, error) {
	if who := api.WhoAmI(ctx); who != "" {
		return who, nil
	}
	return "", terminal.Fail(codes.ClusterFailed,
		errors.New("the cluster does not say what your user name is, and an approval needs it"),
		"check it with: kubectl auth whoami")
}

// Decision is what a person says of a plan, and why.
type Decision struct {
	Decision v1alpha1.ApprovalDecision
	By       string
	Reason   string
}

// Say creates the CleanerApproval, and returns it as the API server sent it. It goes away with the run.
func Say(ctx context.Context, api *cluster.Client, run *v1alpha1.CleanerRun, d Decision) ([]byte, error) {
	approval := v1alpha1.CleanerApproval{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "CleanerApproval"},
		ObjectMeta: metav1.ObjectMeta{Name: run.Name, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: "CleanerRun", Name: run.Name, UID: run.UID,
		}}},
		Spec: v1alpha1.CleanerApprovalSpec{
			Cleaner: run.Spec.Cleaner, Run: run.Name, PlanHash: run.Status.Plan.Hash, By: d.By,
			Decision: d.Decision, Reason: d.Reason,
		},
	}
	body, err := json.Marshal(approval)
	if err != nil {
		return nil, err
	}
	body, err = cluster.Send(ctx, api.Raw.Post().AbsPath(Path("")).Param("fieldManager", cluster.FieldManager).Body(body))
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil, said(ctx, api, run)
	case apierrors.IsNotFound(err):
		return nil, terminal.Fail(codes.ClusterFailed,
			errors.New("the cluster has no CleanerApprovals: its CustomResourceDefinitions are of an older version"),
			"apply the CustomResourceDefinitions of this version")
	}
	if err != nil {
		return nil, cluster.RequestError("creating CleanerApproval "+run.Name, err)
	}
	return body, nil
}

// Said is what somebody said of the plan of a run.
func Said(ctx context.Context, api *cluster.Client, run string) (*v1alpha1.CleanerApproval, error) {
	var there v1alpha1.CleanerApproval
	return &there, api.Read(ctx, Path(run), &there)
}

// said is the error when somebody has decided already.
func said(ctx context.Context, api *cluster.Client, run *v1alpha1.CleanerRun) error {
	there, err := Said(ctx, api, run.Name)
	if err != nil {
		return cluster.RequestError("reading CleanerApproval "+run.Name, err)
	}
	if there.Spec.Cleaner != run.Spec.Cleaner || there.Spec.PlanHash != run.Status.Plan.Hash {
		return terminal.Fail(codes.PlanNotWaiting, fmt.Errorf(
			"there is a CleanerApproval %s already, by %s, and it is for another plan", run.Name, there.Spec.By),
			"it does not count: the operator ends the plan, and the next run makes another")
	}
	deed := map[v1alpha1.ApprovalDecision]string{
		v1alpha1.DecisionApprove: "approved", v1alpha1.DecisionReject: "rejected",
	}[there.Spec.Decision]
	return terminal.Fail(codes.PlanNotWaiting,
		fmt.Errorf("%s has %s the plan of run %s already", there.Spec.By, deed, run.Name),
		"what became of it: "+terminal.Program+" runs "+run.Spec.Cleaner)
}

// Path is where a CleanerApproval is; without a name, where all are.
func Path(name string) string {
	return object.Kind{
		GroupVersionKind: v1alpha1.GroupVersion.WithKind("CleanerApproval"),
		Resource:         "cleanerapprovals",
	}.Path("", name)
}
