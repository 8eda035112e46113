// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestWorthALook: what a person changed, what is looked at again from time to time, and not what the operator wrote.
func TestWorthALook(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*v1alpha1.Cleaner)
		want   bool
	}{
		"nothing, after --sync-period": {func(*v1alpha1.Cleaner) {}, true},
		"its spec":                     {func(c *v1alpha1.Cleaner) { c.ResourceVersion, c.Generation = "2", 2 }, true},
		"an annotation": {func(c *v1alpha1.Cleaner) {
			c.ResourceVersion, c.Annotations = "2", map[string]string{v1alpha1.RunRequestedAtAnnotation: "now"}
		}, true},
		"another of its name": {func(c *v1alpha1.Cleaner) { c.ResourceVersion, c.UID = "2", "u" }, true},
		"its status":          {func(c *v1alpha1.Cleaner) { c.ResourceVersion, c.Status.Schedule = "2", "x" }, false},
	} {
		before := &v1alpha1.Cleaner{}
		before.ResourceVersion, before.Generation = "1", 1
		after := before.DeepCopy()
		test.change(after)
		if got := worthALook().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
	if one := (&v1alpha1.Cleaner{}); !worthALook().Create(event.CreateEvent{Object: one}) ||
		!worthALook().Delete(event.DeleteEvent{Object: one}) {
		t.Error("one that comes or goes is not looked at")
	}
}
