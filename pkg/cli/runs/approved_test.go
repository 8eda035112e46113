// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// The run that carried out a plan says who approved it.
func TestRunNamesWhoApproved(t *testing.T) {
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	run := &v1alpha1.CleanerRun{}
	run.Spec.Plan = &v1alpha1.ApprovedPlan{PlanRef: v1alpha1.PlanRef{Run: "tidy-1"}, By: "ann"}
	session := &terminal.Session{IOStreams: streams, Options: terminal.Options{Now: time.Now}}
	(&options{Session: session}).reportRun(run)
	if want := "\napproved by ann: the plan of run tidy-1\n"; !strings.Contains(out.String(), want) {
		t.Errorf("%q is not in:\n%s", want, out)
	}
}
