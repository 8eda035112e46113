// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package action carries out one verdict on one live object: it deletes or changes it. Each request carries the UID and
// resourceVersion that were judged, so that the API server itself refuses whatever changed since; then the live object is
// judged again.
package action

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// attempts is how often an object that keeps changing is judged anew before it is left alone.
	attempts = 3
	// requestTimeout bounds the work on one object. It starts anew for each request, and a cancelled run does not shorten
	// it: the object in hand is finished.
	requestTimeout = 30 * time.Second
)

// Again judges an object anew, as it is now. A verdict with Act false says why it is left alone.
type Again func(ctx context.Context, live object.Object) (object.Verdict, error)

// Change computes the merge patch for an object. A nil patch leaves it as it is.
type Change func(ctx context.Context, o object.Object) (patch map[string]any, err error)

// Actor deletes and changes objects through one REST client.
type Actor struct {
	client rest.Interface
}

// NewActor returns an Actor whose client needs no more than absolute paths, such as rest.UnversionedRESTClientFor makes.
func NewActor(client rest.Interface) *Actor { return &Actor{client: client} }

// Delete deletes the object of a verdict. An object that is gone already is a success.
func (a *Actor) Delete(ctx context.Context, verdict object.Verdict, options *v1alpha1.DeleteOptions, again Again) object.Outcome {
	return a.carryOut(ctx, verdict, again, func(ctx context.Context, o object.Object) (v1alpha1.OutcomeResult, string, error) {
		return a.delete(ctx, o, options)
	})
}

// Transform changes the object of a verdict by what change returns.
func (a *Actor) Transform(ctx context.Context, verdict object.Verdict, change Change, again Again) object.Outcome {
	return a.carryOut(ctx, verdict, again, func(ctx context.Context, o object.Object) (v1alpha1.OutcomeResult, string, error) {
		return a.transform(ctx, o, change)
	})
}

// attempt tries once, on the object as it was judged. An error is the API server's, or the script's.
type attempt func(ctx context.Context, o object.Object) (result v1alpha1.OutcomeResult, detail string, err error)

// carryOut tries, and after each conflict judges the live object before it tries again.
func (a *Actor) carryOut(ctx context.Context, verdict object.Verdict, again Again, try attempt) object.Outcome {
	for range attempts {
		result, detail, err := try(ctx, verdict.Object)
		switch {
		case err == nil:
			return object.Outcome{Verdict: verdict, Result: result, Detail: detail}
		case apierrors.IsNotFound(err):
			return object.Outcome{Verdict: verdict, Result: v1alpha1.OutcomeGone}
		case !apierrors.IsConflict(err):
			return failed(verdict, err)
		}
		next, outcome := a.judgeAgain(ctx, verdict, again)
		if outcome != nil {
			return *outcome
		}
		verdict = next
	}
	return object.Outcome{Verdict: verdict, Result: v1alpha1.OutcomeConflict, Detail: "it kept changing; the next run judges it again"}
}

// judgeAgain reads the live object. It returns the verdict to go on with, or the outcome if there is nothing to go on with.
func (a *Actor) judgeAgain(ctx context.Context, verdict object.Verdict, again Again) (object.Verdict, *object.Outcome) {
	request, cancel := inHand(ctx)
	defer cancel()
	body, err := a.do(request, a.client.Get().AbsPath(verdict.Path()))
	if apierrors.IsNotFound(err) {
		return verdict, &object.Outcome{Verdict: verdict, Result: v1alpha1.OutcomeGone}
	}
	if err != nil {
		return verdict, ref(failed(verdict, fmt.Errorf("reading it again after a conflict: %w", err)))
	}
	live, err := object.New(verdict.Kind, body)
	if err != nil {
		return verdict, ref(failed(verdict, err))
	}
	if live.UID != verdict.UID {
		return verdict, &object.Outcome{Verdict: verdict, Result: v1alpha1.OutcomeReplaced, Detail: "it was created again under the same name"}
	}
	next, err := again(request, live)
	if err != nil {
		return verdict, ref(failed(verdict, fmt.Errorf("judging it again after a conflict: %w", err)))
	}
	if !next.Act {
		return verdict, &object.Outcome{Verdict: next, Result: next.Skip, Detail: next.Reason}
	}
	return next, nil
}

func ref(o object.Outcome) *object.Outcome { return &o }

func failed(verdict object.Verdict, err error) object.Outcome {
	return object.Outcome{Verdict: verdict, Result: v1alpha1.OutcomeFailed, Detail: err.Error(), Err: err}
}

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
	request, cancel := inHand(ctx)
	defer cancel()
	answer, err := a.do(request, a.client.Delete().AbsPath(o.Path()).SetHeader("Content-Type", "application/json").Body(payload))
	if err != nil {
		return "", "", err
	}
	result, detail := deleted(o, answer)
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

func (a *Actor) transform(ctx context.Context, o object.Object, change Change) (v1alpha1.OutcomeResult, string, error) {
	patch, err := change(ctx, o)
	if err != nil {
		return "", "", err
	}
	if len(patch) == 0 {
		return v1alpha1.OutcomeUnchanged, "the script changed nothing", nil
	}
	payload, err := guarded(patch, o)
	if err != nil {
		return "", "", err
	}
	request, cancel := inHand(ctx)
	defer cancel()
	_, err = a.do(request, a.client.Patch(types.MergePatchType).AbsPath(o.Path()).Param("fieldManager", "kubecleaner").Body(payload))
	if err != nil {
		return "", "", err
	}
	return v1alpha1.OutcomeTransformed, "", nil
}

// guarded puts the judged resourceVersion into a patch: the server answers 409 when the object has any other.
func guarded(patch map[string]any, o object.Object) ([]byte, error) {
	metadata := map[string]any{"resourceVersion": o.ResourceVersion}
	if changed, ok := patch["metadata"].(map[string]any); ok {
		for key, value := range changed {
			if _, guard := metadata[key]; !guard {
				metadata[key] = value
			}
		}
	}
	whole := map[string]any{"metadata": metadata}
	for key, value := range patch {
		if key != "metadata" {
			whole[key] = value
		}
	}
	return json.Marshal(whole)
}

func (a *Actor) do(ctx context.Context, request *rest.Request) ([]byte, error) {
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

// inHand is the context of a request that a cancelled run lets finish.
func inHand(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
}
