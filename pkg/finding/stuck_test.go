// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
)

const byHand = "remove the finalizer by hand only when nothing is left of what it guards"

// leaving is a Widget whose deletion does not end, with its finalizers and labels.
func leaving(finalizers, labels string) string {
	return of("example.com/v1 Widget shop/a", "labels: {"+labels+"}, finalizers: ["+finalizers+"], deletionTimestamp: '2026-02-01T00:00:00Z'")
}

// hook is a webhook configuration that is asked about updates of Widgets, unless it says otherwise.
func hook(name, more string) string {
	rules := "rules: [{apiGroups: [example.com], apiVersions: [v9], resources: [widgets], operations: [UPDATE]}]"
	if strings.Contains(more, "rules:") {
		rules = "name: h.io"
	} else {
		rules = "name: h.io, " + rules
	}
	if more != "" {
		more = ", " + more
	}
	return of("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration "+name, "",
		"webhooks: [{"+rules+", clientConfig: {service: {namespace: ops, name: hook}}"+more+"}]")
}

func controller(kind, name, meta, available string) string {
	return of("apps/v1 "+kind+" "+name, meta, "status: {"+available+"}")
}

// What is said of a finalizer's owner, of webhooks, and of the order of repair.
func TestStuckReasons(t *testing.T) {
	t.Parallel()
	const (
		left      = "finalizer example.com/hold is left: "
		nobody    = left + "it is of example.com, and no controller was found that may own it; "
		available = "availableReplicas: 1"
		last      = "; remove the finalizer by hand only when that does not help"
	)
	gone := "webhook h.io of ValidatingWebhookConfiguration a must allow the deletion, but Service ops/hook does not exist; to repair it: make Service ops/hook answer" + last
	mayBe := strings.Replace(gone, "must allow", "may have to allow", 1)
	held := leaving("example.com/hold", "")
	shop := of("v1 Namespace shop", "labels: {team: shop}")
	slice := func(endpoints string) string {
		return of("discovery.k8s.io/v1 EndpointSlice ops/h", "labels: {kubernetes.io/service-name: hook}", "endpoints: ["+endpoints+"]")
	}
	for name, test := range map[string]struct {
		cluster string
		unread  []string
		want    string
	}{
		"a controller that runs": {
			cluster(held, controller("Deployment", "ops/example-operator", "", available)), nil,
			left + "its controller may be Deployment ops/example-operator, which runs; to repair it: read the log of Deployment ops/example-operator" + last,
		},
		"one that does not": {
			cluster(held, controller("Deployment", "ops/example-controller-manager", "", "")), nil,
			left + "its controller may be Deployment ops/example-controller-manager, which has no available Pod; to repair it: start Deployment ops/example-controller-manager" + last,
		},
		"one of each": {
			cluster(held, controller("StatefulSet", "ops/example-controller", "", "availableReplicas: 0"), controller("DaemonSet", "ops/example-manager", "", "numberAvailable: 2")), nil,
			left + "its controller may be DaemonSet ops/example-manager, which runs, or StatefulSet ops/example-controller, which has no available Pod; " +
				"to repair it: start StatefulSet ops/example-controller" + last,
		},
		"the name itself goes before that of a release": {
			cluster(held, controller("Deployment", "ops/example", "", available), controller("Deployment", "ops/x", "labels: {app.kubernetes.io/instance: example}", available)), nil,
			left + "its controller may be Deployment ops/example, which runs; to repair it: read the log of Deployment ops/example" + last,
		},
		"a release of Helm": {
			cluster(held, controller("Deployment", "ops/x", "annotations: {meta.helm.sh/release-name: example}", available)), nil,
			left + "its controller may be Deployment ops/x, which runs; to repair it: read the log of Deployment ops/x" + last,
		},
		"a workload that only has the word in its name": {cluster(held, controller("Deployment", "ops/example-shop", "", available), controller("Deployment", "ops/examples-operator", "", available)), nil, nobody + byHand},
		"a database that is called like a part of the domain": {
			cluster(leaving("db.example.com/hold", ""), controller("StatefulSet", "ops/db", "", available)), nil,
			"finalizer db.example.com/hold is left: it is of db.example.com, and no controller was found that may own it; " + byHand,
		},
		"a controller of a part of the domain": {
			cluster(leaving("finalizers.db.toolkit.example.com", ""), controller("Deployment", "ops/db-controller", "", "")), nil,
			"finalizer finalizers.db.toolkit.example.com is left: its controller may be Deployment ops/db-controller, which has no available Pod; to repair it: start Deployment ops/db-controller" + last,
		},
		"a finalizer of no domain": {leaving("hold", ""), nil, "finalizer hold is left: it is unknown which controller owns this finalizer, and no controller was found that may own it; " + byHand},
		"two finalizers, one of them Kubernetes's": {
			leaving("foregroundDeletion, kubernetes.io/pv-protection, example.com/hold", ""), nil,
			"finalizer kubernetes.io/pv-protection is left: a claim is still bound to the volume; " + nobody + byHand,
		},
		"workloads that may not be read": {
			held,
			[]string{"Deployment"},
			left + "it is of example.com, and it is unknown whether its controller runs; " + byHand + "; what more there is to say is unknown, not read: Deployment",
		},
		"a webhook that is gone":        {cluster(held, hook("a", "")), nil, nobody + gone},
		"one that ignores failures":     {cluster(held, hook("a", "failurePolicy: Ignore")), nil, nobody + byHand},
		"one for another operation":     {cluster(held, hook("a", "rules: [{apiGroups: ['*'], resources: ['*/*'], operations: [CREATE, DELETE]}]")), nil, nobody + byHand},
		"one for every operation":       {cluster(held, hook("a", "rules: [{apiGroups: ['*'], resources: ['*/*'], operations: ['*'], scope: Namespaced}]")), nil, nobody + gone},
		"one for the status only":       {cluster(held, hook("a", "rules: [{apiGroups: [example.com], resources: [widgets/status], operations: [UPDATE]}]")), nil, nobody + byHand},
		"one for another group":         {cluster(held, hook("a", "rules: [{apiGroups: [''], resources: ['*'], operations: [UPDATE]}]")), nil, nobody + byHand},
		"one for what has no namespace": {cluster(held, hook("a", "rules: [{apiGroups: ['*'], resources: ['*'], operations: [UPDATE], scope: Cluster}]")), nil, nobody + byHand},
		"one for another namespace":     {cluster(held, shop, hook("a", "namespaceSelector: {matchLabels: {team: other}}")), nil, nobody + byHand},
		"one for this namespace":        {cluster(held, shop, hook("a", "namespaceSelector: {matchLabels: {team: shop}}")), nil, nobody + gone},
		"one for nobody knows which":    {cluster(held, shop, hook("a", "namespaceSelector: {matchLabels: {team: shop}}")), []string{"Namespace"}, nobody + mayBe + "; what more there is to say is unknown, not read: Namespace"},
		"one for other objects":         {cluster(leaving("example.com/hold", "a: c"), hook("a", "objectSelector: {matchLabels: {a: b}}")), nil, nobody + byHand},
		"one with expressions":          {cluster(held, hook("a", "matchConditions: [{name: a, expression: 'false'}]")), nil, nobody + mayBe},
		"one that cannot be read":       {cluster(held, hook("a", "namespaceSelector: {matchExpressions: [{key: a, operator: Odd}]}")), nil, nobody + byHand},
		"one that answers":              {cluster(held, hook("a", ""), of("v1 Service ops/hook", ""), slice("{addresses: [1.1.1.1]}")), nil, nobody + byHand},
		"one whose Pods are not ready": {
			cluster(held, hook("a", ""), of("v1 Service ops/hook", ""), slice("{addresses: [1.1.1.1], conditions: {ready: false}}")), nil,
			nobody + strings.Replace(gone, "does not exist", "has no ready endpoint", 1),
		},
		"one outside of the cluster":          {cluster(held, hook("a", ""), of("v1 Service ops/hook", "", "spec: {type: ExternalName, externalName: hooks.example.com}")), nil, nobody + byHand},
		"one whose Service may not be read":   {cluster(held, hook("a", "")), []string{"Service"}, nobody + byHand + "; what more there is to say is unknown, not read: Service"},
		"one whose endpoints may not be read": {cluster(held, hook("a", ""), of("v1 Service ops/hook", "")), []string{"EndpointSlice"}, nobody + byHand + "; what more there is to say is unknown, not read: EndpointSlice"},
		"a Pod that a webhook keeps from going": {
			cluster(of("v1 Pod shop/a", "deletionTimestamp: '2026-02-01T00:00:00Z'", "spec: {nodeName: n1}"), hook("a", "rules: [{apiGroups: [''], resources: [pods], operations: [DELETE]}]")), nil,
			"its grace period is over, but the kubelet of Node n1 has not reported that the Pod has stopped; " + strings.TrimSuffix(gone, last),
		},
		"a namespace that a webhook is asked about by its own labels": {
			cluster(of("v1 Namespace a", "labels: {team: shop}, finalizers: [example.com/hold], deletionTimestamp: '2026-02-01T00:00:00Z'"),
				hook("a", "namespaceSelector: {matchLabels: {team: shop}}, rules: [{apiGroups: [''], resources: [namespaces], operations: [UPDATE], scope: Cluster}]")), nil,
			nobody + gone,
		},
		"a webhook configuration, about which no webhook is asked": {
			cluster(of("admissionregistration.k8s.io/v1 MutatingWebhookConfiguration m", "finalizers: [example.com/hold], deletionTimestamp: '2026-02-01T00:00:00Z'"),
				hook("a", "rules: [{apiGroups: ['*'], resources: ['*'], operations: ['*']}]")), nil,
			nobody + byHand,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scenario{cluster: test.cluster, unread: test.unread}
			// What is found, and why, is the same whether all is looked for, or this alone.
			wants := []finding.Want{
				{Kind: gk("Pod"), Type: v1alpha1.FindingStuck},
				{Kind: gk("Namespace"), Type: v1alpha1.FindingStuck},
				{Kind: gk("MutatingWebhookConfiguration.admissionregistration.k8s.io"), Type: v1alpha1.FindingStuck},
				{Kind: gk("Widget.example.com"), Type: v1alpha1.FindingStuck},
			}
			for _, wanted := range [][]finding.Want{nil, wants} {
				var reasons []string
				for _, f := range findWith(t, s, finding.Options{Table: tableOf(t), Served: served(t), Now: now, Wanted: wanted}) {
					if f.Type == v1alpha1.FindingStuck {
						reasons = append(reasons, f.Reason)
					}
				}
				want := test.want
				if wanted != nil { // the Node stands in the Pod's spec
					want = strings.Replace(want, "kubelet of Node n1", "kubelet of its Node", 1)
				}
				if got := strings.Join(reasons, "\n"); got != want {
					t.Errorf("found %s\nwant  %s", got, want)
				}
			}
		})
	}
}

