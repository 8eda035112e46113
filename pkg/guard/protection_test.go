// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// What was restored is protected, and the reason is the command that ends it.
func TestRestoredIsProtected(t *testing.T) {
	const from = "it was restored from the run with UID 4711; to let Cleaners touch it again: "
	kind := func(group, resource string) object.Kind {
		return object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: group, Version: "v1", Kind: "X"}, Resource: resource}
	}
	tests := map[string]struct {
		object object.Object
		mark   string
		want   string
	}{
		"in a namespace": {object.Object{Kind: kind("", "configmaps"), Namespace: "shop", Name: "a"}, "4711", from + "kubectl annotate configmaps a -n shop apps.projectsveltos.io/restored-from-"},
		"of a group":     {object.Object{Kind: kind("storage.k8s.io", "storageclasses"), Name: "slow"}, "4711", from + "kubectl annotate storageclasses.storage.k8s.io slow apps.projectsveltos.io/restored-from-"},
		"not marked":     {object.Object{Kind: kind("", "configmaps"), Namespace: "shop", Name: "a"}, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.object.Raw = []byte(`{"metadata":{"name":"a","annotations":{"apps.projectsveltos.io/restored-from":"` + test.mark + `"}}}`)
			got, err := Protection{}.Reason(v1alpha1.ActionDelete, test.object, nil)
			if err != nil || got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// On OpenShift a Project is its Namespace.
func TestProjectOfAProtectedNamespace(t *testing.T) {
	t.Parallel()
	protection := Protection{Namespaces: []string{"projectsveltos", "kube-system"}}
	for name, test := range map[string]struct{ group, kind, object, want string }{
		"a Namespace":            {"", "Namespace", "kube-system", "namespace kube-system is protected (--protected-namespaces)"},
		"a Project":              {"project.openshift.io", "Project", "kube-system", "namespace kube-system is protected (--protected-namespaces)"},
		"another Project":        {"project.openshift.io", "Project", "shop", ""},
		"another group's kind":   {"example.com", "Project", "kube-system", ""},
		"something of that name": {"", "PersistentVolume", "kube-system", ""},
	} {
		t.Run(name, func(t *testing.T) {
			kind := object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: test.group, Version: "v1", Kind: test.kind}}
			got, err := protection.Reason(v1alpha1.ActionDelete, object.Object{Kind: kind, Name: test.object, Raw: []byte(`{"metadata":{"name":"` + test.object + `"}}`)}, nil)
			if err != nil || got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// TestAnnotationProtects unless it says false: who writes anything else means to protect.
func TestAnnotationProtects(t *testing.T) {
	kind := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Resource: "configmaps", Namespaced: true}
	for value, want := range map[string]string{
		`"true"`:  `annotated cleaner/protect: "true"`,
		`"TRUE"`:  `annotated cleaner/protect: "TRUE"`,
		`""`:      `annotated cleaner/protect: ""`,
		`"false"`: "",
	} {
		raw := `{"metadata":{"namespace":"shop","name":"a","uid":"1","resourceVersion":"1","annotations":{"cleaner/protect":` + value + `}}}`
		o, err := object.New(kind, []byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Protection{}.Own(v1alpha1.ActionDelete, o)
		if err != nil || strings.TrimPrefix(got, "it is ") != want {
			t.Errorf("an object with %s: %q, %v; want %q", value, got, err, want)
		}
		if stays := (&Cascade{}).Stays(o); (stays != "") != (want != "") {
			t.Errorf("an object with %s that another would take along: %q", value, stays)
		}
		metadata, err := apiserver.Metadata(o)
		if err != nil {
			t.Fatal(err)
		}
		if got := InNamespace("shop", &metadata); strings.TrimPrefix(got, "namespace shop is ") != want {
			t.Errorf("a namespace with %s: %q, want %q", value, got, want)
		}
	}
}
