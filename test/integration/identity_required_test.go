// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func requireAccount(s *settings) { s.requireAccount = true }

const lacksAccount = "serviceAccountRef is missing, and the operator runs with --require-service-account: name the ServiceAccount as which the Cleaner reads and acts, " +
	"for example serviceAccountRef: {namespace: team-a, name: cleaner}"

// TestServiceAccountRequired: with the flag, a Cleaner without an account is not Ready, and does not run.
func TestServiceAccountRequired(t *testing.T) {
	t.Parallel()
	b := newBench(t, requireAccount)
	b.configMap("one")
	c := b.reconcile(b.cleaner(v1alpha1.ActionDelete))
	wantStalled(t, c, v1alpha1.ReasonServiceAccountRequired, lacksAccount)
	if c.Status.NextScheduleTime != nil {
		t.Errorf("its next run is at %s", c.Status.NextScheduleTime)
	}
	edit(b, c, func(c *v1alpha1.Cleaner) { c.Annotations = map[string]string{v1alpha1.RunRequestedAtAnnotation: "now"} })
	c = b.reconcile(c)
	wantCondition(t, c, v1alpha1.ConditionRunSucceeded, "False", v1alpha1.ReasonFailed, "The run that was asked for did not begin: "+lacksAccount)
	// Once more when a run begins, whoever asked for it.
	wantRun(t, b.run(c), v1alpha1.ReasonServiceAccountRequired, "Nothing was read or touched: "+lacksAccount)
	if n := b.requests.count("GET", b.namespace+"/configmaps"); n > 0 {
		t.Errorf("the operator listed ConfigMaps %d times", n)
	}
	b.wantNames("one")
	// With an account, it is as any other.
	edit(b, b.get(c.Name), b.account(may("configmaps", "list", "delete")))
	wantCondition(t, b.reconcile(c), v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	wantRun(t, b.run(c), v1alpha1.ReasonCompleted, "1 deleted.")
}

// TestAllMistakesBesidesTheMissingAccount are reported at once.
func TestAllMistakesBesidesTheMissingAccount(t *testing.T) {
	t.Parallel()
	b := newBench(t, requireAccount)
	c := b.reconcile(b.cleaner(v1alpha1.ActionDelete, evaluate("not Lua")))
	wantCondition(t, c, v1alpha1.ConditionReady, "False", v1alpha1.ReasonServiceAccountRequired, lacksAccount, "resourceSelectors[0].evaluate: ")
}

// TestTheFlagIsNewerThanTheCleaner: one that was Ready is refused when the operator comes back with the flag, and Ready again
// when it comes back without.
func TestTheFlagIsNewerThanTheCleaner(t *testing.T) {
	t.Parallel()
	before := newBench(t)
	c := before.reconcile(before.cleaner(v1alpha1.ActionDelete))
	wantCondition(t, c, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	after := newBench(t, requireAccount)
	wantCondition(t, after.reconcile(c), v1alpha1.ConditionReady, "False", v1alpha1.ReasonServiceAccountRequired, lacksAccount)
	wantCondition(t, before.reconcile(c), v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
}
