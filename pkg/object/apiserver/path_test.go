// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"path"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Whatever a user writes as a name, a namespace, a group, a version or a kind, no request goes anywhere but to that object.
func TestPathLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"..", ".", "../../../nodes/n/proxy/pods", "x/../../../../nodes", "a/pods/b/proxy/c", "/", "//", "a/", "/a", "%2e%2e", "..%2f..", "a%2Fb", "%",
	} {
		paths, plain := pathsWith(text), pathsWith("x")
		for what, p := range paths {
			if path.Clean(p) != p || strings.Count(p, "/") != strings.Count(plain[what], "/") {
				t.Errorf("the %s %q leads to %s", what, text, p)
			}
			err := CheckPath(p)
			if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "nothing was sent to the API server: ") {
				t.Errorf("the %s %q, whose path is %s: %v", what, text, p, err)
			}
		}
		if CheckSegment(text) == nil {
			t.Errorf("%q is taken for a name", text)
		}
	}
	for _, p := range []string{
		configMaps().Path("a", "b"), configMaps().Path("a", "b") + "/log", "/apis", "/readyz",
		object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1"}, Resource: "clusterroles"}.Path("", "system:node-proxier"),
		configMaps().Path("a", "what?#is this"),
	} {
		if err := CheckPath(p); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	if err := CheckSegment("../x"); err == nil || err.Error() != `"../x" is not a name: it may not contain '/'` {
		t.Errorf("the error is %v", err)
	}
}

func configMaps() object.Kind {
	return object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Resource: "configmaps", Namespaced: true}
}

// pathsWith are paths with the text in each place.
func pathsWith(text string) map[string]string {
	return map[string]string{
		"group":     object.GroupVersionPath(schema.GroupVersion{Group: text, Version: "v1"}),
		"version":   object.GroupVersionPath(schema.GroupVersion{Version: text}),
		"resource":  object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1"}, Resource: text}.Path("", ""),
		"namespace": configMaps().Path(text, "b"),
		"name":      configMaps().Path("a", text),
	}
}

// A server behind an APIService says itself where its schemas are. They are where Kubernetes has them, or nowhere.
func TestSchemasAreNowhereElse(t *testing.T) {
	t.Parallel()
	app, core := schema.GroupVersion{Group: "example.com", Version: "v1"}, schema.GroupVersion{Version: "v1"}
	for uri, gv := range map[string]schema.GroupVersion{
		"/openapi/v3/apis/example.com/v1?hash=A": app, "/openapi/v3/apis/example.com/v1": app, "/openapi/v3/api/v1?hash=A": core,
	} {
		if path, err := SchemaPath(gv, uri); err != nil || path != strings.TrimSuffix(uri, "?hash=A") {
			t.Errorf("%s: %s, %v", uri, path, err)
		}
	}
	for _, uri := range []string{
		"/api/v1/nodes/n/proxy/pods", "/openapi/v3/apis/example.com/v1/../../../../../api/v1/nodes/n/proxy/pods", "/openapi/v3/apis/example.com/v2",
		"/openapi/v3/apis/example.com%2Fv1", "/openapi/v3/apis/example.com/v1/", "openapi/v3/apis/example.com/v1", "//evil.example.com/openapi/v3/apis/example.com/v1",
		"https://evil.example.com/openapi/v3/apis/example.com/v1", "/openapi/v3", "", "%",
	} {
		if path, err := SchemaPath(app, uri); path != "" || !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "nothing was sent to the API server: ") {
			t.Errorf("%q: %v", uri, err)
		}
	}
}

func TestIsHashOf(t *testing.T) {
	t.Parallel()
	const empty = "CF83E1357EEFB8BDF1542850D66D8007D620E4050B5715DC83F4A921D36CE9CE47D0D13C5D85F2B0FF8318D2877EEC2F63B931BD47417A81A538327AF927DA3E"
	for uri, want := range map[string]bool{
		"/openapi/v3/api/v1?hash=" + empty: true, "/openapi/v3/api/v1?hash=A": false, "/openapi/v3/api/v1": false, "%": false, "": false,
	} {
		if IsHashOf(uri, nil) != want {
			t.Errorf("%q is taken for the hash of nothing: %t", uri, !want)
		}
	}
}
