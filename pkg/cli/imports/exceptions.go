// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
)

// exception is what is read of a PolicyException of policies.kyverno.io. An object that meets all its conditions is not
// deleted by the policies that it names. One that has expired counts: then the Cleaner selects less. Kyverno reads no
// PolicyException of kyverno.io when it deletes.
type exception struct {
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		PolicyRefs      []struct{ Name, Kind string }
		MatchConditions []celCondition
	}
	// wrong says why it cannot be read as a whole.
	wrong error
}

// readExceptions reads the exceptions of all policies.
func (j *job) readExceptions(docs []*manifest.Document) {
	for _, d := range docs {
		if group, _, _ := strings.Cut(d.APIVersion(), "/"); group != deletingGroup || d.Kind() != "PolicyException" {
			continue
		}
		e := &exception{}
		e.wrong = json.Unmarshal(d.Raw, e) // what is of the right type is read
		if e.wrong != nil {
			j.unreadable(d, 0, e.wrong, ": it may name any policy, so all of them select nothing")
		}
		j.exceptions = append(j.exceptions, e)
	}
}

// except takes what exceptions name out of the selectors.
func (p *policy) except(selectors []v1alpha1.ResourceSelector, variables []celCondition) {
	for _, e := range p.exceptions {
		if e.wrong == nil && !slices.Contains(e.Spec.PolicyRefs, struct{ Name, Kind string }{p.d.Name(), p.d.Kind()}) {
			continue
		}
		condition := p.excepted(e, variables)
		for s := range selectors {
			named := condition
			named.Name = unused(named.Name, selectors[s].MatchConditions)
			selectors[s].MatchConditions = append(selectors[s].MatchConditions, named)
		}
	}
}

// excepted is the condition that an object does not meet an exception. It says what becomes of the exception.
func (p *policy) excepted(e *exception, variables []celCondition) v1alpha1.MatchCondition {
	what := fmt.Sprintf("the PolicyException %s/%s ", e.Metadata.Namespace, e.Metadata.Name)
	all := make([]string, 0, len(e.Spec.MatchConditions))
	for _, c := range e.Spec.MatchConditions {
		all = append(all, "("+withTimes(inlined(c.Expression, variables))+")")
	}
	condition := v1alpha1.MatchCondition{Name: "not-excepted", Expression: "!(" + strings.Join(all, " && ") + ")"}
	switch _, err := cel.Compile([]v1alpha1.MatchCondition{condition}); {
	case e.wrong != nil:
		return p.lose("", what+"is not carried over: it cannot be read")
	case len(all) == 0:
		return p.lose("", what+"has no conditions, so it keeps all objects from this policy")
	case err != nil:
		first, _, _ := strings.Cut(err.Error(), "\n")
		_, cause, _ := strings.Cut(first, "): ")
		return p.lose("", what+"is not carried over: "+cause)
	}
	p.lost(p.d, "", what+"is carried over as it is now, as a matchCondition: "+
		"a Cleaner does not see its changes, nor exceptions that are added",
		"change the Cleaner when an exception of this policy is changed, added or removed")
	return condition
}
