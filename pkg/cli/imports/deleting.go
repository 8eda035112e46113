// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"fmt"
	"regexp"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dump"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
)

// deletingGroup is the group of DeletingPolicies and of the exceptions to them.
const deletingGroup = "policies.kyverno.io"

// deletingPolicy is what is read of Kyverno's DeletingPolicy.
type deletingPolicy struct {
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		Schedule                  string
		DeletionPropagationPolicy *metav1.DeletionPropagation
		MatchConstraints          constraints
		Conditions                []celCondition
		Variables                 []celCondition
	}
}

type celCondition struct{ Name, Expression string }

type constraints struct {
	ResourceRules, ExcludeResourceRules []resourceRule
	NamespaceSelector, ObjectSelector   *metav1.LabelSelector
}

type resourceRule struct {
	APIGroups, APIVersions, Resources, ResourceNames []string
	Scope                                            admissionv1.ScopeType
}

// isFor reports whether the scope of a rule lets it be about a kind. As for the API server's policies, a Namespace is
// cluster-scoped.
func (r *resourceRule) isFor(kind schema.GroupKind) bool {
	switch r.Scope {
	case admissionv1.ClusterScope:
		return dump.IsClusterScoped(kind)
	case admissionv1.NamespacedScope:
		return !dump.IsClusterScoped(kind)
	}
	return true
}

// deleting is a DeletingPolicy, with its CEL as it is.
func (j *job) deleting(d *manifest.Document) *v1alpha1.Cleaner {
	var of deletingPolicy
	if !j.decode(d, &of) {
		return nil
	}
	p := &policy{job: j, d: d}
	if strings.HasPrefix(d.Kind(), "Namespaced") {
		if p.namespace = of.Metadata.Namespace; p.namespace == "" {
			j.lost(
				d,
				"metadata",
				"names no namespace, and a NamespacedDeletingPolicy looks only at its own",
				"add metadata.namespace",
			)
			return nil
		}
	}
	ruled := p.ruled(&of.Spec.MatchConstraints)
	selectors := p.unfiltered(ruled, "spec.matchConstraints")
	if len(ruled) > 0 && len(selectors) == 0 {
		j.lost(d, "spec.matchConstraints", "resourceFilters leave nothing of it, so no Cleaner was written", "")
		return nil
	}
	if len(selectors) == 0 {
		j.lost(d, "spec.matchConstraints", "no kind of it could be carried over, so no Cleaner was written",
			"write a Cleaner with a selector for each kind")
		return nil
	}
	for i, c := range of.Spec.Conditions {
		carried := p.carried(c, fmt.Sprintf("spec.conditions[%d].expression", i), of.Spec.Variables)
		for s := range selectors {
			named := carried
			named.Name = unused(named.Name, selectors[s].MatchConditions)
			selectors[s].MatchConditions = append(selectors[s].MatchConditions, named)
		}
	}
	p.except(selectors, of.Spec.Variables)
	holes := p.unknown(of.Spec)
	for s := range selectors {
		selectors[s].MatchConditions = append(selectors[s].MatchConditions, holes...)
	}
	c := j.newCleaner(d.Name(), of.Spec.Schedule)
	if of.Spec.DeletionPropagationPolicy != nil {
		c.Spec.DeleteOptions = &v1alpha1.DeleteOptions{PropagationPolicy: of.Spec.DeletionPropagationPolicy}
	}
	c.Spec.ResourcePolicySet.ResourceSelectors = selectors
	return c
}

// carried is a condition of the policy in the CEL of Cleaners, or one that nothing fulfils.
func (p *policy) carried(c celCondition, field string, variables []celCondition) v1alpha1.MatchCondition {
	written := inlined(c.Expression, variables)
	carried := v1alpha1.MatchCondition{Name: conditionNameOf(c.Name), Expression: withTimes(written)}
	if _, err := cel.Compile([]v1alpha1.MatchCondition{carried}); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		_, cause, _ := strings.Cut(first, "): ")
		return p.lose(field, "is not carried over: "+cause)
	}
	if carried.Expression != written {
		p.differs(p.d, field, "is carried over with timestamp(object.metadata.creationTimestamp), because the field is a text", "")
	}
	p.comesFrom(p.d, carried.Expression, field)
	return carried
}

var (
	usedVariable = regexp.MustCompile(`\bvariables\.([A-Za-z_][A-Za-z0-9_]*)`)
	timeNow      = regexp.MustCompile(`\b(?:time\.)?now\(\)`)
)

// maxInlined bounds how long an expression may become.
const maxInlined = 1 << 16

