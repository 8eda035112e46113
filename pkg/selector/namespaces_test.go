// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// manyNamespacesServer answers a list of 10,000 namespaces in pages of 500, and each of them. Each has 2 KiB of annotations, and every
// third one is protected.
type manyNamespacesServer struct {
	accept []string
	// calls, if not nil, is called with each page.
	calls func(page int) *http.Response
	pages int
}

func namespaceText(i int) string {
	protected := ""
	if i%3 == 0 {
		protected = `,"` + v1alpha1.ProtectAnnotation + `":"true"`
	}
	return fmt.Sprintf(`{"metadata":{"name":"ns-%d","uid":"u-%d","resourceVersion":"1","labels":{"team":"t%d"},`+
		`"annotations":{"notes":%q%s},"managedFields":[{"manager":"m"}]},"spec":{"finalizers":["kubernetes"]}}`, i, i, i%7, strings.Repeat("x", 2<<10), protected)
}

func (s *manyNamespacesServer) RoundTrip(r *http.Request) (*http.Response, error) {
	const all, size = 10_000, 500
	if name, one := strings.CutPrefix(r.URL.Path, "/api/v1/namespaces/ns-"); one {
		i, err := strconv.Atoi(name)
		return says(r, http.StatusOK, namespaceText(i)), err
	}
	if r.URL.Path != "/api/v1/namespaces" {
		return failure(r, http.StatusNotFound, "NotFound"), nil
	}
	s.accept = append(s.accept, r.Header.Get("Accept"))
	s.pages++
	if s.calls != nil {
		if answer := s.calls(s.pages); answer != nil {
			answer.Request = r
			return answer, nil
		}
	}
	begin, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	var text strings.Builder
	next := ""
	if begin+size < all {
		next = fmt.Sprintf(`,"continue":"%d"`, begin+size)
	}
	fmt.Fprintf(&text, `{"metadata":{"resourceVersion":"7"%s},"items":[`, next)
	for i := begin; i < begin+size; i++ {
		if i > begin {
			text.WriteByte(',')
		}
		text.WriteString(namespaceText(i))
	}
	return says(r, http.StatusOK, text.String()+"]}"), nil
}

var sixNames = []string{"ns-0", "ns-1", "ns-499", "ns-500", "ns-9999", "ns-10000"}

// Of a large cluster's namespaces, only those that are asked for stay in memory, and of these only what somebody looks at.
func TestFewOfManyNamespacesTakeLittleMemory(t *testing.T) {
	server := &manyNamespacesServer{}
	reader := patient(t, server)
	before := heap()
	found, err := reader.Namespaces(t.Context(), sixNames)
	if err != nil {
		t.Fatal(err)
	}
	if grown := heap() - before; grown > 2<<20 {
		t.Errorf("%d bytes stay in memory", grown)
	}
	if server.pages != 20 || !strings.Contains(server.accept[0], "PartialObjectMetadataList") {
		t.Errorf("%d pages, accepting %q", server.pages, server.accept[0])
	}
	want := map[string]*metav1.ObjectMeta{}
	for i, name := range map[int]string{0: "ns-0", 1: "ns-1", 499: "ns-499", 500: "ns-500", 9999: "ns-9999"} {
		want[name] = &metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": fmt.Sprintf("t%d", i%7)}}
		if i%3 == 0 {
			want[name].Annotations = map[string]string{v1alpha1.ProtectAnnotation: "true"}
		}
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("the namespaces (-want +got):\n%s", diff)
	}
	few, err := reader.Namespaces(t.Context(), sixNames[:FewNamespaces])
	if err != nil || server.pages != 20 {
		t.Fatalf("%d pages: %v", server.pages, err)
	}
	if diff := cmp.Diff(want, few); diff != "" {
		t.Errorf("the same, one by one (-want +got):\n%s", diff)
	}
	runtime.KeepAlive(found)
}

// A list of namespaces that begins anew has nothing of the first time.
func TestNamespacesOfAListThatBeginsAnew(t *testing.T) {
	server := &manyNamespacesServer{calls: func(page int) *http.Response {
		switch page {
		case 1:
			return says(nil, http.StatusOK, `{"metadata":{"resourceVersion":"7","continue":"500"},"items":[`+strings.Replace(namespaceText(1), `"t1"`, `"old"`, 1)+`]}`)
		case 2:
			return failure(nil, http.StatusGone, "Expired")
		}
		return nil
	}}
	found, err := patient(t, server).Namespaces(t.Context(), sixNames)
	if err != nil || len(found) != 5 || found["ns-1"].Labels["team"] != "t1" {
		t.Errorf("%v: %v", found, err)
	}
}
