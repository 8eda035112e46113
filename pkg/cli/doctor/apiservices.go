// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// apiServices looks for groups of the API whose server does not answer: nobody knows what they serve.
func (p *patient) apiServices(ctx context.Context) (lines []Line, well string) {
	const path = "/apis/apiregistration.k8s.io/v1/apiservices"
	err := cluster.List[unstructured.UnstructuredList](ctx, p.api, path, func(service *unstructured.Unstructured) {
		if why := whyAway(service); why != "" {
			lines = append(lines, p.apiServiceLine(service, why))
		}
	})
	if err != nil {
		return []Line{unread("", "could not list the APIServices", err)}, ""
	}
	return lines, "every APIService is available"
}

// whyAway says why the server behind an APIService is not available. Empty when it is.
func whyAway(service *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(service.Object, "status", "conditions")
	for _, one := range conditions {
		condition, _ := one.(map[string]any)
		switch {
		case condition["type"] != "Available":
		case condition["status"] == "True":
			return ""
		default:
			return terminal.OneLine(fmt.Sprintf("%v: %v", condition["reason"], condition["message"]))
		}
	}
	return "it was never seen to be available"
}

// apiServiceLine says what follows for Cleaners.
func (p *patient) apiServiceLine(service *unstructured.Unstructured, why string) Line {
	group, _, _ := unstructured.NestedString(service.Object, "spec", "group")
	line := Line{
		Status:  Warn,
		Object:  ref("APIService", service.GetName()),
		Message: "it is not available (" + strings.TrimSuffix(why, ".") + ")",
		WayOut:  "fix the Service behind it, or delete the APIService if nothing needs it any more",
	}
	effects := []struct {
		words    string
		concerns func(*v1alpha1.Cleaner, *v1alpha1.ResourceSelector) bool
	}{
		{
			"Cleaners that select its objects touch nothing",
			func(_ *v1alpha1.Cleaner, s *v1alpha1.ResourceSelector) bool { return s.Group == group },
		},
		{
			"Cleaners with a finding report as Unknown what its objects may use",
			func(_ *v1alpha1.Cleaner, s *v1alpha1.ResourceSelector) bool {
				return asksForUsers(s) && !strings.HasSuffix(group, "metrics.k8s.io") // metrics name nothing
			},
		},
		{
			"Cleaners that delete Namespaces delete none, because it is not known what would be deleted with them",
			func(c *v1alpha1.Cleaner, s *v1alpha1.ResourceSelector) bool {
				return s.Group == "" && s.Kind == "Namespace" && c.EffectiveAction() == v1alpha1.ActionDelete
			},
		},
	}
	var found []string
	for _, effect := range effects {
		if names := p.namesOf(effect.concerns); len(names) > 0 {
			found = append(found, effect.words+": "+terminal.Shortened(names, maxNamed))
		}
	}
	if len(found) == 0 {
		line.Message += ": a scan cannot look at its objects, and a Namespace that is deleted stays Terminating"
		return line
	}
	line.Status = Fail
	line.Message += ": " + strings.Join(found, "; ")
	return line
}

// asksForUsers reports whether a selector has a finding that looks for what objects name.
func asksForUsers(s *v1alpha1.ResourceSelector) bool {
	return s.Finding != nil && slices.Contains([]v1alpha1.FindingType{
		v1alpha1.FindingUnused, v1alpha1.FindingDangling, v1alpha1.FindingCascading,
	}, s.Finding.Type)
}

// namesOf are the names of the Cleaners with a selector of which something is true.
func (p *patient) namesOf(is func(*v1alpha1.Cleaner, *v1alpha1.ResourceSelector) bool) (names []string) {
	for i := range p.cleaners {
		c := &p.cleaners[i]
		if slices.ContainsFunc(c.Spec.ResourcePolicySet.ResourceSelectors, func(s v1alpha1.ResourceSelector) bool {
			return is(c, &s)
		}) {
			names = append(names, c.Name)
		}
	}
	return names
}
