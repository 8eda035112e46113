// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// randomly fills an object with what can be written both ways: most fields, and texts that JSON has to escape.
func randomly[T any](seed int64, chance float64) *T {
	o := new(T)
	randfill.NewWithSeed(seed).NilChance(chance).NumElements(1, 3).MaxDepth(14).Funcs(
		func(t *metav1.TypeMeta, _ randfill.Continue) { *t = metav1.TypeMeta{} },
		func(t *metav1.Time, c randfill.Continue) {
			if c.Bool() {
				*t = metav1.Unix(c.Int63n(1<<33), 0)
			}
		},
		func(q *resource.Quantity, c randfill.Continue) {
			*q = []resource.Quantity{
				{},
				resource.MustParse("1500m"),
				*resource.NewQuantity(c.Int63(), resource.BinarySI),
				*resource.NewMilliQuantity(-c.Int63(), resource.DecimalSI),
			}[c.Intn(4)]
		},
		func(i *intstr.IntOrString, c randfill.Continue) {
			*i = []intstr.IntOrString{intstr.FromInt32(c.Int31()), intstr.FromString("8%"), {}}[c.Intn(3)]
		},
		func(f *metav1.ManagedFieldsEntry, _ randfill.Continue) { f.Manager = "helm" },
		func(b *[]byte, c randfill.Continue) { *b = []byte(fmt.Sprint(c.Int63())) },
		func(s *string, c randfill.Continue) {
			*s = []string{"", "name", fmt.Sprintf("name-%d", c.Intn(100)), "\"<\\\t\u2028é\x7f{"}[c.Intn(4)]
		},
	).Fill(o)
	return o
}

// withoutNull takes out what AppendJSON leaves out.
func withoutNull(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			if field = withoutNull(field); field == nil || name == "managedFields" {
				delete(v, name)
			}
		}
	case []any:
		for _, element := range v {
			withoutNull(element)
		}
	}
	return value
}

func generic(t *testing.T, text []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil || decoder.InputOffset() != int64(len(text)) {
		t.Fatalf("%v: %s", err, text)
	}
	return withoutNull(value)
}

// isSame fails unless an object is the same when it comes as protobuf.
func isSame(t *testing.T, o interface{ Marshal() ([]byte, error) }) {
	t.Helper()
	m, err := MessageOf(o)
	if err != nil {
		t.Fatal(err)
	}
	binary, err := o.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	text, err := m.AppendJSON(nil, binary)
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(generic(t, want), generic(t, text)); diff != "" {
		t.Fatalf("-JSON +protobuf:\n%s", diff)
	}
}

func TestProtobufSaysTheSame(t *testing.T) {
	for seed := range int64(200) {
		chance := []float64{0.1, 0.5, 0.9}[seed%3]
		isSame(t, randomly[corev1.Pod](seed, chance))
		isSame(t, randomly[corev1.ConfigMap](seed, chance))
		isSame(t, randomly[corev1.Secret](seed, chance))
		isSame(t, randomly[metav1.PartialObjectMetadata](seed, chance))
	}
}

// inProtobuf is a response of Pods as the API server writes it.
func inProtobuf(t testing.TB, pods ...corev1.Pod) []byte {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	more := int64(7)
	list := &corev1.PodList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
		ListMeta: metav1.ListMeta{ResourceVersion: "12", Continue: "next", RemainingItemCount: &more},
		Items:    pods,
	}
	var response bytes.Buffer
	options := protobuf.SerializerOptions{StreamingCollectionsEncoding: true}
	if err := protobuf.NewSerializerWithOptions(scheme, scheme, options).Encode(list, &response); err != nil {
		t.Fatal(err)
	}
	return response.Bytes()
}

