// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// hook is a webhook that can refuse requests, of either kind.
type hook struct {
	object, name string
	service      *admissionv1.ServiceReference
	rules        []admissionv1.RuleWithOperations
	// narrowed is true when it looks at some objects or namespaces only.
	narrowed bool
	// namespaces are those whose requests the API server asks it about. Nil for all.
	namespaces *metav1.LabelSelector
}

// request is what is sent to the API server.
type request struct {
	group, resource string
	operation       admissionv1.OperationType
	// words say who sends it, and for what.
	words string
	// labels are those of the namespace that it is sent to. Nil when there is none, or they are not known.
	labels labels.Set
}

// isLeftOut reports whether a selector of namespaces leaves out the one of the request.
func (r request) isLeftOut(namespaces *metav1.LabelSelector) bool {
	selector, err := metav1.LabelSelectorAsSelector(namespaces)
	return namespaces != nil && r.labels != nil && err == nil && !selector.Matches(r.labels)
}

// webhooks looks for webhooks that refuse what the operator does, because what they call does not answer.
func (p *patient) webhooks(ctx context.Context) (lines []Line, well string) {
	hooks, err := p.hooks(ctx)
	if err != nil {
		return []Line{unread("", "could not list the webhooks", err)}, ""
	}
	sent := p.requests(ctx)
	for i := range hooks {
		h := &hooks[i]
		refused := h.refused(sent)
		switch {
		case len(refused) == 0:
			continue
		case h.service == nil:
			lines = append(lines, h.elsewhere(refused))
			continue
		}
		why, err := p.dead(ctx, h.service)
		where := fmt.Sprintf("webhook %s calls Service %s/%s", h.name, h.service.Namespace, h.service.Name)
		switch {
		case err != nil:
			lines = append(lines, unread(h.object, where+", and whether that answers could not be read", err))
		case why != "":
			line := Line{
				Status:  Fail,
				Object:  h.object,
				Message: fmt.Sprintf("%s, which %s: %s is refused", where, why, terminal.Shortened(refused, maxNamed)),
			}
			if h.narrowed {
				line.Status, line.Message = Warn, strings.TrimSuffix(
					line.Message,
					"is refused",
				)+"may be refused, depending on labels and conditions"
			}
			line.WayOut = "fix the Service, or remove the webhook if nothing needs it any more"
			lines = append(lines, line)
		}
	}
	return lines, "no webhook refuses what the operator does because its Service is away"
}

// elsewhere says that the cluster does not show whether what the webhook calls answers.
func (h *hook) elsewhere(refused []string) Line {
	return Line{
		Status: Warn,
		Object: h.object,
		Message: fmt.Sprintf(
			"webhook %s calls an address outside the cluster: if that does not answer, this is refused: %s",
			h.name,
			terminal.Shortened(refused, maxNamed),
		),
		WayOut: "make sure that the address of the webhook answers the API server",
	}
}

// refused are the words of the requests that the webhook is asked about, each once.
func (h *hook) refused(sent []request) (words []string) {
	for _, r := range sent {
		if h.matches(r) && !slices.Contains(words, r.words) {
			words = append(words, r.words)
		}
	}
	return words
}

// hooks are all webhooks whose failure refuses a request.
func (p *patient) hooks(ctx context.Context) (hooks []hook, err error) {
	const path = "/apis/admissionregistration.k8s.io/v1/"
	isNarrow := func(selectors ...*metav1.LabelSelector) bool {
		return slices.ContainsFunc(
			selectors,
			func(s *metav1.LabelSelector) bool { return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0 },
		)
	}
	validating := func(c *admissionv1.ValidatingWebhookConfiguration) {
		for _, w := range c.Webhooks {
			if ptr.Deref(w.FailurePolicy, admissionv1.Fail) == admissionv1.Fail {
				narrow := isNarrow(w.NamespaceSelector, w.ObjectSelector) || len(w.MatchConditions) > 0
				hooks = append(
					hooks,
					hook{
						ref("ValidatingWebhookConfiguration", c.Name), w.Name,
						w.ClientConfig.Service, w.Rules, narrow, w.NamespaceSelector,
					},
				)
			}
		}
	}
	mutating := func(c *admissionv1.MutatingWebhookConfiguration) {
		for _, w := range c.Webhooks {
			if ptr.Deref(w.FailurePolicy, admissionv1.Fail) == admissionv1.Fail {
				narrow := isNarrow(w.NamespaceSelector, w.ObjectSelector) || len(w.MatchConditions) > 0
				hooks = append(
					hooks,
					hook{
						ref("MutatingWebhookConfiguration", c.Name), w.Name,
						w.ClientConfig.Service, w.Rules, narrow, w.NamespaceSelector,
					},
				)
			}
		}
	}
	if err := cluster.List[admissionv1.ValidatingWebhookConfigurationList](
		ctx,
		p.api,
		path+"validatingwebhookconfigurations",
		validating,
	); err != nil {
		return nil, err
	}
	return hooks, cluster.List[admissionv1.MutatingWebhookConfigurationList](
		ctx,
		p.api,
		path+"mutatingwebhookconfigurations",
		mutating,
	)
}

