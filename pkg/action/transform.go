// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func (a *Actor) transform(
	ctx context.Context,
	o object.Object,
	patch object.JSON,
) (v1alpha1.OutcomeResult, string, error) {
	if len(patch) == 0 {
		return v1alpha1.OutcomeUnchanged, "there is nothing to change", nil
	}
	payload, err := object.AtVersion(patch, o.ResourceVersion)
	if err != nil {
		return "", "", err
	}
	unknown := &unknownFields{}
	answer, _, err := a.send(ctx, a.patching(o, payload).WarningHandlerWithContext(unknown))
	after, unread := object.New(o.Kind, answer)
	if err == nil && (unread != nil || after.UID != o.UID) {
		err = errForeign
	}
	if isUnclear(err) {
		return a.afterUnclear(ctx, o, patch, err)
	}
	if err != nil {
		return "", "", err
	}
	if after.ResourceVersion == o.ResourceVersion {
		return v1alpha1.OutcomeUnchanged, cmp.Or(unknown.words(), "the API server kept it as it was"), nil
	}
	return v1alpha1.OutcomeTransformed, notKept(after, patch), nil
}

// patching is the request that sends a merge patch. Unless configured otherwise, the API server answers with warnings
// about fields that the kind does not have.
func (a *Actor) patching(o object.Object, payload object.JSON) *rest.Request {
	return a.client.Patch(types.MergePatchType).
		AbsPath(o.Path()).
		Param("fieldManager", fieldManager).
		Body([]byte(payload))
}

// notKept says what of a patch the API server did not keep. Empty when that is nothing.
func notKept(after object.Object, patch object.JSON) string {
	if fields := unkept(after, patch); fields != "" {
		return "the API server stored other values than those sent, in: " + fields
	}
	return ""
}

// unkept names what the API server answered otherwise than a patch set it: the status of a kind that writes it by
// itself, a field that its schema does not know, or one that it writes in another way. Empty when that is nothing.
func unkept(after object.Object, patch object.JSON) string {
	value, err := after.Value()
	if err != nil {
		return ""
	}
	wanted, err := object.DecodePatch(patch)
	if err != nil {
		return ""
	}
	if after.IsSecret() { // the API server moves it into data
		delete(wanted, "stringData")
	}
	return some(object.Unlike(value, wanted))
}

// some names the first fields, and says how many more there are.
func some(fields []string) string {
	text := strings.Join(fields[:min(len(fields), maxFields)], ", ")
	if more := len(fields) - maxFields; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// maxFields is how many fields a reason names.
const maxFields = 5

// afterUnclear finds out by a live read whether a change took place whose answer was lost.
func (a *Actor) afterUnclear(
	ctx context.Context,
	o object.Object,
	patch object.JSON,
	lost error,
) (v1alpha1.OutcomeResult, string, error) {
	live, err := a.Live(ctx, o)
	switch {
	case isKindGone(err):
		return "", "", err
	case err != nil:
		return "", "", fmt.Errorf("%s: %w", unknownChange, errors.Join(lost, err))
	case live == nil:
		return v1alpha1.OutcomeGone, "", nil
	case live.UID != o.UID:
		return v1alpha1.OutcomeReplaced, replaced, nil
	case live.ResourceVersion == o.ResourceVersion:
		return "", "", a.undone(lost)
	}
	if holds, err := object.Holds(*live, patch); err == nil && holds {
		return v1alpha1.OutcomeTransformed, "", nil
	}
	return "", "", fmt.Errorf("%s, because somebody else changed it too: %w", unknownChange, lost)
}

const unknownChange = "it is not known whether it was changed"
