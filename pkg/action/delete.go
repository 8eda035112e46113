// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func (a *Actor) delete(ctx context.Context, o object.Object, options *v1alpha1.DeleteOptions) (v1alpha1.OutcomeResult, string, error) {
	body := metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions: &metav1.Preconditions{UID: &o.UID, ResourceVersion: &o.ResourceVersion},
	}
	if options != nil {
		body.GracePeriodSeconds = options.GracePeriodSeconds
		body.PropagationPolicy = options.PropagationPolicy
	}
	payload, err := json.Marshal(body)
	if err != nil {
		return "", "", err
	}
	request, cancel := inHand(ctx, requestTimeout)
	defer cancel()
	answer, err := a.do(request, a.client.Delete().AbsPath(o.Path()).SetHeader("Content-Type", "application/json").Body(payload))
	if isUnclear(err) {
		return a.afterUnclear(ctx, o, err)
	}
	if err != nil {
		return "", "", err
	}
	result, detail := deleted(o, answer)
	return result, detail, nil
}

// isUnclear reports whether the server may have done what it was asked although it did not say so.
func isUnclear(err error) bool {
	var status apierrors.APIStatus
	return err != nil && (!errors.As(err, &status) || status.Status().Code >= http.StatusInternalServerError)
}

// afterUnclear finds out by a live read whether a delete took place whose answer was lost.
func (a *Actor) afterUnclear(ctx context.Context, o object.Object, lost error) (v1alpha1.OutcomeResult, string, error) {
	body, err := a.read(ctx, o)
	if isGone(err, o) {
		return v1alpha1.OutcomeDeleted, "", nil
	}
	if err != nil {
		return "", "", errors.Join(lost, err)
	}
	live, err := object.New(o.Kind, body)
	switch {
	case err != nil:
		return "", "", errors.Join(lost, err)
	case live.UID != o.UID:
		return v1alpha1.OutcomeDeleted, "", nil
	case !live.Deleting:
		return "", "", lost
	}
	result, detail := deleted(o, body)
	return result, detail, nil
}

// deleted reads from the server's answer to a delete whether the object is gone, or still there and ending.
func deleted(o object.Object, answer []byte) (v1alpha1.OutcomeResult, string) {
	live, err := object.New(o.Kind, answer)
	if err != nil || live.UID != o.UID || !live.Deleting {
		return v1alpha1.OutcomeDeleted, "" // a Status, or the object as it was
	}
	metadata, err := live.Metadata()
	switch {
	case err != nil:
		return v1alpha1.OutcomeTerminating, ""
	case len(metadata.Finalizers)+len(namespaceFinalizers(live)) > 0:
		finalizers := slices.Concat(metadata.Finalizers, namespaceFinalizers(live))
		return v1alpha1.OutcomeTerminating, "finalizers hold it: " + strings.Join(finalizers, ", ")
	case metadata.DeletionGracePeriodSeconds != nil && *metadata.DeletionGracePeriodSeconds > 0:
		return v1alpha1.OutcomeTerminating, fmt.Sprintf("it has %d s to end", *metadata.DeletionGracePeriodSeconds)
	}
	return v1alpha1.OutcomeDeleted, ""
}

// namespaceFinalizers are those in the spec of a Namespace, which no other kind has: until its content is gone.
func namespaceFinalizers(live object.Object) []string {
	var namespace corev1.Namespace
	if live.Kind.Group != "" || live.Kind.Kind != "Namespace" || json.Unmarshal(live.Raw, &namespace) != nil {
		return nil
	}
	names := make([]string, 0, len(namespace.Spec.Finalizers))
	for _, name := range namespace.Spec.Finalizers {
		names = append(names, string(name))
	}
	return names
}