// requests are those that the operator sends: for its own work, and for what Cleaners delete and change.
func (p *patient) requests(ctx context.Context) []request {
	var sent []request
	known := map[string]labels.Set{}
	for _, right := range p.own() {
		operation, writes := map[string]admissionv1.OperationType{
			"create": admissionv1.Create, "delete": admissionv1.Delete,
			"update": admissionv1.Update, "patch": admissionv1.Update,
		}[right.Verb]
		if writes && !right.Optional {
			words := fmt.Sprintf("what the operator does for itself (%s %s)", strings.ToLower(string(operation)), right.Resource)
			of := p.labelsOf(ctx, right.Namespace, known)
			sent = append(sent, request{right.Group, right.Resource, operation, words, of})
		}
	}
	for i := range p.cleaners {
		c := &p.cleaners[i]
		operation := map[v1alpha1.Action]admissionv1.OperationType{
			v1alpha1.ActionDelete:    admissionv1.Delete,
			v1alpha1.ActionTransform: admissionv1.Update,
		}[c.EffectiveAction()]
		for _, spec := range c.Spec.ResourcePolicySet.ResourceSelectors {
			kind, err := p.reader.Resolve(
				ctx,
				schema.GroupVersionKind{Group: spec.Group, Version: spec.Version, Kind: spec.Kind},
			)
			if operation == "" || err != nil { // the check cleaners reports a kind that is not served
				continue
			}
			sent = append(
				sent,
				request{
					kind.Group,
					kind.Resource,
					operation,
					fmt.Sprintf("what Cleaner %s does (%s %s)", c.Name, strings.ToLower(string(operation)), kind.Resource),
					p.labelsOf(ctx, spec.Namespace, known),
				},
			)
		}
	}
	return sent
}

// labelsOf are the labels of a namespace. Nil for none, or where they cannot be read: then a selector may mean it.
func (p *patient) labelsOf(ctx context.Context, namespace string, known map[string]labels.Set) labels.Set {
	if namespace == "" {
		return nil
	}
	if of, asked := known[namespace]; asked {
		return of
	}
	var found metav1.PartialObjectMetadata
	if err := p.api.Read(ctx, "/api/v1/namespaces/"+namespace, &found); err == nil {
		known[namespace] = labels.Set(found.Labels)
	} else {
		known[namespace] = nil
	}
	return known[namespace]
}

// matches reports whether the webhook is asked about a request.
func (h *hook) matches(r request) bool {
	is := func(rule admissionv1.RuleWithOperations) bool { return r.isOf(&rule) }
	return !r.isLeftOut(h.namespaces) && slices.ContainsFunc(h.rules, is)
}

// isOf reports whether a rule is about the request.
func (r request) isOf(rule *admissionv1.RuleWithOperations) bool {
	isResource := slices.ContainsFunc(rule.Resources, func(named string) bool { return covers(named, r.resource) })
	has := func(all []string, one string) bool { return slices.Contains(all, "*") || slices.Contains(all, one) }
	isOperation := slices.Contains(rule.Operations, admissionv1.OperationAll) ||
		slices.Contains(rule.Operations, r.operation)
	return isResource && has(rule.APIGroups, r.group) && isOperation
}

// covers reports whether a resource that a rule names, such as pods, pods/* or *, includes the one of a request.
func covers(named, requested string) bool {
	resource, subresource, isSub := strings.Cut(requested, "/")
	switch name, sub, hasSub := strings.Cut(named, "/"); {
	case named == "*/*":
		return true
	case name != "*" && name != resource:
		return false
	case !isSub:
		return !hasSub
	default:
		return hasSub && (sub == "*" || sub == subresource)
	}
}

// dead says why a Service does not answer. It is empty when it may.
func (p *patient) dead(ctx context.Context, to *admissionv1.ServiceReference) (why string, err error) {
	var service corev1.Service
	err = p.api.Read(ctx, "/api/v1/namespaces/"+to.Namespace+"/services/"+to.Name, &service)
	switch {
	case apierrors.IsNotFound(err):
		return "does not exist", nil
	case err != nil:
		return "", err
	case service.Spec.Type == corev1.ServiceTypeExternalName || len(service.Spec.Selector) == 0:
		return "", nil // it is unknown
	}
	body, err := cluster.Send(
		ctx,
		p.api.Raw.Get().AbsPath("/apis/discovery.k8s.io/v1/namespaces/"+to.Namespace+"/endpointslices").
			Param("labelSelector", discoveryv1.LabelServiceName+"="+to.Name),
	)
	if err != nil {
		return "", err
	}
	return noEndpoints(body)
}
