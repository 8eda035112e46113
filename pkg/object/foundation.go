// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

import "k8s.io/apimachinery/pkg/runtime/schema"

const (
	registration = "admissionregistration.k8s.io"
	guardsAPI    = "it guards the cluster's API"
)

// foundations are kinds without which a cluster's API, or all data behind it, is gone.
var foundations = map[schema.GroupKind]string{
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: "deleting it deletes every object of its kind",
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:             "it serves a part of the cluster's API",
	{Group: registration, Kind: "ValidatingWebhookConfiguration"}:     guardsAPI,
	{Group: registration, Kind: "MutatingWebhookConfiguration"}:       guardsAPI,
	{Group: registration, Kind: "ValidatingAdmissionPolicy"}:          guardsAPI,
	{Group: registration, Kind: "ValidatingAdmissionPolicyBinding"}:   guardsAPI,
	{Group: registration, Kind: "MutatingAdmissionPolicy"}:            guardsAPI,
	{Group: registration, Kind: "MutatingAdmissionPolicyBinding"}:     guardsAPI,
}

// Foundation says why no Cleaner may touch objects of a kind, whatever they are. Empty for all others.
func Foundation(kind schema.GroupKind) string { return foundations[kind] }
