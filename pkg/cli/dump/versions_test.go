// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// An API server lists all objects of a kind in whatever version it is asked for, and so does a dump that has several.
func TestDumpListsObjectsOfAllVersions(t *testing.T) {
	d, err := dumpOf(t, "dump.yaml", `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, served: true}, {name: v1beta1, served: true}]
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: new, namespace: shop}}
---
{apiVersion: example.com/v1beta1, kind: Widget, metadata: {name: old, namespace: shop}}
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: both, namespace: shop, uid: u}}
---
{apiVersion: example.com/v1beta1, kind: Widget, metadata: {name: both, namespace: shop, uid: u}}
---
{apiVersion: batch/v1beta1, kind: CronJob, metadata: {name: nightly, namespace: shop}}
---
{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: shop}}
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		selector v1alpha1.ResourceSelector
		want     []string
	}{
		{v1alpha1.ResourceSelector{Group: "example.com", Version: "v1", Kind: "Widget"}, []string{"Widget shop/both", "Widget shop/new", "Widget shop/old"}},
		{v1alpha1.ResourceSelector{Group: "example.com", Version: "v1beta1", Kind: "Widget"}, []string{"Widget shop/both", "Widget shop/new", "Widget shop/old"}},
		{v1alpha1.ResourceSelector{Group: "batch", Version: "v1", Kind: "CronJob"}, []string{"CronJob shop/nightly"}},
		{v1alpha1.ResourceSelector{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}, []string{"HorizontalPodAutoscaler shop/web"}},
	} {
		names, err := found(t, d, test.selector)
		slices.Sort(names)
		if diff := cmp.Diff(test.want, names); diff != "" || err != nil {
			t.Errorf("%s %s: %s%v", test.selector.Kind, test.selector.Version, diff, err)
		}
	}
	if len(d.Notes) > 0 {
		t.Error(d.Notes)
	}
}
