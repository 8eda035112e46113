// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func pod(name, uid string) object.Object {
	kind := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: "pods", Namespaced: true}
	return object.Object{Kind: kind, Namespace: "shop", Name: name, UID: types.UID(uid)}
}

// about is an event about an object, with more fields.
func about(involved, more string) string {
	return fmt.Sprintf(`{"metadata":{"name":"e","namespace":"shop","creationTimestamp":"2026-03-01T00:00:00Z"},"involvedObject":{%s},"type":"Normal",%s}`, involved, more)
}

const webPod = `"apiVersion":"v1","kind":"Pod","namespace":"shop","name":"web","uid":"u1"`

func TestEventsOfAnObject(t *testing.T) {
	one := func(reason string, count int, last string) string {
		return fmt.Sprintf(`{"reason":%q,"message":"m","type":"Normal","count":%d,"lastTimestamp":%q}`, reason, count, last)
	}
	for name, test := range map[string]struct {
		events []string
		want   string
	}{
		"none":              {nil, ``},
		"of the core API":   {[]string{about(webPod, `"reason":"A","message":"m","count":3,"lastTimestamp":"2026-03-02T00:00:00Z"`)}, one("A", 3, "2026-03-02T00:00:00Z")},
		"without a count":   {[]string{about(webPod, `"reason":"A","message":"m"`)}, one("A", 1, "2026-03-01T00:00:00Z")},
		"of events.k8s.io":  {[]string{about(webPod, `"reason":"A","message":"m","eventTime":"2026-03-02T01:00:00.123456Z"`)}, one("A", 1, "2026-03-02T01:00:00Z")},
		"series":            {[]string{about(webPod, `"reason":"A","message":"m","eventTime":"2026-03-02T01:00:00.000000Z","series":{"count":9,"lastObservedTime":"2026-03-03T00:00:00.000000Z"}`)}, one("A", 9, "2026-03-03T00:00:00Z")},
		"newest first":      {[]string{about(webPod, `"reason":"Old","message":"m","lastTimestamp":"2026-03-02T00:00:00Z"`), about(webPod, `"reason":"New","message":"m","lastTimestamp":"2026-03-04T00:00:00Z"`)}, one("New", 1, "2026-03-04T00:00:00Z") + "," + one("Old", 1, "2026-03-02T00:00:00Z")},
		"of an earlier Pod": {[]string{about(strings.Replace(webPod, "u1", "u0", 1), `"reason":"A"`)}, ``},
		"of another kind":   {[]string{about(strings.Replace(webPod, `"Pod"`, `"ConfigMap"`, 1), `"reason":"A"`)}, ``},
		"of another group":  {[]string{about(strings.Replace(webPod, `"v1"`, `"example.com/v1"`, 1), `"reason":"A"`)}, ``},
		"without a group":   {[]string{about(strings.Replace(webPod, `"apiVersion":"v1",`, ``, 1), `"reason":"A","message":"m"`)}, one("A", 1, "2026-03-01T00:00:00Z")},
		"without a UID":     {[]string{about(strings.Replace(webPod, `"uid":"u1"`, `"uid":""`, 1), `"reason":"A","message":"m"`)}, one("A", 1, "2026-03-01T00:00:00Z")},
		"the name as UID":   {[]string{about(strings.Replace(webPod, `"uid":"u1"`, `"uid":"web"`, 1), `"reason":"A","message":"m"`)}, one("A", 1, "2026-03-01T00:00:00Z")},
		"other name":        {[]string{about(`"kind":"Pod","namespace":"shop","name":"db"`, `"reason":"A"`)}, ``},
		"other namespace":   {[]string{about(`"kind":"Pod","namespace":"vault","name":"web"`, `"reason":"A"`)}, ``},
	} {
		t.Run(name, func(t *testing.T) {
			events := NewEvents(schema.GroupKind{Kind: "Pod"})
			for _, raw := range test.events {
				if err := events.Add([]byte(raw)); err != nil {
					t.Fatal(err)
				}
			}
			got, err := events.Of(pod("web", "u1"))
			if want := `{"events":[` + test.want + `]}`; err != nil || string(got) != want {
				t.Fatalf("the events are %s, %v, want %s", got, err, want)
			}
		})
	}
}

