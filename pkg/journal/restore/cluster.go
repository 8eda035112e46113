// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// requestTimeout bounds each request. Whoever stops a restore waits for those that are under way.
const requestTimeout = 30 * time.Second

// fieldManager is whose the restored fields are.
const fieldManager = "kubecleaner-restore"

// cluster is what the API server is asked for.
type cluster struct {
	client rest.Interface
	mu     *sync.Mutex
	served map[schema.GroupVersion][]metav1.APIResource
}

func newCluster(client rest.Interface) cluster {
	return cluster{client: client, mu: &sync.Mutex{}, served: map[schema.GroupVersion][]metav1.APIResource{}}
}

// send does a request, also when whoever asked for it stops meanwhile, and returns the answer or the server's own
// words.
func send(ctx context.Context, request *rest.Request) ([]byte, error) {
	if err := apiserver.CheckPath(request.URL().Path); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

// live reads an object as it is now. Nil when the API server says that there is none of the name.
func (c cluster) live(ctx context.Context, kind object.Kind, namespace, name string) (*object.Object, error) {
	body, err := send(ctx, c.client.Get().AbsPath(kind.Path(namespace, name)))
	if apiserver.IsAbsent(err, name) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o, err := object.New(kind, body)
	return &o, err
}

// isNamespaceMissing reports whether an object could not be created because its namespace is not there, or is ending.
func isNamespaceMissing(err error, namespace string) bool {
	details := detailsOf(err)
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) ||
		apierrors.IsNotFound(err) && details != nil && details.Kind == "namespaces" && details.Name == namespace
}

func detailsOf(err error) *metav1.StatusDetails {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return nil
	}
	return status.Status().Details
}

// resources are what a group-version serves.
func (c cluster) resources(ctx context.Context, gv schema.GroupVersion) ([]metav1.APIResource, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.served[gv]; ok {
		return known, nil
	}
	body, err := send(ctx, c.client.Get().AbsPath(object.GroupVersionPath(gv)))
	if err != nil {
		return nil, err
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	c.served[gv] = list.APIResources
	return list.APIResources, nil
}

// serves reports whether the API server says that it serves a kind. It asks anew until then: what it said before is
// forgotten.
func (c cluster) serves(ctx context.Context, kind object.Kind) (bool, error) {
	resources, err := c.resources(ctx, kind.GroupVersion())
	if apiserver.IsKindAbsent(err) {
		return false, nil
	}
	if err != nil || slices.ContainsFunc(resources, func(r metav1.APIResource) bool { return r.Name == kind.Resource }) {
		return err == nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.served, kind.GroupVersion())
	return false, nil
}

// hasStatus reports whether the kind's status is written by itself.
func (c cluster) hasStatus(ctx context.Context, kind object.Kind) (bool, error) {
	resources, err := c.resources(ctx, kind.GroupVersion())
	return slices.ContainsFunc(
		resources,
		func(r metav1.APIResource) bool { return r.Name == kind.Resource+"/status" },
	), err
}

// whyNotOwner says why a reference to an owner is not kept, or nothing: that very owner must be there and not be
// ending, or the garbage collector deletes what it owns.
func (c cluster) whyNotOwner(ctx context.Context, namespace string, owner metav1.OwnerReference) string {
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return err.Error()
	}
	resources, err := c.resources(ctx, gv)
	if err != nil {
		return "it cannot be looked for: " + err.Error()
	}
	i := slices.IndexFunc(
		resources,
		func(r metav1.APIResource) bool { return r.Kind == owner.Kind && !strings.Contains(r.Name, "/") },
	)
	if i < 0 {
		return fmt.Sprintf("%s has no such kind any more", owner.APIVersion)
	}
	kind := object.Kind{
		GroupVersionKind: gv.WithKind(owner.Kind),
		Resource:         resources[i].Name,
		Namespaced:       resources[i].Namespaced,
	}
	if !kind.Namespaced {
		namespace = ""
	}
	switch live, err := c.live(ctx, kind, namespace, owner.Name); {
	case err != nil:
		return "it cannot be looked for: " + err.Error()
	case live == nil:
		return "it is gone"
	case live.UID != owner.UID:
		return "it was created again, and is another one"
	case live.Deleting:
		return "it is being deleted"
	}
	return ""
}

// trial, as the dry run of a write, makes the server check it and save nothing.
func trial(request *rest.Request, dryRun bool) *rest.Request {
	if dryRun {
		request = request.Param("dryRun", metav1.DryRunAll)
	}
	return request.Param("fieldManager", fieldManager)
}

// write carries a step out, or tries it, and returns the object as it is then.
func (c cluster) write(ctx context.Context, item *Item, dryRun bool) ([]byte, error) {
	payload, err := json.Marshal(item.body)
	if err != nil {
		return nil, err
	}
	request := c.client.Post().AbsPath(item.Kind.Path(item.Namespace, ""))
	switch item.Step {
	case StepOverwrite:
		request = c.client.Put().AbsPath(item.Path())
	case StepPutBack:
		request = c.client.Patch(types.MergePatchType).AbsPath(item.Path())
	}
	if item.Step != StepPutBack {
		request = request.SetHeader("Content-Type", "application/json")
	}
	if !item.lossy &&
		item.Step != StepPutBack { // or the server would leave out, without a word, a field that the kind has lost since
		request = request.Param("fieldValidation", metav1.FieldValidationStrict)
	}
	answer, err := send(ctx, trial(request, dryRun).Body(payload))
	if dryRun && err == nil {
		item.tried = answer
	}
	return answer, err
}

// isLossy reports whether the server refused a write because the kind does not know a field of the copy.
func isLossy(err error) bool {
	return apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "strict decoding error")
}

// mayLose lets the object come back without the fields that its kind does not know, if the server refused it for these
// and the user wants that.
func (i *Item) mayLose(err error, options Options) bool {
	if !isLossy(err) || !options.Force || i.lossy {
		return false
	}
	i.lossy = true
	i.Notes = append(i.Notes, i.mask("it comes back without what its kind does not know any more: "+err.Error()))
	return true
}

// resend asks what the server would make of a live object if a patch were sent again. Nil when it would refuse.
func (c cluster) resend(ctx context.Context, item *Item) map[string]any {
	body, err := send(
		ctx,
		trial(c.client.Patch(types.MergePatchType).AbsPath(item.Path()), true).Body([]byte(item.copy.Patch)),
	)
	if err != nil {
		return nil
	}
	return decoded(item.Kind, body)
}

func decoded(kind object.Kind, body []byte) map[string]any {
	value, err := object.Object{Kind: kind, Raw: body}.Value()
	if err != nil {
		return nil
	}
	return value
}