func podMessage(t testing.TB) *Message {
	t.Helper()
	m, err := MessageOf(corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// somePods are three, the second of them larger than the window.
func somePods() []corev1.Pod {
	pods := make([]corev1.Pod, 3)
	for i := range pods {
		pods[i].Name, pods[i].CreationTimestamp = fmt.Sprintf("pod-%d", i), metav1.NewTime(time.Unix(1e9, 0))
	}
	pods[1].Annotations = map[string]string{"large": string(bytes.Repeat([]byte("x"), 2*protobufWindow))}
	return pods
}

func namesIn(m *Message, response []byte) (names []string, meta ListMeta, err error) {
	meta, err = m.ScanList(bytes.NewReader(response), func(raw []byte) error {
		names = append(names, object.JSON(raw).At("metadata", "name").Text())
		return nil
	})
	return names, meta, err
}

func TestScanListInProtobuf(t *testing.T) {
	m, response := podMessage(t), inProtobuf(t, somePods()...)
	names, meta, err := namesIn(m, response)
	if want := []string{"pod-0", "pod-1", "pod-2"}; err != nil || !slices.Equal(names, want) {
		t.Fatalf("%v, %v, want %v", names, err, want)
	}
	if meta.ResourceVersion != "12" || meta.Continue != "next" || *meta.Remaining != 7 {
		t.Errorf("%+v", meta)
	}
	if names, _, err := namesIn(m, inProtobuf(t)); len(names) > 0 || err != nil {
		t.Errorf("an empty list has %v, %v", names, err)
	}
	stop := errors.New("enough")
	if _, err := m.ScanList(bytes.NewReader(response), func([]byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v, want the error of each", err)
	}
}

// A list that was cut never looks like a short one, and one that was not written as expected never like another.
func TestScanListInProtobufOfACutResponse(t *testing.T) {
	m, response := podMessage(t), inProtobuf(t, somePods()...)
	listEnd := len(response) - len("\x1a\x00\x22\x00") // contentEncoding and contentType say nothing
	for n := len(protobufMagic); n < listEnd; n++ {
		if n > 200 && n < 2*protobufWindow {
			continue // inside of the large Pod
		}
		if _, _, err := namesIn(m, response[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("the first %d of %d bytes: %v", n, len(response), err)
		}
	}
}

func TestScanListInProtobufOfWhatIsNotExpected(t *testing.T) {
	m, pods := podMessage(t), inProtobuf(t, somePods()...)
	status := bytes.Replace(pods, []byte("PodList"), []byte("Status!"), 1)
	other := bytes.Replace(pods, []byte("PodList\x12"), []byte("PodList\x1a"), 1)
	long := inProtobuf(t, corev1.Pod{})
	long[bytes.Index(long, []byte("PodList\x12"))+len("PodList\x12")]-- // the length of the list
	for name, response := range map[string][]byte{"another kind": status, "another field": other, "too long": long} {
		if _, _, err := namesIn(m, response); !errors.Is(err, ErrProtobuf) {
			t.Errorf("%s: %v", name, err)
		}
	}
	huge := append(slices.Clone(pods[:bytes.Index(pods, []byte("List"))+4]), 0x12, 0x80, 0x80, 0x80, 0x10, 0x12, 0x80, 0x80, 0x80, 0x08)
	if _, _, err := namesIn(m, huge); !errors.Is(err, errTooLarge) {
		t.Errorf("16 MiB: %v", err)
	}
}

// A server that has no protobuf for a kind writes JSON.
func TestScanListThatIsJSONAfterAll(t *testing.T) {
	response := `{"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"web","future":1}}]}`
	names, meta, err := namesIn(podMessage(t), []byte(response))
	if err != nil || !slices.Equal(names, []string{"web"}) || meta.ResourceVersion != "5" {
		t.Errorf("%v, %+v, %v", names, meta, err)
	}
}

func TestAppendJSONOfUnknownFields(t *testing.T) {
	m := podMessage(t)
	for name, data := range map[string]string{
		"a field of a later version": "\xaa\x06\x01x",
		"a number beyond all":        "\xf2\xff\x7f\x01x",
		"another type":               "\x08\x01",
		"metadata twice":             "\x0a\x00\x0a\x00",
		"cut":                        "\x0a\x05\x0a",
		"a field of a later version in the metadata": "\x0a\x04\xf2\x03\x01x",
		"not UTF-8": "\x0a\x03\x0a\x01\xff",
	} {
		if text, err := m.AppendJSON(nil, []byte(data)); !errors.Is(err, ErrProtobuf) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}

// FuzzAppendJSON shows that whatever comes is an error or well-formed.
func FuzzAppendJSON(f *testing.F) {
	m := podMessage(f)
	for seed := range int64(20) {
		data, err := randomly[corev1.Pod](seed, 0.8).Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if text, err := m.AppendJSON(nil, data); err == nil && !json.Valid(text) {
			t.Errorf("%q: %s", data, text)
		}
	})
}
