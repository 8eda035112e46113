// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersionPath is the URL path of a group-version, where the API server lists the kinds that it serves.
func GroupVersionPath(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + segment(gv.Version)
	}
	return "/apis/" + segment(gv.Group) + "/" + segment(gv.Version)
}

// Path is the URL path of the kind's collection, in one namespace or, with an empty one, in the whole cluster. With a
// name it is the path of that object.
func (k Kind) Path(namespace, name string) string {
	p := GroupVersionPath(k.GroupVersion())
	if namespace != "" {
		p += "/namespaces/" + segment(namespace)
	}
	p += "/" + segment(k.Resource)
	if name != "" {
		p += "/" + segment(name)
	}
	return p
}

// segment is one part of a path. What is not exactly one part, such as "../../nodes/n/proxy", is escaped, so that the
// path leads nowhere else, and apiserver.CheckPath refuses it: no valid part contains a "%".
func segment(text string) string {
	if text != "." && text != ".." && !strings.ContainsAny(text, "/%") {
		return text
	}
	return strings.ReplaceAll(url.PathEscape(text), ".", "%2E")
}
