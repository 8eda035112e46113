// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"fmt"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
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
// path leads nowhere else, and CheckPath refuses it: no valid part contains a "%".
func segment(text string) string {
	if len(content.IsPathSegmentName(text)) == 0 {
		return text
	}
	return strings.ReplaceAll(url.PathEscape(text), ".", "%2E")
}

// CheckPath refuses a path with a part that is not exactly one, before a request is sent there. The error is that of an
// API server which refuses a request, so nobody sends the request again.
func CheckPath(requested string) error {
	for part := range strings.SplitSeq(strings.TrimPrefix(requested, "/"), "/") {
		text, err := url.PathUnescape(part)
		if err != nil {
			text = part
		}
		if err := CheckSegment(text); err != nil {
			return apierrors.NewBadRequest("nothing was sent to the API server: " + err.Error())
		}
	}
	return nil
}

// CheckSchemaURI refuses the URI of a document that does not hold the schemas of the group-version. The server that has
// the group says where they are, and the API server repeats that.
func CheckSchemaURI(gv schema.GroupVersion, uri string) error {
	parsed, err := url.Parse(uri)
	if err == nil && parsed.Scheme == "" && parsed.Host == "" &&
		parsed.EscapedPath() == "/openapi/v3"+GroupVersionPath(gv) {
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf(
		"nothing was sent to the API server: it says that the schemas of %s are at %q, where no schemas are", gv, uri,
	))
}

// CheckSegment says why a text of a user's cannot be the name of an object, a namespace, a kind, a group or a version.
func CheckSegment(text string) error {
	if problems := content.IsPathSegmentName(text); len(problems) > 0 {
		return fmt.Errorf("%q is not a name: it %s", text, strings.Join(problems, ", and it "))
	}
	return nil
}
