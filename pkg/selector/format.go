// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"io"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// What is accepted. Of several, the server sends the first that it can.
const (
	asJSON     = "application/json"
	asProtobuf = "application/vnd.kubernetes.protobuf"
	// asMetadata asks for no more of each object than its metadata. A server that cannot do that sends them whole.
	asMetadata = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

// messages are what can be read in protobuf: the metadata of all kinds, and the kinds of which clusters have the most
// objects.
var messages = sync.OnceValues(func() (map[schema.GroupVersionKind]*apiserver.Message, error) {
	all := map[schema.GroupVersionKind]*apiserver.Message{}
	for kind, typ := range map[schema.GroupVersionKind]any{
		{}:                                 metav1.PartialObjectMetadata{},
		{Version: "v1", Kind: "Pod"}:       corev1.Pod{},
		{Version: "v1", Kind: "ConfigMap"}: corev1.ConfigMap{},
	} {
		message, err := apiserver.MessageOf(typ)
		if err != nil {
			return nil, err
		}
		all[kind] = message
	}
	return all, nil
})

// format is in which form the objects are asked for, and who reads it.
func (q query) format() (
	accept string, scan func(io.Reader, func([]byte) error) (apiserver.ListMeta, error), err error,
) {
	kind, as := q.kind.GroupVersionKind, ""
	accept, scan = asJSON, apiserver.ScanList
	if q.metadataOnly {
		kind, as = schema.GroupVersionKind{}, asMetadata
		accept = asJSON + as + "," + asJSON
	}
	if !q.brief {
		return accept, scan, nil
	}
	all, err := messages()
	if message := all[kind]; message != nil {
		accept, scan = asProtobuf+as+","+accept, message.ScanList
	}
	return accept, scan, err
}
