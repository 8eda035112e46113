// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

// IsInMetadataOnly reports whether a field at the root of an object is there also when only the metadata was asked of
// the API server (as PartialObjectMetadata). That one's own kind and apiVersion are not shown: an Object knows the true
// ones.
func IsInMetadataOnly(field string) bool {
	return field == "metadata" || field == "kind" || field == "apiVersion"
}
