// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

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
