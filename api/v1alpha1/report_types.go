// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/base64"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ResourceInfo is one object of a Report.
type ResourceInfo struct {
	// resource names the object: apiVersion, kind, namespace and name.
	// +optional
	Resource corev1.ObjectReference `json:"resource,omitempty"`

	// message is the script's message for the object. If the outcome is not simply that of the action, the message begins
	// with the outcome: "being deleted", "gone already", "found gone after the run was cut off", "waits for approval",
	// "not acted on" or, in a Scan, "protected".
	// +optional
	Message string `json:"message,omitempty"`

	// fullResource is a copy of the object as it was before the run touched it, as JSON, in base64: with rollback.storage
	// Report only, and never of a Secret. kubectl cleaner restore does not read it. It reads the copies in Secrets.
	// +optional
	FullResource []byte `json:"fullResource,omitempty"`
}

// ReportSpec is the result of a Cleaner's run.
type ReportSpec struct {
	// action is what the run did: Delete, Transform or Scan.
	// +required
	Action Action `json:"action"`

	// resourceInfo are the objects that the run deleted or changed or, for Scan, those that matched. It also has the
	// objects that the run left alone because it was stopped by a limit or could not read everything, and those of a plan
	// that waits for approval; their message says so. They are in the order in which they were found.
	// +optional
	// +listType=atomic
	ResourceInfo []ResourceInfo `json:"resourceInfo,omitempty"`

	// message is the run's message, if the run did not complete or only reported because of dryRun. It also says how many
	// objects are not in resourceInfo, and why. Absent when there is nothing to add.
	// +optional
	Message string `json:"message,omitempty"`
}

// Report is the result of a run of the Cleaner with the same name. A Cleaner with a notification of type CleanerReport
// writes it in every run or, if the notification has notifyOn, in the runs that notifyOn names. It is deleted with the
// Cleaner.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=reports,scope=Cluster,shortName=clrep,categories=kubecleaner
// +kubebuilder:metadata:annotations="argocd.argoproj.io/sync-options=Prune=false,Delete=false"
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/prune=disabled"
// +kubebuilder:printcolumn:name="Action",type=string,JSONPath=`.spec.action`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.spec.message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Report struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the result of the last run that was written into the Report.
	// +required
	Spec ReportSpec `json:"spec"`
}

// ReportList is a list of Reports.
// +kubebuilder:object:root=true
type ReportList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the Reports.
	Items []Report `json:"items"`
}

// entryOverhead is about how many bytes the keys of a listed object take in JSON.
const entryOverhead = 160

// Size is about how many bytes the entry takes in the stored object.
func (i *ResourceInfo) Size() int {
	r := i.Resource
	return entryOverhead + len(r.APIVersion) + len(r.Kind) + len(r.Namespace) + len(r.Name) + len(i.Message) +
		base64.StdEncoding.EncodedLen(len(i.FullResource))
}
