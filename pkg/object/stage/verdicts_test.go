// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func verdict(i int) Verdict {
	v := Verdict{Act: true}
	v.Kind = object.Kind{Resource: fmt.Sprintf("kind-%d", i%3), Namespaced: i%2 == 0}
	v.Namespace, v.Name, v.UID = fmt.Sprintf("ns-%d", i%300), fmt.Sprintf("object-%d", i), types.UID(fmt.Sprintf("uid-%d", i))
	v.Selector = i % 200
	v.ResourceVersion = fmt.Sprint(1000 * i)
	if i%4 != 0 {
		v.Created = time.Unix(int64(1_700_000_000+i), 0).UTC()
	}
	v.Deleting = i%6 == 0
	switch i % 5 {
	case 0:
		v.Act, v.Skip, v.Reason = false, v1alpha1.OutcomeProtected, fmt.Sprintf("reason %d", i%7)
	case 1:
		v.Message = strings.Repeat("é", i%2000)
	case 2:
		v.Namespace, v.UID = "", ""
	}
	return v
}

// TestVerdicts: what is kept comes back as it was, also after a list began anew.
func TestVerdicts(t *testing.T) {
	var kept Verdicts
	var want []Verdict
	for i := range 1000 {
		kept.Add(verdict(i))
		want = append(want, verdict(i))
	}
	long := verdict(1)
	long.Message = strings.Repeat("x", 3*verdictChunk)
	kept.Add(long)
	want = append(want, long)
	check := func() {
		t.Helper()
		var got []Verdict
		for i, v := range kept.All() {
			if i != len(got) {
				t.Fatalf("the %d-th verdict says that it is the %d-th", len(got), i)
			}
			got = append(got, v)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || kept.Len() != len(want) {
			t.Fatalf("%d verdicts are kept, want %d\n%s", kept.Len(), len(want), diff)
		}
	}
	check()
	for _, n := range []int{1001, 1000, 620, 619, 1, 0} {
		kept.Truncate(n)
		want = want[:n]
		check()
	}
	size := 0
	for _, chunk := range kept.chunks {
		size += cap(chunk)
	}
	if words := len(kept.words) * wordSize; kept.Bytes() < size+words || kept.Bytes() > size+2*words {
		t.Errorf("%d bytes are counted; there are %d in chunks and %d words", kept.Bytes(), size, len(kept.words))
	}
	kept.Add(verdict(7))
	want = slices.Concat(want, []Verdict{verdict(7)})
	check()
}

// TestVerdictsWithBodies: the bytes come back too, and what they take is counted.
func TestVerdictsWithBodies(t *testing.T) {
	kept := Verdicts{Bodies: true}
	for i := range 100 {
		v := verdict(i)
		v.Raw = bytes.Repeat([]byte("x"), 1000+i)
		kept.Add(v)
	}
	before := kept.Bytes()
	kept.Truncate(90)
	if freed := before - kept.Bytes(); freed < 10*1000 {
		t.Errorf("ten objects gave back %d bytes", freed)
	}
	n := 0
	for i, v := range kept.All() {
		if n++; len(v.Raw) != 1000+i {
			t.Errorf("the %d-th object has %d bytes", i, len(v.Raw))
		}
	}
	if n != 90 {
		t.Errorf("%d verdicts are left, want 90", n)
	}
}
