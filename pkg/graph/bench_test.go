// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bytes"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// realPod is a Pod as a cluster has it, of about 5 KB.
func realPod(tb testing.TB, i int) object.Object {
	tb.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"metadata":{"name":"web-7d4b9c6f5d-%05d","generateName":"web-7d4b9c6f5d-","namespace":"shop-%d","uid":"9e2a1c54-0000-4000-8000-%012d",`+
		`"resourceVersion":"%d","creationTimestamp":"2026-03-01T10:00:00Z","labels":{"app":"web","pod-template-hash":"7d4b9c6f5d","team":"checkout"},`+
		`"annotations":{"prometheus.io/scrape":"true","prometheus.io/port":"9090","checksum/config":"0a1b2c3d4e5f60718293a4b5c6d7e8f9"},`+
		`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7d4b9c6f5d","uid":"1","controller":true,"blockOwnerDeletion":true}]},`, i, i%50, i, i)
	fmt.Fprintf(&b, `"spec":{"volumes":[{"name":"config","configMap":{"name":"web-config-%d","defaultMode":420}},{"name":"tls","secret":{"secretName":"web-tls","defaultMode":420}},`+
		`{"name":"data","persistentVolumeClaim":{"claimName":"data-%d"}},{"name":"kube-api-access-x7k2p","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},`+
		`{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],`+
		`"defaultMode":420}}],"containers":[`, i, i)
	for c := range 2 {
		if c > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"c%d","image":"registry.example.com/shop/web:v1.2.3","args":["--listen=:8080","--config=/etc/web/config.yaml","--log-level=info"],"ports":[{"containerPort":8080,"protocol":"TCP"}],`+
			`"envFrom":[{"configMapRef":{"name":"web-env"}}],"env":[{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}},`+
			`{"name":"DB_PASSWORD","valueFrom":{"secretKeyRef":{"name":"db","key":"password"}}},{"name":"REGION","value":"eu-central-1"}],`+
			`"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},"volumeMounts":[{"name":"config","mountPath":"/etc/web"},`+
			`{"name":"kube-api-access-x7k2p","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],`+
			`"livenessProbe":{"httpGet":{"path":"/healthz","port":8080,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},`+
			`"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent","securityContext":{"runAsNonRoot":true}}`, c)
	}
	b.WriteString(`],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"web","serviceAccount":"web","nodeName":"node-1",` +
		`"imagePullSecrets":[{"name":"registry"}],"priorityClassName":"normal","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]},` +
		`"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-03-01T10:00:05Z"},{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-03-01T10:00:00Z"}],` +
		`"hostIP":"10.0.0.1","podIP":"10.1.0.1","startTime":"2026-03-01T10:00:00Z","containerStatuses":[`)
	for c := range 2 {
		if c > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"c%d","state":{"running":{"startedAt":"2026-03-01T10:00:04Z"}},"lastState":{},"ready":true,"restartCount":0,"image":"registry.example.com/shop/web:v1.2.3",`+
			`"imageID":"registry.example.com/shop/web@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","containerID":"containerd://0123456789abcdef0123456789abcdef","started":true}`, c)
	}
	b.WriteString(`],"qosClass":"Burstable"}}`)
	o, err := object.New(object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: "pods", Namespaced: true}, b.Bytes())
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

// What a Pod's references cost. A string is made for each name that stands there, and for nothing else.
func BenchmarkEdges(b *testing.B) {
	table, err := BuiltIn()
	if err != nil {
		b.Fatal(err)
	}
	pod := realPod(b, 1)
	b.SetBytes(int64(len(pod.Raw)))
	b.ReportAllocs()
	for b.Loop() {
		table.Edges(pod, func(Edge) {})
	}
}

// What the references of 20,000 Pods cost a Graph, which most of them have in common.
func BenchmarkGraph(b *testing.B) {
	table, err := BuiltIn()
	if err != nil {
		b.Fatal(err)
	}
	pods := make([]object.Object, 20_000)
	for i := range pods {
		pods[i] = realPod(b, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		g := New(table, nil)
		for _, pod := range pods {
			g.Add(pod.Parts())
		}
		b.ReportMetric(float64(g.Bytes())/float64(len(pods)), "kept-bytes/pod")
	}
}

// Edges makes no more strings than there are names.
func TestEdgesAllocates(t *testing.T) {
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	pod, edges := realPod(t, 1), 0
	table.Edges(pod, func(Edge) { edges++ })
	if edges < 10 || len(pod.Raw) < 4<<10 {
		t.Fatalf("%d edges in %d bytes", edges, len(pod.Raw))
	}
	if n := testing.AllocsPerRun(100, func() { table.Edges(pod, func(Edge) {}) }); n > float64(edges+2) {
		t.Errorf("%.0f allocations for %d edges", n, edges)
	}
}

// What it costs to begin.
func BenchmarkBuiltIn(b *testing.B) {
	for b.Loop() {
		if _, err := BuiltIn(); err != nil {
			b.Fatal(err)
		}
	}
}

// What it costs to look at all strings of a custom resource, beside its references.
func BenchmarkAddCustom(b *testing.B) {
	table, err := NewTable([]Source{{Kind: "Widget.example.com", References: []Reference{{Path: "spec.secretName", To: "Secret"}}}})
	if err != nil {
		b.Fatal(err)
	}
	pod := realPod(b, 0)
	widget := pod
	widget.Kind.Group, widget.Kind.Kind = "example.com", "Widget"
	g := New(table, nil)
	b.SetBytes(int64(len(widget.Raw)))
	b.ReportAllocs()
	for b.Loop() {
		g.Add(widget.Parts())
	}
}
