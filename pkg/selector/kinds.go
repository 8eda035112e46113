// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// UnknownKindError says that the cluster does not serve what a selector names. It is for the user to correct: nothing
// is listed, and nothing reads as empty.
type UnknownKindError struct {
	GVK schema.GroupVersionKind
	// Problem is the rest of the sentence, with the way out.
	Problem string
	// ClusterScoped says that the cluster has the kind, and the selector names namespaces: only an edit helps.
	ClusterScoped bool
}

func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("kind %s of %s %s", e.GVK.Kind, e.GVK.GroupVersion(), e.Problem)
}

// resolvedFor is how long a kind that was found is taken to be there: many Cleaners are due at the same moment and ask
// for the same kinds. One that went away meanwhile is noticed when it is listed; one that was not found is asked for
// anew.
const resolvedFor = 5 * time.Second

type resolution struct {
	kind object.Kind
	at   time.Time
}

// Resolve asks the kind's own group-version, and no other, what the kind's resource is. An UnknownKindError means that
// the API server answered that there is no such kind; any other error, that it could not be asked.
func (r *Reader) Resolve(ctx context.Context, gvk schema.GroupVersionKind) (object.Kind, error) {
	r.mu.Lock()
	known, ok := r.resolved[gvk]
	r.mu.Unlock()
	if ok && r.clock.Since(known.at) < resolvedFor {
		return known.kind, nil
	}
	now := r.clock.Now()
	kind, err := r.resolve(ctx, gvk)
	r.mu.Lock()
	defer r.mu.Unlock()
	if delete(r.resolved, gvk); err == nil {
		r.resolved[gvk] = resolution{kind, now}
	}
	return kind, err
}

// forget drops a kind whose objects the server does not find, so that it is asked for anew.
func (r *Reader) forget(err error, gvk schema.GroupVersionKind) {
	if apierrors.IsNotFound(err) {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.resolved, gvk)
	}
}

func (r *Reader) resolve(ctx context.Context, gvk schema.GroupVersionKind) (object.Kind, error) {
	kind := object.Kind{GroupVersionKind: gvk}
	served, err := r.served(ctx, gvk.GroupVersion())
	if apierrors.IsNotFound(err) {
		return object.Kind{}, &UnknownKindError{GVK: gvk, Problem: r.explainGroupVersion(ctx, gvk)}
	}
	if err != nil {
		return object.Kind{}, fmt.Errorf("asking what %s serves: %w", gvk.GroupVersion(), err)
	}
	for _, resource := range served {
		if resource.Kind != gvk.Kind || strings.Contains(resource.Name, "/") {
			continue
		}
		if !slices.Contains(resource.Verbs, "list") {
			return object.Kind{}, &UnknownKindError{GVK: gvk, Problem: "cannot be listed, so a Cleaner cannot select it"}
		}
		kind.Resource, kind.Namespaced = resource.Name, resource.Namespaced
		return kind, nil
	}
	return object.Kind{}, &UnknownKindError{GVK: gvk, Problem: r.explainKind(ctx, gvk, served)}
}

// served asks what a group-version serves.
func (r *Reader) served(ctx context.Context, gv schema.GroupVersion) ([]metav1.APIResource, error) {
	body, err := r.get(ctx, object.GroupVersionPath(gv))
	if err != nil {
		return nil, err
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	if list.Kind != "APIResourceList" { // a proxy's own answer, in which nothing would be served
		return nil, fmt.Errorf("the answer is %q instead of an APIResourceList", list.Kind)
	}
	return list.APIResources, nil
}

// explainGroupVersion says what to write instead of a group-version that is not served.
func (r *Reader) explainGroupVersion(ctx context.Context, gvk schema.GroupVersionKind) string {
	if gvk.Group == "core" {
		return `is not served: the core group has no name; write group: ""`
	}
	groups, err := r.groups(ctx)
	if err != nil {
		return "is not served: the cluster has no such group and version"
	}
	names := make([]string, 0, len(groups))
	for _, group := range groups {
		if group.Name == gvk.Group {
			versions := make([]string, 0, len(group.Versions))
			for _, v := range group.Versions {
				versions = append(versions, v.Version)
			}
			return fmt.Sprintf(
				"is not served: the cluster serves group %q in version %s",
				gvk.Group,
				strings.Join(versions, ", "),
			)
		}
		names = append(names, group.Name)
	}
	if near := suggest.Nearest(gvk.Group, names); near != "" {
		return fmt.Sprintf("is not served: the cluster has no group %q; did you mean %q?", gvk.Group, near)
	}
	return fmt.Sprintf("is not served: the cluster has no group %q; is its CustomResourceDefinition installed?", gvk.Group)
}

// explainKind says what to write instead of a kind that its group-version does not have: the same kind of another
// group, or the nearest name in this one.
func (r *Reader) explainKind(ctx context.Context, gvk schema.GroupVersionKind, served []metav1.APIResource) string {
	kinds := make([]string, 0, len(served))
	for _, resource := range served {
		if strings.EqualFold(resource.Kind, gvk.Kind) || strings.EqualFold(resource.Name, gvk.Kind) {
			return fmt.Sprintf("is not served; did you mean %q?", resource.Kind)
		}
		kinds = append(kinds, resource.Kind)
	}
	if home := r.groupsServing(ctx, gvk.Kind); home != "" {
		return fmt.Sprintf("is not served; it is a kind of %s", home)
	}
	if near := suggest.Nearest(gvk.Kind, kinds); near != "" {
		return fmt.Sprintf("is not served; did you mean %q?", near)
	}
	return "is not served: that group and version has no such kind"
}

func (r *Reader) groups(ctx context.Context) ([]metav1.APIGroup, error) {
	body, err := r.get(ctx, "/apis")
	if err != nil {
		return nil, err
	}
	var list metav1.APIGroupList
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	if list.Kind != "APIGroupList" {
		return nil, fmt.Errorf("the answer is %q instead of an APIGroupList", list.Kind)
	}
	core := metav1.APIGroup{Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: "v1", Version: "v1"}}}
	core.PreferredVersion = core.Versions[0]
	return append([]metav1.APIGroup{core}, list.Groups...), nil
}

// groupsServing names the group-versions that have the kind. It serves a hint, so what cannot be read is left out.
func (r *Reader) groupsServing(ctx context.Context, kind string) string {
	r = r.hasty()
	groups, err := r.groups(ctx)
	if err != nil {
		return ""
	}
	var found []string
	for _, group := range groups {
		gv := schema.GroupVersion{Group: group.Name, Version: group.PreferredVersion.Version}
		served, err := r.served(ctx, gv)
		if err != nil {
			continue
		}
		if slices.ContainsFunc(served, func(a metav1.APIResource) bool {
			return a.Kind == kind && !strings.Contains(a.Name, "/")
		}) {
			found = append(found, gv.String())
		}
	}
	return strings.Join(found, " and of ")
}

// Published are the kinds' schemas as the cluster publishes them now. Those that are kept are not read again.
func (r *Reader) Published(kept *cel.Schemas) *cel.Published {
	return kept.At(r.client)
}
