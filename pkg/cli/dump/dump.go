// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dump lets manifests answer as a cluster would that holds them, so that --from needs no other way to judge.
package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Cluster is a set of manifests that answers as the API server of a cluster that holds them would: a Cleaner is judged
// on it by the very code that judges a cluster. It answers what reading needs, and refuses everything else.
type Cluster struct {
	served map[schema.GroupVersion]map[string]*servedKind // by kind
	// Notes are what a user should know about the manifests.
	Notes []string
	// ageless are how many objects of a kind do not say when they were created.
	ageless map[schema.GroupVersionKind]int
	// Partial is true when a kind of which there is no manifest may have objects all the same.
	Partial bool
	// lacks are the kinds that were asked for and of which, being partial, it does not show whether there are any.
	lacks map[schema.GroupVersionKind]object.Kind
	asked sync.Mutex
	// schemas are those of CustomResourceDefinitions.
	schemas map[schema.GroupVersionKind]json.RawMessage
}

type servedKind struct {
	object.Kind
	objects []*entry
}

// Config is how a client reaches the dump.
func (d *Cluster) Config() *rest.Config {
	return &rest.Config{Host: "http://dump.invalid", Transport: d, QPS: -1}
}

// serve makes a kind known.
func (d *Cluster) serve(kind object.Kind) *servedKind {
	gv := kind.GroupVersion()
	if d.served[gv] == nil {
		d.served[gv] = map[string]*servedKind{}
	}
	if d.served[gv][kind.Kind] == nil {
		d.served[gv][kind.Kind] = &servedKind{Kind: kind}
	}
	return d.served[gv][kind.Kind]
}

// Expect makes ready for a Cleaner and returns what its user should know, and of which kinds that it selects the dump
// holds nothing: those count as empty. One of a built-in group that does not exist stays unknown, with the selector's
// own message.
func (d *Cluster) Expect(cleaner *v1alpha1.Cleaner) (notes []string, missing []object.Kind) {
	for i, selector := range cleaner.Spec.ResourcePolicySet.ResourceSelectors {
		field := fmt.Sprintf("resourceSelectors[%d]", i)
		gvk := schema.GroupVersionKind{Group: selector.Group, Version: selector.Version, Kind: selector.Kind}
		kind := d.kindOf(gvk, selector.Namespace != "" || selector.NamespaceSelector != "")
		switch {
		case kind == nil:
		case len(kind.objects) == 0:
			missing = append(missing, kind.Kind)
		case selector.MinAgeSeconds != nil && *selector.MinAgeSeconds > 0 && d.ageless[gvk] > 0:
			notes = append(
				notes,
				fmt.Sprintf(
					"%s: minAgeSeconds leaves %s out that %s no creationTimestamp",
					field,
					terminal.Counted(d.ageless[gvk], gvk.Kind),
					has(d.ageless[gvk]),
				),
			)
		}
		if selector.NamespaceSelector != "" && len(d.served[schema.GroupVersion{Version: "v1"}]["Namespace"].objects) == 0 {
			notes = append(
				notes,
				field+": the manifests hold no Namespace, so namespaceSelector selects none; add what kubectl get namespaces -o yaml prints",
			)
			missing = append(missing, d.served[schema.GroupVersion{Version: "v1"}]["Namespace"].Kind)
		}
	}
	slices.Sort(notes)
	return slices.Compact(notes), missing
}

// kindOf is a kind that a Cleaner names. One that is not known is served with no objects, unless its group is built in:
// then there is no such kind, and it is nil.
func (d *Cluster) kindOf(gvk schema.GroupVersionKind, namespaced bool) *servedKind {
	kind := d.served[gvk.GroupVersion()][gvk.Kind]
	if kind == nil && !builtInGroup(gvk.Group) && gvk.Group != "core" {
		return d.serve(guessedKind(gvk, namespaced))
	}
	return kind
}

func has(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

// RoundTrip implements http.RoundTripper.
func (d *Cluster) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	body, err := d.answer(r)
	status := http.StatusOK
	if err != nil {
		var failed apierrors.APIStatus
		if !errors.As(err, &failed) {
			return nil, err
		}
		answer := failed.Status()
		answer.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		status = int(answer.Code)
		if body, err = encoded(answer); err != nil {
			return nil, err
		}
	}
	return &http.Response{
		StatusCode:    status,
		Status:        http.StatusText(status),
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		ContentLength: -1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(body),
		Request:       r,
	}, nil
}

// answer finds what a path of the API names.
func (d *Cluster) answer(r *http.Request) (io.Reader, error) {
	switch notInManifests := notInManifests(r); {
	case notInManifests != nil:
		return nil, notInManifests
	case r.Method != http.MethodGet:
		return nil, apierrors.NewMethodNotSupported(schema.GroupResource{Resource: r.URL.Path}, r.Method)
	case r.URL.Path == "/version": // one for which lists are asked for in one piece
		return strings.NewReader(`{"major":"1","minor":"33"}`), nil
	case strings.Contains(r.Header.Get("Accept"), "as=APIGroupDiscoveryList"):
		return encoded(d.discovery(r.URL.Path))
	case r.URL.Path == "/apis":
		return encoded(d.groups())
	case r.URL.Path == "/openapi/v3" || strings.HasPrefix(r.URL.Path, "/openapi/v3/"):
		return d.openAPI(strings.Trim(strings.TrimPrefix(r.URL.Path, "/openapi/v3"), "/"))
	}
	return d.answerResource(r.URL)
}

