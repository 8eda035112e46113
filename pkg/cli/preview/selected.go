// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// maxExpression is how long an expression may be that a row shows. Of a longer one, it shows the name.
const maxExpression = 60

// selected says in short by what a selector chooses its objects. The kind stands in the row.
func selected(set *v1alpha1.ResourcePolicySet, number int) string {
	if number < 0 || number >= len(set.ResourceSelectors) {
		return ""
	}
	s := &set.ResourceSelectors[number]
	var parts []string
	if s.MinAgeSeconds != nil {
		parts = append(parts, "older than "+duration.HumanDuration(time.Duration(*s.MinAgeSeconds)*time.Second))
	}
	for _, l := range s.LabelFilters {
		parts = append(parts, label(l))
	}
	if s.Finding != nil {
		parts = append(parts, "finding "+string(s.Finding.Type))
	}
	for _, c := range s.MatchConditions {
		text := terminal.OneLine(strings.Join(strings.Fields(c.Expression), " "))
		if len(text) > maxExpression {
			text = "condition " + c.Name
		}
		parts = append(parts, text)
	}
	if s.Evaluate != "" {
		parts = append(parts, "the script evaluate")
	}
	if set.AggregatedSelection != "" {
		parts = append(parts, "the script aggregatedSelection")
	}
	if len(parts) == 0 {
		return "every " + s.Kind + where(s)
	}
	return terminal.Shortened(parts, maxReasons) + where(s)
}

// maxReasons is how many filters of a selector a row names.
const maxReasons = 4

// label is a filter by a label, as kubectl writes it.
func label(l v1alpha1.LabelFilter) string {
	switch l.Operation {
	case v1alpha1.OperationHas:
		return "label " + l.Key
	case v1alpha1.OperationDoesNotHave:
		return "label !" + l.Key
	case v1alpha1.OperationDifferent:
		return "label " + l.Key + "!=" + ptr.Deref(l.Value, "")
	}
	return "label " + l.Key + "=" + ptr.Deref(l.Value, "")
}

// where are the namespaces of a selector, if it names some.
func where(s *v1alpha1.ResourceSelector) string {
	switch {
	case s.Namespace != "" && s.NamespaceSelector != "":
		return fmt.Sprintf(", in namespace %s, and in those with %s", s.Namespace, s.NamespaceSelector)
	case s.Namespace != "":
		return ", in namespace " + s.Namespace
	case s.NamespaceSelector != "":
		return ", in namespaces with " + s.NamespaceSelector
	}
	return ""
}