func TestEventsAreBounded(t *testing.T) {
	events := NewEvents(schema.GroupKind{Kind: "Pod"})
	long := strings.Repeat("x", 600_000)
	for i := range 2 {
		if err := events.Add([]byte(about(webPod, fmt.Sprintf(`"reason":"A","message":"%d%s"`, i, long)))); err != nil {
			t.Fatal(err)
		}
	}
	_, err := events.Of(pod("web", "u1"))
	if want := "the 2 events of the object are longer than 1 MiB together; it is not judged by a part of them"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	events.limit = 1 << 20
	err = events.Add([]byte(about(webPod, `"reason":"A","message":"`+long+`"`)))
	if want := "the events of Pod objects take more than 1 MiB of memory: let the Cleaner select fewer objects (with namespace), or write several Cleaners"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	events.Reset()
	if got, err := events.Of(pod("web", "u1")); err != nil || string(got) != `{"events":[]}` {
		t.Errorf("after a restart there are %s, %v", got, err)
	}
}

func TestWhatIsNoEventIsAnError(t *testing.T) {
	if err := NewEvents(schema.GroupKind{Kind: "Pod"}).Add([]byte(`{"involvedObject":3}`)); err == nil {
		t.Error("it was taken for an event")
	}
}

// TestEventsAreCounted: who bounds the memory of all runs hears of every byte, and of those that are given back.
func TestEventsAreCounted(t *testing.T) {
	total, refused := 0, errors.New("no more")
	e := NewEvents(schema.GroupKind{Kind: "Pod"})
	e.Grow = func(bytes int) error {
		if total += bytes; total > 1000 {
			return refused
		}
		return nil
	}
	raw := []byte(`{"involvedObject":{"kind":"Pod","apiVersion":"v1","name":"a","uid":"u"},"reason":"BackOff","message":"again"}`)
	var err error
	for n := 0; err == nil; n++ {
		if n == 100 {
			t.Fatal("it is never refused")
		}
		err = e.Add(raw)
	}
	if !errors.Is(err, refused) || !strings.HasPrefix(err.Error(), "not enough memory for the events of Pod objects: ") {
		t.Errorf("got %v", err)
	}
	if e.Reset(); total != 0 {
		t.Errorf("%d bytes are still counted", total)
	}
}

// TestEventsOfAFormerObject of the name are none of the object's, where the name is all that they say.
func TestEventsOfAFormerObject(t *testing.T) {
	events := NewEvents(schema.GroupKind{Kind: "Pod"})
	nameOnly := strings.Replace(webPod, `"uid":"u1"`, `"uid":"web"`, 1)
	for reason, at := range map[string]string{"Old": "2026-03-02T00:00:00Z", "New": "2026-03-04T00:00:00Z"} {
		if err := events.Add([]byte(about(nameOnly, fmt.Sprintf(`"reason":%q,"message":"m","lastTimestamp":%q`, reason, at)))); err != nil {
			t.Fatal(err)
		}
	}
	o := pod("web", "u1")
	o.Created = time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)
	got, err := events.Of(o)
	if err != nil || !strings.Contains(string(got), `"New"`) || strings.Contains(string(got), `"Old"`) {
		t.Errorf("they are %s, %v", got, err)
	}
}

// TestEqualMessagesAreCounted each: they are in memory once, and written down each.
func TestEqualMessagesAreCounted(t *testing.T) {
	events := NewEvents(schema.GroupKind{Kind: "Pod"})
	for range 10 {
		if err := events.Add([]byte(about(webPod, `"reason":"A","message":"`+strings.Repeat("<", 50_000)+`"`))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := events.Of(pod("web", "u1")); err == nil || !strings.HasPrefix(err.Error(), "the 10 events of the object are longer than 1 MiB") {
		t.Errorf("the error is %v", err)
	}
}