// answerResource finds the resources of a group-version, or the objects of one of them.
func (d *Cluster) answerResource(of *url.URL) (io.Reader, error) {
	gv, parts := groupVersionOf(of.Path)
	kinds := d.served[gv]
	if kinds == nil {
		return nil, notFound(of.Path)
	}
	if len(parts) == 0 {
		return encoded(resources(gv, kinds))
	}
	namespace, resource, wanted := resourceOf(parts)
	for _, kind := range kinds {
		if kind.Resource == resource {
			return d.answerOf(kind, namespace, wanted, of.Query())
		}
	}
	return nil, notFound(of.Path)
}

// resourceOf is what the rest of a path means: a list, or the one object of it that is wanted.
func resourceOf(parts []string) (namespace, resource, wanted string) {
	switch {
	case parts[0] == "namespaces" && (len(parts) == 3 || len(parts) == 4):
		return parts[1], parts[2], strings.Join(parts[3:], "")
	case len(parts) <= 2:
		return "", parts[0], strings.Join(parts[1:], "")
	}
	return "", "", ""
}

// answerOf is the object of a kind that is wanted, or else the list of them.
func (d *Cluster) answerOf(kind *servedKind, namespace, wanted string, query url.Values) (io.Reader, error) {
	switch {
	case wanted != "":
		return kind.one(namespace, wanted)
	case d.Partial && len(kind.objects) == 0:
		d.asked.Lock()
		defer d.asked.Unlock()
		d.lacks[kind.GroupVersionKind] = kind.Kind
		return nil, notShown(anyOf + kind.Kind.Kind)
	}
	return kind.list(namespace, query)
}

// Lacks are the kinds that were asked for and of which it is not known whether there are any, in no order.
func (d *Cluster) Lacks() []object.Kind {
	d.asked.Lock()
	defer d.asked.Unlock()
	return slices.Collect(maps.Values(d.lacks))
}

// anyOf begins what is said of a kind of which there may be objects.
const anyOf = "whether there is any "

// IsLacking reports whether an error says only of which kinds it is not known whether there are any.
func IsLacking(err error) bool {
	switch e := err.(type) { //nolint:errorlint // it looks at all that is joined, which errors.As does not
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(err error) bool { return !IsLacking(err) })
	case *apierrors.StatusError:
		return strings.HasPrefix(e.ErrStatus.Message, notShown(anyOf).Error())
	}
	next := errors.Unwrap(err)
	return next != nil && IsLacking(next)
}

// groupVersionOf splits a path into its group-version and the rest.
func groupVersionOf(path string) (gv schema.GroupVersion, rest []string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 1:
		return schema.GroupVersion{Version: parts[1]}, parts[2:]
	case parts[0] == "apis" && len(parts) > 2:
		return schema.GroupVersion{Group: parts[1], Version: parts[2]}, parts[3:]
	}
	return schema.GroupVersion{}, parts
}

func notFound(path string) error {
	return apierrors.NewGenericServerResponse(
		http.StatusNotFound,
		http.MethodGet,
		schema.GroupResource{},
		"",
		"the manifests have no "+path,
		0,
		true,
	)
}

// notInManifests says that a request is for inputs of objects.
func notInManifests(r *http.Request) error {
	switch query := r.URL.Query(); {
	case query.Get("fieldSelector") != "" && strings.HasSuffix(r.URL.Path, "/events"):
		return notShown("which events there are; preview the Cleaner on a cluster")
	case query.Has("tailLines") && strings.HasSuffix(r.URL.Path, "/log"):
		return notShown("what the Pods' logs are; preview the Cleaner on a cluster")
	}
	return nil
}

// notShown says that an input is not known, which is not the same as that it is empty.
func notShown(what string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotImplemented,
		Reason:  metav1.StatusReasonUnknown,
		Message: "manifests do not show " + what,
	}}
}

// groups are all groups but the core one.
func (d *Cluster) groups() metav1.APIGroupList {
	byName := map[string]*metav1.APIGroup{}
	for _, gv := range sortedGroupVersions(d.served) {
		if gv.Group == "" {
			continue
		}
		version := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
		if byName[gv.Group] == nil {
			byName[gv.Group] = &metav1.APIGroup{Name: gv.Group, PreferredVersion: version}
		}
		byName[gv.Group].Versions = append(byName[gv.Group].Versions, version)
	}
	list := metav1.APIGroupList{Groups: []metav1.APIGroup{}}
	for _, group := range byName {
		list.Groups = append(list.Groups, *group)
	}
	slices.SortFunc(list.Groups, func(a, b metav1.APIGroup) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func resources(gv schema.GroupVersion, kinds map[string]*servedKind) metav1.APIResourceList {
	list := metav1.APIResourceList{GroupVersion: gv.String(), APIResources: []metav1.APIResource{}}
	for _, kind := range kinds {
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: kind.Resource, Kind: kind.Kind.Kind, Namespaced: kind.Namespaced, Verbs: metav1.Verbs{"get", "list", "delete"},
		})
	}
	slices.SortFunc(list.APIResources, func(a, b metav1.APIResource) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func encoded(value any) (io.Reader, error) {
	body, err := json.Marshal(value)
	return bytes.NewReader(body), err
}
