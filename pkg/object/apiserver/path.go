// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"crypto/sha512"
	"fmt"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

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

// SchemaPath is where the document with the schemas of a group-version is. It refuses a URI that leads anywhere else:
// the server that has the group says where they are, and the API server repeats that. The path is without the URI's
// hash: a list of documents may be a second behind them, and the URI of an old document is answered with a redirect.
func SchemaPath(gv schema.GroupVersion, uri string) (path string, err error) {
	path = "/openapi/v3" + object.GroupVersionPath(gv)
	parsed, err := url.Parse(uri)
	if err == nil && parsed.Scheme == "" && parsed.Host == "" && parsed.EscapedPath() == path {
		return path, nil
	}
	return "", apierrors.NewBadRequest(fmt.Sprintf(
		"nothing was sent to the API server: it says that the schemas of %s are at %q, where no schemas are", gv, uri,
	))
}

// IsHashOf reports whether the URI of a document names this very content: its hash parameter is the SHA-512 of the
// content, as kube-openapi's handler3 writes it. Other content must not be kept under the URI: a schema can come back.
func IsHashOf(uri string, content []byte) bool {
	parsed, err := url.Parse(uri)
	return err == nil && parsed.Query().Get("hash") == fmt.Sprintf("%X", sha512.Sum512(content))
}

// CheckSegment says why a text of a user's cannot be the name of an object, a namespace, a kind, a group or a version.
func CheckSegment(text string) error {
	if problems := content.IsPathSegmentName(text); len(problems) > 0 {
		return fmt.Errorf("%q is not a name: it %s", text, strings.Join(problems, ", and it "))
	}
	return nil
}
