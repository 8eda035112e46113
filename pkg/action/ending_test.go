// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// ending is an object that is being deleted, of a kind, with further metadata and fields.
func ending(t *testing.T, kind, metadata, fields string) object.Object {
	t.Helper()
	raw := fmt.Sprintf(`{"metadata":{"name":"old","uid":"u1","resourceVersion":"7","deletionTimestamp":"2026-01-02T03:04:35Z"%s}%s}`, metadata, fields)
	o, err := object.New(object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind(kind)}, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestWhatHoldsAnObject(t *testing.T) {
	t.Parallel()
	const since = "it was being deleted already, since 2026-01-02T03:04:35Z"
	tests := map[string]struct{ kind, metadata, fields, want, already string }{
		"nothing": {"ConfigMap", ``, ``, "it is being deleted", since},
		"no time": {"Pod", `,"deletionGracePeriodSeconds":0`, ``, "it is being deleted", since},
		"a grace period": {
			"Pod", `,"deletionGracePeriodSeconds":30`, ``, "its grace period is 30 s",
			"it was being deleted already, since 2026-01-02T03:04:05Z; its grace period is 30 s",
		},
		"finalizers": {"ConfigMap", `,"finalizers":["a/b","c/d"]`, ``, "finalizers hold it: a/b, c/d", since + "; finalizers hold it: a/b, c/d"},
		"both": {
			"Pod", `,"deletionGracePeriodSeconds":5,"finalizers":["a/b"]`, ``, "finalizers hold it: a/b; its grace period is 5 s",
			"it was being deleted already, since 2026-01-02T03:04:30Z; finalizers hold it: a/b; its grace period is 5 s",
		},
		"a namespace":                    {"Namespace", ``, `,"spec":{"finalizers":["kubernetes"]}`, "finalizers hold it: kubernetes", since + "; finalizers hold it: kubernetes"},
		"another kind's spec.finalizers": {"ConfigMap", ``, `,"spec":{"finalizers":["kubernetes"]}`, "it is being deleted", since},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := ending(t, test.kind, test.metadata, test.fields)
			if got := Ending(o); got != test.want {
				t.Errorf("it is held: %q, want %q", got, test.want)
			}
			if got := already(o); got != test.already {
				t.Errorf("it says %q, want %q", got, test.already)
			}
		})
	}
}

// One DELETE is enough, unless the next asks for more.
func TestWhenADeleteAsksForMore(t *testing.T) {
	t.Parallel()
	slow := ending(t, "Pod", `,"deletionGracePeriodSeconds":30`, ``)
	tests := map[string]struct {
		options *v1alpha1.DeleteOptions
		want    bool
	}{
		"no options":    {nil, false},
		"empty options": {&v1alpha1.DeleteOptions{}, false},
		"less time":     {&v1alpha1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}, true},
		"as much time":  {&v1alpha1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](30)}, false},
		"more time":     {&v1alpha1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](60)}, false},
		"a policy":      {&v1alpha1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationOrphan)}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := asksForMore(slow, test.options); got != test.want {
				t.Fatalf("it is %t", got)
			}
		})
	}
}

// Only a Status of success with just this UID proves that an object is gone.
func TestWhatProvesADeletion(t *testing.T) {
	t.Parallel()
	const success = `{"kind":"Status","apiVersion":"v1","status":"Success","details":{"name":"old","kind":"configmaps","uid":"u1"}}`
	tests := map[string]struct {
		answer string
		code   int
		want   bool
	}{
		"success":                 {success, 200, true},
		"accepted":                {success, 202, false},
		"another UID":             {`{"kind":"Status","status":"Success","details":{"uid":"u2"}}`, 200, false},
		"no UID":                  {`{"kind":"Status","status":"Success","details":{"name":"old"}}`, 200, false},
		"no details":              {`{"kind":"Status","status":"Success"}`, 200, false},
		"a Status of something":   {`{"kind":"Status","details":{"uid":"u1"}}`, 200, false},
		"an object":               {`{"kind":"ConfigMap","metadata":{"name":"old","uid":"u1","resourceVersion":"7"}}`, 200, false},
		"an object with a status": {`{"kind":"Widget","status":"Success","details":{"uid":"u1"}}`, 200, false},
		"nothing":                 {``, 200, false},
		"a page of a portal":      {`<html>`, 200, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := provesDeletion([]byte(test.answer), test.code, old(t).Object); got != test.want {
				t.Fatalf("it is %t", got)
			}
		})
	}
}
