// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

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

func encoded(value any) (io.Reader, error) {
	body, err := json.Marshal(value)
	return bytes.NewReader(body), err
}
