// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bytes"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// TestAppendParts: a child gets of each object what its script reads, and all of its data, as if the object had no more.
func TestAppendParts(t *testing.T) {
	wholes := []string{`{"metadata":{"name":"a"},"status":{"phase":"x"}}`, `{"metadata":{"name":"b"}}`, `{"status":1,"spec":{},"data":null}`}
	parts := []string{`{"status":{"phase":"x"}}`, `{}`, `{"status":1}`}
	for _, data := range []object.JSON{nil, object.JSON(`{"events":[]}`)} {
		whole, want := newBatch(configMapKind), newBatch(configMapKind)
		whole.withData, want.withData = data != nil, data != nil
		for i := range wholes {
			whole.add(object.Object{Kind: configMapKind, Raw: []byte(wholes[i])}, data)
			want.add(object.Object{Kind: configMapKind, Raw: []byte(parts[i])}, data)
		}
		for from := range wholes {
			got := whole.appendParts([]byte("before"), object.Part{Narrow: true, Fields: []string{"status"}}, from, len(wholes))
			if expected := want.request(askJudge, 0, from, len(wholes))[1]; !bytes.Equal(got, append([]byte("before"), expected...)) {
				t.Errorf("from %d: got %q, want %q", from, got, expected)
			}
		}
	}
}
