// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

func (a *Actor) delete(
	ctx context.Context,
	o object.Object,
	options *v1alpha1.DeleteOptions,
) (v1alpha1.OutcomeResult, string, error) {
	if o.Deleting && !asksForMore(o, options) {
		return v1alpha1.OutcomeTerminating, already(o), nil
	}
	request, err := a.deletion(o, options, nil)
	if err != nil {
		return "", "", err
	}
	answer, code, err := a.send(ctx, request)
	switch {
	case isUnclear(err):
		return a.observe(ctx, o, code, err)
	case err != nil:
		return "", "", err
	case provesDeletion(answer, code, o):
		return v1alpha1.OutcomeDeleted, "", nil
	}
	holder, err := holderOf(answer, o)
	if holder != "" {
		return v1alpha1.OutcomeTerminating, holder, nil
	}
	return a.observe(ctx, o, code, err)
}

// holderOf is what holds the object, if the answer is the object as it ends. An answer that is neither the object nor a
// success is errForeign.
func holderOf(answer []byte, o object.Object) (string, error) {
	ending, err := object.New(o.Kind, answer)
	switch isIt := err == nil && ending.UID == o.UID; {
	case isIt && ending.Deleting:
		return held(ending), nil
	case !isIt && !isSuccess(answer):
		return "", errForeign
	}
	return "", nil
}

// deletion is the request that deletes an object as it was judged, or evicts a Pod. dryRun is empty, or All: it stands
// in the body, because the API server looks at no parameters of the path when there is a body.
func (a *Actor) deletion(o object.Object, options *v1alpha1.DeleteOptions, dryRun []string) (*rest.Request, error) {
	body := metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions: &metav1.Preconditions{UID: &o.UID, ResourceVersion: &o.ResourceVersion},
		DryRun:        dryRun,
	}
	request, payload := a.client.Delete().AbsPath(o.Path()), any(&body)
	if options != nil {
		body.GracePeriodSeconds = options.GracePeriodSeconds
		body.PropagationPolicy = options.PropagationPolicy
		if options.PodDeletion == v1alpha1.PodDeletionEvict && o.Kind.Group == "" && o.Kind.Kind == "Pod" {
			request, payload = a.client.Post().AbsPath(o.Path(), "eviction"), &policyv1.Eviction{
				TypeMeta:      metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"},
				ObjectMeta:    metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name},
				DeleteOptions: &body,
			}
		}
	}
	encoded, err := json.Marshal(payload)
	return request.SetHeader("Content-Type", "application/json").Body(encoded), err
}

// asksForMore reports whether a delete can still change how an object ends that is being deleted already: less time, or
// another way to deal with what depends on it. Without that, one DELETE is enough.
func asksForMore(o object.Object, options *v1alpha1.DeleteOptions) bool {
	switch {
	case options == nil:
		return false
	case options.PropagationPolicy != nil:
		return true
	case options.GracePeriodSeconds == nil:
		return false
	}
	metadata, err := apiserver.Metadata(o)
	return err != nil || metadata.DeletionGracePeriodSeconds == nil ||
		*options.GracePeriodSeconds < *metadata.DeletionGracePeriodSeconds
}

// isSuccess reports whether the answer is an API server's word that it did what it was asked.
func isSuccess(answer []byte) bool {
	var status metav1.Status
	return json.Unmarshal(answer, &status) == nil && status.Kind == "Status" && status.Status == metav1.StatusSuccess
}

// provesDeletion reports whether the server's answer says that just this object is gone: most kinds are answered with a
// Status that has its UID. Any other answer, such as the object as it was, is looked into.
func provesDeletion(answer []byte, code int, o object.Object) bool {
	var status metav1.Status
	return code == http.StatusOK && isSuccess(answer) && json.Unmarshal(answer, &status) == nil &&
		status.Details != nil && status.Details.UID == o.UID
}

// observe finds out by a live read what became of an object that was to be deleted. lost is why the answer was lost, if
// it was.
func (a *Actor) observe(
	ctx context.Context,
	o object.Object,
	code int,
	lost error,
) (v1alpha1.OutcomeResult, string, error) {
	live, err := a.Live(ctx, o)
	switch {
	case isKindGone(err):
		return "", "", err
	case err != nil && lost != nil:
		return "", "", fmt.Errorf("it is not known whether it was deleted: %w", errors.Join(lost, err))
	case err != nil:
		return v1alpha1.OutcomeTerminating, fmt.Sprintf(
			"the API server accepted the delete; whether the object is gone could not be read: %v",
			err,
		), nil
	case live == nil || live.UID != o.UID:
		return v1alpha1.OutcomeDeleted, "", nil
	case live.Deleting:
		return v1alpha1.OutcomeTerminating, Ending(*live), nil
	case lost != nil:
		return "", "", a.undone(lost)
	case code == http.StatusAccepted:
		return v1alpha1.OutcomeTerminating, "the API server accepted the delete request, but has not started to delete the object", nil
	}
	return "", "", errors.New(
		"the API server answered that it deleted the object, but the object is still there, and not being deleted",
	)
}
