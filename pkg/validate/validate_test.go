// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/identity"
)

// TestKnownProblemsAreSaidWhileNobodyKnowsTheAccount: what is wrong without the cluster is wrong in any case.
func TestKnownProblemsAreSaidWhileNobodyKnowsTheAccount(t *testing.T) {
	t.Parallel()
	away := errors.New("the API server is away")
	v := Validator{Identities: &identity.Identities{As: func(v1alpha1.ServiceAccountRef) (rest.Interface, error) {
		return nil, away
	}}}
	for name, test := range map[string]struct {
		condition, reason, message string
		homeless                   []error
		err                        error
	}{
		"nothing":            {condition: "true", err: away},
		"a broken condition": {condition: "1 +", reason: v1alpha1.ReasonInvalidExpression, message: "matchConditions"},
		"no storage": {
			condition: "true", homeless: []error{errors.New("no bucket")},
			reason: v1alpha1.ReasonInvalidStorage, message: "no bucket",
		},
	} {
		cleaner := &v1alpha1.Cleaner{}
		cleaner.Spec.ServiceAccountRef = &v1alpha1.ServiceAccountRef{Namespace: "a", Name: "b"}
		cleaner.Spec.ResourcePolicySet.ResourceSelectors = []v1alpha1.ResourceSelector{{
			Version: "v1", Kind: "ConfigMap", MatchConditions: []v1alpha1.MatchCondition{{Name: "one", Expression: test.condition}},
		}}
		v.CopyProblems = func(*v1alpha1.Cleaner) []error { return test.homeless }
		reason, message, err := v.Validate(t.Context(), cleaner)
		if reason != test.reason || !strings.Contains(message, test.message) || !errors.Is(err, test.err) {
			t.Errorf("%s: got %q, %q and %v", name, reason, message, err)
		}
	}
}
