// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// newServer is one whose ConfigMaps have a field that we do not know. Old is one that refuses protobuf.
type newServer struct {
	t       *testing.T
	old     bool
	accepts []string
}

const threeAsJSON = `{"metadata":{"resourceVersion":"7"},"items":[` +
	`{"metadata":{"name":"a","uid":"a","resourceVersion":"1"}},` +
	`{"metadata":{"name":"b","uid":"b","resourceVersion":"1"},"immutable":true,"later":{}}]}`

func (s *newServer) RoundTrip(r *http.Request) (*http.Response, error) {
	accept := r.Header.Get("Accept")
	s.accepts = append(s.accepts, accept)
	switch {
	case !strings.HasPrefix(accept, asProtobuf):
		return says(r, http.StatusOK, threeAsJSON), nil
	case s.old:
		return failure(r, http.StatusNotAcceptable, "NotAcceptable"), nil
	}
	immutable := true
	list := corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []corev1.ConfigMap{{}, {Immutable: &immutable}}}
	list.APIVersion, list.Kind = "v1", "ConfigMapList"
	for i, name := range []string{"a", "b"} {
		list.Items[i].ObjectMeta = metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: "1"}
	}
	var body bytes.Buffer
	if err := protobuf.NewSerializer(clientgoscheme.Scheme, clientgoscheme.Scheme).Encode(&list, &body); err != nil {
		s.t.Error(err)
	}
	// Field 4, immutable, becomes field 9.
	return says(r, http.StatusOK, strings.Replace(body.String(), "\x20\x01", "\x48\x01", 1)), nil
}

// What protobuf cannot tell us is read as JSON.
func TestWhatIsNotKnownInProtobufIsReadAsJSON(t *testing.T) {
	for _, server := range []*newServer{{t: t}, {t: t, old: true}} {
		var names []string
		ask := Ask{Kind: everything.kind, Brief: true}
		err := patient(t, server).Each(t.Context(), ask, func(o object.Object) error {
			names = append(names, o.Name)
			if o.Name == "b" && object.JSON(o.Raw).Field("later") == nil {
				t.Errorf("b came as %s", o.Raw)
			}
			return nil
		})
		want := []string{"a", "b"}
		if !server.old {
			want = []string{"a", "a", "b"} // it begins anew
		}
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("old %t: %v, %v, want %v", server.old, names, err, want)
		}
		accepted := server.accepts[len(server.accepts)-2:]
		if !slices.Equal(accepted, []string{asProtobuf + "," + asJSON, asJSON}) {
			t.Errorf("old %t: it was asked for %q", server.old, accepted)
		}
	}
}