// inlined writes variables out, which Cleaners do not have, and now() as the variable that Cleaners have.
func inlined(expression string, variables []celCondition) string {
	for i := len(variables) - 1; i >= 0; i-- { // a variable may use those before it
		expression = usedVariable.ReplaceAllStringFunc(expression, func(use string) string {
			if use != "variables."+variables[i].Name || len(expression)+len(variables[i].Expression) > maxInlined {
				return use
			}
			return "(" + strings.TrimSpace(variables[i].Expression) + ")"
		})
	}
	return timeNow.ReplaceAllString(strings.TrimSpace(expression), "now")
}

var (
	created       = regexp.QuoteMeta("object.metadata.creationTimestamp")
	sinceCreated  = regexp.MustCompile(`(\bnow\s*-\s*)(` + created + `)\b`)
	createdBefore = regexp.MustCompile(`(^\(?|[^.\w(]|[^p]\()(` + created + `)` +
		`(\s*(?:[<>]=?\s*(?:now\b|timestamp\()|\+\s*duration\())`)
)

// withTimes reads the time at which an object was made as a time, where it is taken for one. It is a text.
func withTimes(expression string) string {
	expression = sinceCreated.ReplaceAllString(expression, "${1}timestamp(${2})")
	return createdBefore.ReplaceAllString(expression, "${1}timestamp(${2})${3}")
}

// ruled are the selectors of a policy's rules.
func (p *policy) ruled(m *constraints) (selectors []v1alpha1.ResourceSelector) {
	const at = "spec.matchConstraints"
	for i, rule := range m.ResourceRules {
		for _, group := range rule.APIGroups {
			for n, plural := range rule.Resources {
				field := fmt.Sprintf("%s.resourceRules[%d].resources[%d]", at, i, n)
				kind, ok := p.ruledKind(&rule, group, plural, field)
				if !ok {
					continue
				}
				if len(rule.APIVersions) == 1 && rule.APIVersions[0] != "*" {
					kind.Version = rule.APIVersions[0]
				}
				s := v1alpha1.ResourceSelector{Group: kind.Group, Version: kind.Version, Kind: kind.Kind}
				if names := matchesAny("object.metadata.name", rule.ResourceNames); names != "" {
					s.MatchConditions = append(s.MatchConditions, v1alpha1.MatchCondition{Name: "name", Expression: names})
				}
				within := p.narrow(&s, placed{filter{Resources: resources{
					Selector:          p.objectSelector(&s, m),
					NamespaceSelector: notEmpty(m.NamespaceSelector),
				}}, at})
				p.place(&s, within)
				if p.leftOut(&s, m.ExcludeResourceRules) {
					selectors = append(selectors, s)
				}
			}
		}
	}
	return selectors
}

// objectSelector is that of a policy, in which there are no wildcards. Nil when it is not set or cannot be parsed.
func (p *policy) objectSelector(s *v1alpha1.ResourceSelector, m *constraints) *metav1.LabelSelector {
	if err := parseSelector(m.ObjectSelector); err != nil {
		s.MatchConditions = append(s.MatchConditions, p.lose("spec.matchConstraints.objectSelector", wrongSelector(err)))
		return nil
	}
	return m.ObjectSelector
}

// notEmpty is nil for a selector that selects everything, which is what the API server makes of one that is not set.
func notEmpty(s *metav1.LabelSelector) *metav1.LabelSelector {
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return nil
	}
	return s
}

// names reports whether a group and a resource of a rule are a kind. The API server takes the subresource * for the
// objects themselves, too.
func (r *resourceRule) names(group, resource string, kind schema.GroupKind) bool {
	plural := strings.ToLower(strings.TrimSuffix(resource, "/*"))
	isResource := plural == "*" || plural == pluralOf(kind.WithVersion(""))
	return isResource && (group == "*" || group == kind.Group) && r.isFor(kind)
}

// leftOut takes out of a selector what excludeResourceRules name. It is false when nothing is left.
func (p *policy) leftOut(s *v1alpha1.ResourceSelector, rules []resourceRule) bool {
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, plural := range rule.Resources {
				if !rule.names(group, plural, schema.GroupKind{Group: s.Group, Kind: s.Kind}) {
					continue
				}
				names := matchesAny("object.metadata.name", rule.ResourceNames)
				if names == "" {
					return false
				}
				s.MatchConditions = append(s.MatchConditions, v1alpha1.MatchCondition{
					Name:       unused("not-excluded", s.MatchConditions),
					Expression: "!(" + names + ")",
				})
			}
		}
	}
	return true
}