// What only adds to a reason changes nothing else: a list for that which fails says nothing of who needed less of the same kind.
func TestDetailsChangeNoVerdict(t *testing.T) {
	t.Parallel()
	f := finding.New(finding.Options{Table: tableOf(t), Served: served(t), Now: now, Wanted: []finding.Want{
		{Kind: gk("HorizontalPodAutoscaler.autoscaling"), Type: v1alpha1.FindingUnused}, {Kind: gk("Widget.example.com"), Type: v1alpha1.FindingStuck},
	}})
	for _, list := range f.Lists() {
		for i, text := range []string{
			leaving("example.com/hold", ""), of("autoscaling/v2 HorizontalPodAutoscaler shop/a", "", "spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: gone}}"),
		} {
			if strings.Contains(text, "kind: "+list.Kind.Kind+"\n") {
				f.Look(list, load(t, text, i, served(t)))
			}
		}
	}
	details := f.Details()
	for _, list := range details {
		f.Unread(list, errors.New("forbidden"))
	}
	if again := f.Details(); len(details) == 0 || len(again) > 0 {
		t.Errorf("%d lists tell more, and %d when asked again", len(details), len(again))
	}
	want := "HorizontalPodAutoscaler shop/a Unused\nWidget shop/a Stuck"
	if got := lines(slices.Collect(f.Findings())); got != want {
		t.Errorf("found:\n%s\nwant:\n%s", got, want)
	}
}

