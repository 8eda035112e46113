// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"net/http"
	"strings"
)

// Call is a request as it arrives.
type Call struct {
	// Index counts all requests of the proxy, from 0.
	Index int
	// Verb is what RBAC calls the request: get, list, watch, create, update, patch, delete or deletecollection.
	Verb string
	// Resource is the plural name. Empty for what is no resource, such as discovery, whose path is in Request.
	Resource, Subresource, Namespace, Name string
	// Nth counts the requests of the same verb and resource, from 0.
	Nth     int
	Request *http.Request
}

// Changes reports whether the request deletes or changes one object. A dry run does neither.
func (c *Call) Changes() bool {
	return c.Name != "" && !c.Request.URL.Query().Has("dryRun") &&
		(c.Verb == "delete" || c.Verb == "patch" || c.Verb == "update" || c.Subresource == "eviction")
}

// newCall reads from a request what it is about.
func newCall(r *http.Request) *Call {
	call := &Call{Request: r}
	parts := resourcePath(r.URL.Path)
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		call.Namespace, parts = parts[1], parts[2:]
	}
	for i, field := range []*string{&call.Resource, &call.Name, &call.Subresource} {
		if i < len(parts) {
			*field = parts[i]
		}
	}
	call.Verb = verb(r, call)
	return call
}

// resourcePath is what a path has behind the group and the version. Nil for what is no resource.
func resourcePath(path string) []string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		return parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		return parts[3:]
	}
	return nil
}

func verb(r *http.Request, call *Call) string {
	collection := call.Resource != "" && call.Name == ""
	switch r.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if collection {
			return "deletecollection"
		}
		return "delete"
	}
	switch watch := r.URL.Query().Get("watch"); {
	case watch == "true" || watch == "1":
		return "watch"
	case collection:
		return "list"
	}
	return "get"
}
