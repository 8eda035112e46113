// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cluster is a cluster without any release. The test's end empties it again.
func cluster(t *testing.T) client.Client {
	t.Helper()
	admin := operatorNamespace(t)
	t.Cleanup(func() {
		for _, release := range []string{"k8s-cleaner", "kubecleaner"} {
			_ = helm4{}.uninstall(release) // one of them is there
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		must(t, admin.DeleteAllOf(ctx, &corev1.Secret{}, client.InNamespace(namespace)))
		must(t, wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			crds := listed(definitions)
			if err := admin.List(ctx, crds); err != nil {
				return false, err
			}
			for _, crd := range crds.Items {
				if err := client.IgnoreNotFound(admin.Delete(ctx, &crd)); err != nil {
					return false, err
				}
			}
			return len(crds.Items) == 0, nil
		}))
	})
	return admin
}

func listed(kind schema.GroupVersionKind) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	return list
}

// created creates an object of a kind that is perhaps not served yet.
func created(t *testing.T, admin client.Client, text string) {
	t.Helper()
	o := &unstructured.Unstructured{Object: values(t, text)}
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := admin.Create(ctx, o.DeepCopy())
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	}))
}

// cleaner creates one as k8s-cleaner has them.
func cleaner(t *testing.T, admin client.Client) {
	t.Helper()
	text, err := os.ReadFile("../integration/testdata/cleaner_v023.yaml")
	must(t, err)
	created(t, admin, string(text))
}

// kept returns the UIDs of all objects of a kind.
func kept(t *testing.T, admin client.Client, kind schema.GroupVersionKind) map[string]types.UID {
	t.Helper()
	list, uids := listed(kind), map[string]types.UID{}
	must(t, admin.List(t.Context(), list))
	for _, o := range list.Items {
		if o.GetDeletionTimestamp() == nil {
			uids[o.GetName()] = o.GetUID()
		}
	}
	return uids
}

func same(t *testing.T, what string, before, after map[string]types.UID) {
	t.Helper()
	if len(before) == 0 {
		t.Fatalf("there was nothing to keep of: %s", what)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("%s (-before +after):\n%s", what, diff)
	}
}

// ours fails unless the CustomResourceDefinition of Cleaners is that of the chart, and stays on uninstall.
func ours(t *testing.T, admin client.Client) {
	t.Helper()
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(definitions)
	must(t, admin.Get(t.Context(), client.ObjectKey{Name: "cleaners.apps.projectsveltos.io"}, crd))
	if crd.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
		t.Error("an uninstall would delete the CustomResourceDefinition of Cleaners")
	}
	want := built(t, "../../config/crd")["CustomResourceDefinition /cleaners.apps.projectsveltos.io"]
	if diff := cmp.Diff(versionsOf(t, want), versionsOf(t, crd)); diff != "" {
		t.Errorf("the CustomResourceDefinition of Cleaners (-config +cluster):\n%s", diff)
	}
}

// versionsOf returns the versions of a CustomResourceDefinition with their schemas, as JSON has them: all numbers of one type.
func versionsOf(t *testing.T, crd *unstructured.Unstructured) any {
	t.Helper()
	versions, found, err := unstructured.NestedFieldNoCopy(crd.Object, "spec", "versions")
	if err != nil || !found {
		t.Fatalf("%s has no versions: %v", crd.GetName(), err)
	}
	text, err := json.Marshal(versions)
	must(t, err)
	var out any
	must(t, json.Unmarshal(text, &out))
	return out
}

// deployments are the names of those in the operator's namespace.
func deployments(t *testing.T, admin client.Client) []string {
	t.Helper()
	uids := kept(t, admin, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	return slices.Sorted(maps.Keys(uids))
}