// Where one namespace is looked at, what is in another explains all the same.
func TestStuckInOneNamespace(t *testing.T) {
	t.Parallel()
	held := of("v1 ConfigMap shop/a", "finalizers: [example.com/hold], deletionTimestamp: '2026-02-01T00:00:00Z'")
	s := scenario{cluster: cluster(held, controller("Deployment", "ops/example-operator", "", "availableReplicas: 1"),
		hook("a", "rules: [{apiGroups: [''], resources: [configmaps], operations: [UPDATE]}]"), of("v1 Service ops/hook", ""),
		of("discovery.k8s.io/v1 EndpointSlice ops/h", "labels: {kubernetes.io/service-name: hook}", "endpoints: [{addresses: [1.1.1.1]}]"))}
	found := findWith(t, s, finding.Options{Table: tableOf(t), Served: served(t), Now: now, Namespace: "shop"})
	if len(found) != 1 {
		t.Fatalf("found:\n%s", lines(found))
	}
	want := "finalizer example.com/hold is left: its controller may be Deployment ops/example-operator, which runs; " +
		"to repair it: read the log of Deployment ops/example-operator; remove the finalizer by hand only when that does not help"
	if found[0].Reason != want {
		t.Errorf("the reason is %q, want %q", found[0].Reason, want)
	}
}

// detectors.md 8: a deletion is reported after 2, 10 and 30 minutes.
func TestStuckConfidence(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]v1alpha1.FindingConfidence{
		2*time.Minute - time.Second:  "",
		2 * time.Minute:              v1alpha1.ConfidenceWeak,
		10*time.Minute - time.Second: v1alpha1.ConfidenceWeak,
		10 * time.Minute:             v1alpha1.ConfidenceLikely,
		30 * time.Minute:             v1alpha1.ConfidenceCertain,
	} {
		deleted := now.Add(-age).UTC().Format(time.RFC3339)
		held := of("example.com/v1 Widget shop/a", "finalizers: [example.com/hold], deletionTimestamp: '"+deleted+"'")
		var got v1alpha1.FindingConfidence
		for _, found := range find(t, scenario{cluster: held}) {
			got = found.Confidence
		}
		if got != want {
			t.Errorf("after %s, the confidence is %q, want %q", age, got, want)
		}
	}
}
