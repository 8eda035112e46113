// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubecleaner/kubecleaner/pkg/journal"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// A status comes back also when its kind does, in a group-version that was served all the time: what that served before is forgotten.
func TestStatusOfADefinitionThatComesBack(t *testing.T) {
	b := newBench(t)
	definitions := object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, Resource: "customresourcedefinitions"}
	group := b.namespace + ".example.com"
	kinds, defined := map[string]object.Kind{}, map[string]object.Object{}
	for name, plural := range map[string]string{"Thing": "things", "Other": "others"} {
		defined[name] = b.create(definitions, map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": definitions.Kind, "metadata": map[string]any{"name": plural + "." + group}, "spec": map[string]any{
			"group": group, "scope": "Namespaced", "names": map[string]any{"kind": name, "plural": plural},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		}})
		kinds[name] = object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: group, Version: "v1", Kind: name}, Resource: plural, Namespaced: true}
		b.served(kinds[name])
	}
	thing := b.create(kinds["Thing"], map[string]any{"apiVersion": group + "/v1", "kind": "Thing", "metadata": map[string]any{"name": "one", "namespace": b.namespace}})
	must(t, b.raw.Patch(types.MergePatchType).AbsPath(thing.Path(), "status").Body([]byte(`{"status":{"ready":true}}`)).Do(t.Context()).Error())
	body, err := b.raw.Get().AbsPath(thing.Path()).Do(t.Context()).Raw()
	must(t, err)
	thing, err = object.New(kinds["Thing"], body)
	must(t, err)
	record, _ := b.recorded(journal.Victim{Candidate: stage.Candidate{Object: thing}}, journal.Victim{Candidate: stage.Candidate{Object: defined["Thing"]}})
	must(t, b.raw.Delete().AbsPath(defined["Thing"].Path()).Do(t.Context()).Error())
	b.gone(defined["Thing"])
	b.discovered(kinds["Thing"], false)
	b.discovered(kinds["Other"], true)

	wantResults(t, b.restore(record, restore.Options{Force: true, Status: true}), 2, restore.Restored)
	if live := b.get(thing); at(live, "status", "ready") != true {
		t.Errorf("restored %v", live)
	}
}

// discovered waits until the API server tells that it serves a kind, or that it does not.
func (b *bench) discovered(kind object.Kind, want bool) {
	b.t.Helper()
	must(b.t, wait.PollUntilContextTimeout(b.t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		body, err := b.raw.Get().AbsPath(object.GroupVersionPath(kind.GroupVersion())).Do(ctx).Raw()
		return err == nil && strings.Contains(string(body), `"name":"`+kind.Resource+`"`) == want, nil
	}))
}
