// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// Source asks a cluster what Cleaners need: which resources its kinds are, and which kinds could name an object.
type Source struct {
	Reader *selector.Reader
	// Survey is how findings are looked for: Now, and the references that users declared.
	Survey survey.Options
}

// Of are the rights that a Cleaner needs to read and to act. With an error, they are not all.
func (s *Source) Of(ctx context.Context, cleaner *v1alpha1.Cleaner) ([]Right, error) {
	var all []Right
	var errs []error
	for i := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		c := collector{Source: s, cleaner: cleaner, spec: &cleaner.Spec.ResourcePolicySet.ResourceSelectors[i], number: i}
		if err := c.collect(ctx); err != nil {
			errs = append(errs, fmt.Errorf("cleaner %s: resourceSelectors[%d]: %w", cleaner.Name, i, err))
		}
		all = append(all, c.rights...)
	}
	found, err := s.findings(ctx, cleaner)
	return Least(append(append(all, found...), channels(cleaner)...)), errors.Join(append(errs, err)...)
}

// findings are the lists of what could name the objects of selectors with a finding.
func (s *Source) findings(ctx context.Context, cleaner *v1alpha1.Cleaner) ([]Right, error) {
	if !cleaner.HasFindings() {
		return nil, nil
	}
	if s.Survey.Schemas == nil {
		s.Survey.Schemas = &survey.Schemas{}
	}
	if s.Survey.Catalog == nil {
		catalog, err := s.Reader.Catalog(ctx)
		if err != nil {
			return nil, err
		}
		s.Survey.Catalog = &catalog
	}
	needs, err := survey.Needed(ctx, s.Reader, cleaner, s.Survey)
	if err != nil {
		return nil, fmt.Errorf("cleaner %s: %w", cleaner.Name, err)
	}
	var all []Right
	for _, need := range needs {
		spec := cleaner.Spec.ResourcePolicySet.ResourceSelectors[need.Selector]
		why := "what finding " + string(spec.Finding.Type) + " looks at"
		if need.Definitions {
			why = "finding " + string(spec.Finding.Type) + ", to know which custom resources could name an object"
		}
		all = append(all, Right{
			Verb:      "list",
			Group:     need.Kind.Group,
			Resource:  need.Kind.Resource,
			Namespace: need.Namespace,
			Why:       whyOf(cleaner, need.Selector, why),
		})
	}
	return all, nil
}

// channels are the Secrets of the notifications, which are read as the account.
func channels(cleaner *v1alpha1.Cleaner) (all []Right) {
	for _, notification := range cleaner.Spec.Notifications {
		if ref := notification.NotificationRef; ref != nil && notification.Type.NeedsSecret() {
			why := fmt.Sprintf("Cleaner %s, notification %s: settings of the channel", cleaner.Name, notification.Name)
			all = append(all, Right{Verb: "get", Resource: "secrets", Namespace: ref.Namespace, Name: ref.Name, Why: why})
		}
	}
	return all
}

func whyOf(cleaner *v1alpha1.Cleaner, number int, why string) string {
	return fmt.Sprintf("Cleaner %s, resourceSelectors[%d]: %s", cleaner.Name, number, why)
}

// collector collects what one selector needs.
type collector struct {
	*Source
	cleaner *v1alpha1.Cleaner
	spec    *v1alpha1.ResourceSelector
	number  int
	rights  []Right
}

func (c *collector) add(verb string, kind object.Kind, subresource string, places []string, optional bool, why string) {
	for _, namespace := range places {
		c.rights = append(c.rights, Right{
			Verb:      verb,
			Group:     kind.Group,
			Resource:  kind.Resource + subresource,
			Namespace: namespace,
			Why:       whyOf(c.cleaner, c.number, why),
			Optional:  optional,
		})
	}
}

func (c *collector) collect(ctx context.Context) error {
	kind, err := c.Reader.Resolve(
		ctx,
		schema.GroupVersionKind{Group: c.spec.Group, Version: c.spec.Version, Kind: c.spec.Kind},
	)
	if err != nil {
		return err
	}
	places, err := placesOf(c.spec, kind.Namespaced)
	if err != nil {
		return err
	}
	c.add("list", kind, "", places, false, "select "+kind.Kind)
	if c.spec.NamespaceSelector != "" {
		c.add("list", core("namespaces"), "", []string{""}, false, "namespaceSelector")
	}
	c.inputs(kind, places)
	return c.acts(ctx, kind, places)
}

