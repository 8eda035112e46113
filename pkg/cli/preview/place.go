// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

var (
	// scriptFault is `evaluate: line 2: attempt to ...`, and conditionFault is `condition "old": line 1, column 8: no such key ...`.
	scriptFault    = regexp.MustCompile(`^(evaluate|aggregatedSelection|transform): line (\d+)`)
	conditionFault = regexp.MustCompile(`^condition "([^"]*)": line (\d+), column (\d+)`)
)

// placeOf is the file and line of what failed on an object: " at cleaner.yaml:14". It is empty where that is not known.
func (j *job) placeOf(cleaner *v1alpha1.Cleaner, item *run.PreviewItem) string {
	d := j.documents[cleaner]
	field, line, column := faultyField(cleaner, item)
	if d == nil || field == "" {
		return ""
	}
	_, node := d.Find(field)
	if node == nil {
		return ""
	}
	at, _ := d.Within(node, line, column)
	return fmt.Sprintf(" at %s:%d", d.File, at)
}

// faultyField is the field whose text failed on an object, and where in that text.
func faultyField(cleaner *v1alpha1.Cleaner, item *run.PreviewItem) (field string, line, column int) {
	selectors := cleaner.Spec.ResourcePolicySet.ResourceSelectors
	selector := fmt.Sprintf("spec.resourcePolicySet.resourceSelectors[%d]", item.Selector)
	if found := scriptFault.FindStringSubmatch(item.Detail); found != nil {
		line, _ = strconv.Atoi(found[2])
		return map[string]string{
			"evaluate": selector + ".evaluate", "aggregatedSelection": "spec.resourcePolicySet.aggregatedSelection", "transform": "spec.transform",
		}[found[1]], line, 0
	}
	found := conditionFault.FindStringSubmatch(item.Detail)
	if found == nil || item.Selector >= len(selectors) {
		return "", 0, 0
	}
	line, _ = strconv.Atoi(found[2])
	column, _ = strconv.Atoi(found[3])
	for i, condition := range selectors[item.Selector].MatchConditions {
		if condition.Name == found[1] {
			return fmt.Sprintf("%s.matchConditions[%d].expression", selector, i), line, column
		}
	}
	return "", 0, 0
}
