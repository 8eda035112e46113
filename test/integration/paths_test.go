// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/action"
	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/notify"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// traversals are what was written as a name to make the operator ask for another path.
var traversals = []string{"../../../nodes/n/proxy/pods", "..", ".", "a/../../../../nodes/n/proxy/pods", "%2e%2e", "x/log"}

// wantUnsent fails the test unless the operator refused a request itself, and sent nothing.
func (b *bench) wantUnsent(what string, err error, text string) {
	b.t.Helper()
	b.requests.mu.Lock()
	sent := slices.Clone(b.requests.entries)
	b.requests.entries = nil
	b.requests.mu.Unlock()
	if err == nil || !strings.Contains(err.Error(), text) {
		b.t.Errorf("%s: the error is %v, want it to contain %q", what, err, text)
	}
	if len(sent) > 0 {
		b.t.Errorf("%s: the operator sent %q", what, sent)
	}
}

// Names come from users, and from objects that an aggregated API server made up. The CustomResourceDefinition refuses most of them;
// one that was stored before it did so, or got past it, leads to no other path either.
func TestNamesLeadToNoOtherPath(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	actor := b.runner.Check.Identities.Actor.ForRun(b.clock, func(error) bool { return false })
	for _, text := range traversals {
		for _, ref := range []v1alpha1.NotificationRef{{Namespace: b.namespace, Name: text}, {Namespace: text, Name: "a"}} {
			_, err := notify.ReadSettings(t.Context(), b.runner.Check.Identities.Live, &ref, nil)
			b.wantUnsent("notificationRef "+text, err, "notificationRef must name a Secret, by namespace and name: ")
		}
		for _, spec := range []v1alpha1.ResourceSelector{
			{Version: "v1", Kind: "ConfigMap", Namespace: text}, {Version: text, Kind: "ConfigMap"}, {Group: text, Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: text},
		} {
			_, err := selector.New(0, spec, selector.Judge{}, b.clock.Now())
			b.wantUnsent("selector "+text, err, "is not a name: it may not")
		}
		source := v1alpha1.ResourceSelector{MetricSource: &v1alpha1.MetricSource{
			URL: "http://a.b.svc", SecretRef: &v1alpha1.SecretRef{Namespace: "b", Name: text},
		}}
		if errs := inputs.Check(&source); len(errs) != 1 || !strings.Contains(errs[0].Error(), "metricSource.secretRef.name: ") {
			t.Errorf("secretRef %s: %v", text, errs)
		}
		b.wantNoRequests(text, actor)
	}
}

func secretsKind() object.Kind {
	return object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"), Resource: "secrets", Namespaced: true}
}

// wantNoRequests tries everything that asks for a path, without what looks at names before.
func (b *bench) wantNoRequests(text string, actor *action.Actor) {
	b.t.Helper()
	const unsent = "nothing was sent to the API server: "
	ctx, kind := b.t.Context(), secretsKind()
	for _, o := range []object.Object{
		{Kind: kind, Namespace: text, Name: "a", UID: "u", ResourceVersion: "1"}, {Kind: kind, Namespace: b.namespace, Name: text, UID: "u", ResourceVersion: "1"},
	} {
		_, err := actor.Live(ctx, o)
		b.wantUnsent("read "+text, err, unsent)
	}
	kind.Resource = text
	_, err := b.runner.Read.Operator.Count(ctx, kind, selector.Scope{Cluster: true})
	b.wantUnsent("list "+text, err, unsent)
	_, err = b.runner.Read.Operator.Count(ctx, secretsKind(), selector.Scope{Namespaces: []string{text}})
	b.wantUnsent("list in "+text, err, unsent)
	_, err = b.runner.Read.Operator.Resolve(ctx, schema.GroupVersionKind{Group: text, Version: "v1", Kind: "A"})
	b.wantUnsent("discovery of "+text, err, unsent)
	_, err = b.runner.Read.Operator.Namespaces(ctx, []string{text})
	b.wantUnsent("namespace "+text, err, unsent)
}