// inputs are what the selector looks at besides objects.
func (c *collector) inputs(kind object.Kind, places []string) {
	if c.spec.WantsEvents() {
		in := places
		if !kind.Namespaced { // their Events are there
			in = []string{metav1.NamespaceDefault}
		}
		c.add("list", core("events"), "", in, false, "includeEvents")
	}
	if c.spec.LogSource != nil {
		c.add("get", core("pods"), "/log", places, false, "logSource")
		c.add("get", core("pods"), "", places, true, "logSource, to know whether a Pod without a log still exists")
	}
	if c.spec.WantsMetrics() && c.spec.MetricSource != nil && c.spec.MetricSource.SecretRef != nil {
		ref := c.spec.MetricSource.SecretRef
		c.rights = append(c.rights, Right{
			Verb:      "get",
			Resource:  "secrets",
			Namespace: ref.Namespace,
			Name:      ref.Name,
			Why:       whyOf(c.cleaner, c.number, "metricSource.secretRef"),
		})
	}
}

// acts are the verbs of the action.
func (c *collector) acts(ctx context.Context, kind object.Kind, places []string) error {
	action, options := c.cleaner.EffectiveAction(), c.cleaner.Spec.DeleteOptions
	const again = "judge an object again that changed, or finish an interrupted run"
	switch action {
	case v1alpha1.ActionTransform:
		c.add("patch", kind, "", places, false, "action Transform")
		c.add("get", kind, "", places, true, again)
		return nil
	case v1alpha1.ActionDelete:
	default:
		return nil
	}
	if kind.Group == "" && kind.Kind == "Pod" && options != nil && options.PodDeletion == v1alpha1.PodDeletionEvict {
		c.add("create", kind, "/eviction", places, false, "action Delete with podDeletion Evict")
	} else {
		c.add("delete", kind, "", places, false, "action Delete")
	}
	c.add("get", kind, "", places, true, again)
	if guard.IsNamespace(kind.Group, kind.Kind) {
		content, err := c.Reader.NamespaceContent(ctx)
		for _, held := range content {
			c.add("list", held, "", []string{""}, false, "find protected objects in a Namespace that would be deleted")
		}
		return err
	}
	return c.dependents(ctx, kind, places)
}

// dependents are the kinds in which a Delete looks for protected objects that would be deleted with their owners.
func (c *collector) dependents(ctx context.Context, kind object.Kind, places []string) error {
	for _, gvk := range guard.Dependents(kind.GroupKind(), c.cleaner.Spec.DeleteOptions) {
		dependent, err := c.Reader.Resolve(ctx, gvk)
		if unknown := (*selector.UnknownKindError)(nil); errors.As(err, &unknown) {
			continue
		}
		if err != nil {
			return err
		}
		few := kind.Kind == "Pod" // of which only those with ephemeral volumes own something
		c.add(
			"list",
			dependent,
			"",
			places,
			few,
			"find protected objects that would be deleted with "+terminal.WithArticle(kind.Kind),
		)
		if dependent.Kind != "PersistentVolumeClaim" { // which owns nothing
			c.add("get", dependent, "", places, true, "find out who owns a protected object")
		}
	}
	return nil
}

// placesOf are the namespaces in which a selector looks; the empty one is the whole cluster. A namespaceSelector by the
// names of namespaces looks in these; any other may select every namespace, also one that does not exist yet.
func placesOf(spec *v1alpha1.ResourceSelector, namespaced bool) ([]string, error) {
	everywhere := []string{""}
	if !namespaced || spec.Namespace == "" && spec.NamespaceSelector == "" {
		return everywhere, nil
	}
	var places []string
	if spec.Namespace != "" {
		places = append(places, spec.Namespace)
	}
	if spec.NamespaceSelector != "" {
		parsed, err := labels.Parse(spec.NamespaceSelector)
		if err != nil {
			return nil, fmt.Errorf("namespaceSelector: %w", err)
		}
		names := namesIn(parsed)
		if names == nil {
			return everywhere, nil
		}
		places = append(places, names...)
	}
	slices.Sort(places)
	return slices.Compact(places), nil
}

// namesIn are the names to which a selector limits namespaces. Nil when it does not.
func namesIn(parsed labels.Selector) []string {
	requirements, _ := parsed.Requirements()
	for _, r := range requirements {
		if r.Key() == "kubernetes.io/metadata.name" &&
			slices.Contains([]selection.Operator{selection.In, selection.Equals, selection.DoubleEquals}, r.Operator()) {
			return r.Values().List()
		}
	}
	return nil
}

// core is a kind of the core group, as far as rights know it.
func core(resource string) object.Kind { return object.Kind{Resource: resource} }
