// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Each expression, and whether metadata, kind and apiVersion are all that it looks at. Those that do are asked of an object and
// of what the API server sends as its metadata, and must say the same.
func TestReadsMetadataOnly(t *testing.T) {
	const metadata = `"metadata":{"name":"web","namespace":"default","uid":"u1","resourceVersion":"7","labels":{"a":"b"},"creationTimestamp":"2026-01-01T00:00:00Z"}`
	kind := object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}}
	whole := newObject(t, kind, `{`+metadata+`,"spec":{"replicas":0}}`)
	partial := newObject(t, kind, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",`+metadata+`}`)
	for expression, want := range map[string]bool{
		`true`: true,
		`now > timestamp("2020-01-01T00:00:00Z")`:                             true,
		`object.metadata.name == "web"`:                                       true,
		`.object.metadata.name == "web"`:                                      true,
		`object["metadata"]["name"] == "web"`:                                 true,
		`object.kind == "Deployment" && object.apiVersion == "apps/v1"`:       true,
		`has(object.metadata.labels) && "a" in object.metadata.labels`:        true,
		`has(object.metadata)`:                                                true,
		`object.?metadata.?labels.?a.orValue("") == "b"`:                      true,
		`object[?"metadata"].hasValue()`:                                      true,
		`object.metadata.labels.all(k, object.metadata.labels[k] != k)`:       true,
		`object.metadata == object.metadata`:                                  true,
		`object.metadata.missing == 1`:                                        true,
		`now - timestamp(object.metadata.creationTimestamp) > duration("1h")`: true,
		`"spec" in {"spec": 1}`:                                               true,
		`[1].all(spec, spec == 1)`:                                            true,

		`object.spec.replicas == 0`:                                  false,
		`.object.spec.replicas == 0`:                                 false,
		`object["spec"]["replicas"] == 0`:                            false,
		`object["sp" + "ec"]["replicas"] == 0`:                       false,
		`object[object.metadata.name == "web" ? "spec" : "x"] != {}`: false,
		`has(object.spec)`:                                           false,
		`!has(object.status)`:                                        false,
		`object.?spec.hasValue()`:                                    false,
		`object[?"spec"].hasValue()`:                                 false,
		`"spec" in object`:                                           false,
		`size(object) > 3`:                                           false,
		`object == object`:                                           false,
		`object != {}`:                                               false,
		`object.all(k, k != "spec")`:                                 false,
		`object.exists(k, object[k] == {"replicas": 0})`:             false,
		`object.exists(k, v, k == "spec" && v.replicas == 0)`:        false,
		`[object].all(o, o.spec.replicas == 0)`:                      false,
		`{"o": object}.o.spec.replicas == 0`:                         false,
		`{object.metadata.name: object}["web"].spec.replicas == 0`:   false,
		`(true ? object : {}).spec.replicas == 0`:                    false,
		`dyn(object).spec.replicas == 0`:                             false,
		`type(object) == map`:                                        false,
		`optional.of(object).spec.replicas.orValue(1) == 0`:          false,
		`[1].all(i, object.spec.replicas == 0)`:                      false,
		`[{"spec": 1}].all(object, object.spec == 1)`:                false,
		`object.metadata.name == "x" || object.spec.replicas == 0`:   false,
	} {
		program, err := Compile([]v1alpha1.MatchCondition{{Name: "a", Expression: "true"}, {Name: "b", Expression: expression}})
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		run := program.NewRun(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
		if got := run.ReadsMetadataOnly(); got != want {
			t.Errorf("%s: reads metadata only: %t, want %t", expression, got, want)
		}
		if !want {
			continue
		}
		matches, message, err := run.Evaluate(t.Context(), whole)
		ofPartial, partialMessage, partialErr := run.Evaluate(t.Context(), partial)
		if matches != ofPartial || message != partialMessage || (err == nil) != (partialErr == nil) || err != nil && err.Error() != partialErr.Error() {
			t.Errorf("%s: of the object %t %q (%v), of its metadata %t %q (%v)", expression, matches, message, err, ofPartial, partialMessage, partialErr)
		}
	}
}

func newObject(t *testing.T, kind object.Kind, raw string) object.Object {
	t.Helper()
	o, err := object.New(kind, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return o
}
