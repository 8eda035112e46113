// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func TestDeletedWith(t *testing.T) {
	t.Parallel()
	kind := func(group, kind string) object.Kind {
		return object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}}
	}
	const (
		namespace  = "Everything in a Namespace is deleted with it. No copy of this is kept."
		job        = "The Pods of a Job stay, without an owner (deleteOptions.propagationPolicy: Background deletes them as well)."
		deployment = "What a Deployment owns is deleted with it (deleteOptions.propagationPolicy: Orphan keeps it). No copy of this is kept."
	)
	orphan := &v1alpha1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationOrphan)}
	background := &v1alpha1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}
	beta := kind("apps", "Deployment")
	beta.Version = "v1beta1"
	tests := map[string]struct {
		kinds   []object.Kind
		options *v1alpha1.DeleteOptions
		want    string
	}{
		"nothing":                 {nil, nil, ""},
		"ConfigMaps":              {[]object.Kind{kind("", "ConfigMap")}, nil, ""},
		"a Namespace":             {[]object.Kind{kind("", "Namespace")}, nil, namespace},
		"a Namespace, orphaning":  {[]object.Kind{kind("", "Namespace")}, orphan, namespace},
		"a Project":               {[]object.Kind{kind("project.openshift.io", "Project")}, nil, "Everything in a Project is deleted with it. No copy of this is kept."},
		"a claim, orphaning":      {[]object.Kind{kind("", "PersistentVolumeClaim")}, orphan, "The data of its volume is deleted with a PersistentVolumeClaim (persistentVolumeReclaimPolicy: Retain keeps it). No copy of this is kept."},
		"another group's":         {[]object.Kind{kind("example.com", "Namespace"), kind("example.com", "Deployment")}, nil, ""},
		"a Deployment":            {[]object.Kind{kind("apps", "Deployment"), kind("apps", "Deployment"), beta}, background, deployment},
		"a Deployment, orphaning": {[]object.Kind{kind("apps", "Deployment")}, orphan, ""},
		"both": {
			[]object.Kind{kind("", "Namespace"), kind("batch", "Job")},
			background,
			"Everything in a Namespace is deleted with it; what a Job owns is deleted with it (deleteOptions.propagationPolicy: Orphan keeps it). No copy of this is kept.",
		},
		"a Job":            {[]object.Kind{kind("batch", "Job")}, &v1alpha1.DeleteOptions{}, job},
		"a Job, orphaning": {[]object.Kind{kind("batch", "Job")}, orphan, ""},
		"a Job and others": {[]object.Kind{kind("batch", "Job"), kind("apps", "Deployment")}, nil, deployment + " " + job},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := DeletedWith(test.kinds, test.options); got != test.want {
				t.Fatalf("got %q, want %q", got, test.want)
			}
		})
	}
}
