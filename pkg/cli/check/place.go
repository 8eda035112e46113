// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
)

var (
	// selectorFault is `resourceSelectors[1]: ...`, scriptFault `evaluate: line 2: ...`, or without a line where the
	// whole script is wrong, and conditionFault `condition "old": line 1, column 8: ...`.
	selectorFault  = regexp.MustCompile(`^resourceSelectors\[(\d+)\]: (?:matchConditions: )?`)
	scriptFault    = regexp.MustCompile(`^(evaluate|aggregatedSelection|transform): (?:line (\d+))?`)
	conditionFault = regexp.MustCompile(`^condition "([^"]*)": line (\d+), column (\d+)`)
)

// PlaceOf is the file and line of what failed on an object of a selector: cleaner.yaml:14. The fault is what was said
// of it, in which the line is that of the script or expression alone. It is empty where the place is not known.
func PlaceOf(d *manifest.Document, cleaner *v1alpha1.Cleaner, selector int, fault string) string {
	if found := selectorFault.FindStringSubmatch(fault); found != nil {
		selector, _ = strconv.Atoi(found[1])
		fault = fault[len(found[0]):]
	}
	field, line, column := faultyField(cleaner, selector, fault)
	if d == nil || field == "" {
		return ""
	}
	_, node := d.Find(field)
	if node == nil {
		return ""
	}
	at, _ := d.Within(node, line, column)
	return fmt.Sprintf("%s:%d", d.File, at)
}

// faultyField is the field whose text failed, and where in that text.
func faultyField(cleaner *v1alpha1.Cleaner, selector int, fault string) (field string, line, column int) {
	of := fmt.Sprintf("%s[%d]", selectorsField, selector)
	if found := scriptFault.FindStringSubmatch(fault); found != nil {
		line, _ = strconv.Atoi(found[2])
		return map[string]string{
			"evaluate": of + ".evaluate", "aggregatedSelection": "spec.resourcePolicySet.aggregatedSelection",
			"transform": "spec.transform",
		}[found[1]], line, 0
	}
	selectors := cleaner.Spec.ResourcePolicySet.ResourceSelectors
	found := conditionFault.FindStringSubmatch(fault)
	if found == nil || selector >= len(selectors) {
		return "", 0, 0
	}
	line, _ = strconv.Atoi(found[2])
	column, _ = strconv.Atoi(found[3])
	for i, condition := range selectors[selector].MatchConditions {
		if condition.Name == found[1] {
			return fmt.Sprintf("%s.matchConditions[%d].expression", of, i), line, column
		}
	}
	return "", 0, 0
}
