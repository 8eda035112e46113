// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"cmp"
	"context"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// rehearsed is what the answer to a rehearsed change says of it, and the object after the change.
func rehearsed(
	planned stage.Outcome,
	patch, answer object.JSON,
	unknown *unknownFields,
) (stage.Outcome, *object.Object) {
	after, err := object.New(planned.Kind, answer)
	if len(patch) == 0 || err != nil || after.UID != planned.UID {
		return planned, nil
	}
	planned.Detail = unknown.words()
	if fields := unkept(after, patch); fields != "" && planned.Detail == "" {
		planned.Detail = "the API server would store other values than those sent, in: " + fields
	}
	if isSame(planned.Object, after) {
		planned.Result = v1alpha1.OutcomeUnchanged
		planned.Detail = cmp.Or(planned.Detail, "the API server would keep it as it is")
	}
	return planned, &after
}

// isSame reports whether two states of an object differ only in what each change changes.
func isSame(before, after object.Object) bool {
	was, errBefore := before.Value()
	is, errAfter := after.Value()
	for _, value := range []map[string]any{was, is} {
		if metadata, ok := value["metadata"].(map[string]any); ok {
			delete(metadata, "managedFields")
			delete(metadata, "resourceVersion")
			delete(metadata, "generation")
		}
	}
	return errBefore == nil && errAfter == nil && reflect.DeepEqual(was, is)
}

// knowsNo begins the detail of a change with fields that the API server drops.
const knowsNo = "the API server knows no field"

// IsOfSchema reports whether an answer holds for the same change of each object of the kind: the schema decides it.
func IsOfSchema(outcome stage.Outcome) bool { return strings.HasPrefix(outcome.Detail, knowsNo) }

// unknownFields collects from the warnings of an answer which fields the API server dropped.
type unknownFields struct{ paths []string }

var unknownField = regexp.MustCompile(`^unknown field "(.+)"$`)

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (u *unknownFields) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	found := unknownField.FindStringSubmatch(text)
	if found != nil && !slices.Contains(u.paths, found[1]) { // a busy server may be asked twice
		u.paths = append(u.paths, found[1])
	}
}

// words say which fields are dropped. Empty when there are none.
func (u *unknownFields) words() string {
	switch len(u.paths) {
	case 0:
		return ""
	case 1:
		return knowsNo + " " + u.paths[0] + " and drops it"
	}
	return knowsNo + "s " + some(u.paths) + " and drops them"
}
