// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the API for users: Cleaner, CleanerRun, CleanerApproval and Report of
// apps.projectsveltos.io/v1alpha1.
// Cleaner and Report keep every field of k8s-cleaner v0.23.0 that this version supports, with the same name and type.
//
// +kubebuilder:object:generate=true
// +groupName=apps.projectsveltos.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the group and version of every kind in this package.
	GroupVersion = schema.GroupVersion{Group: "apps.projectsveltos.io", Version: "v1alpha1"}

	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers the kinds of this package with a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&Cleaner{}, &CleanerList{},
		&CleanerRun{}, &CleanerRunList{},
		&CleanerApproval{}, &CleanerApprovalList{},
		&Report{}, &ReportList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
