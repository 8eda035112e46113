// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// A Service may be called by its host: in a probe, and behind the name of a Pod of a StatefulSet.
func TestHostsInTexts(t *testing.T) {
	table, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	for container, want := range map[string]string{ // what stands after "not" is not mentioned
		`"livenessProbe": {"httpGet": {"host": "kafka", "port": 80}}`:                                              "shop/kafka",
		`"readinessProbe": {"tcpSocket": {"host": "kafka.team.svc", "port": 80}}`:                                  "team/kafka not shop/kafka",
		`"startupProbe": {"httpGet": {"host": "$(X)", "path": "/kafka"}}, "env": [{"name": "X", "value": "abcd"}]`: "shop/abcd not shop/kafka",
		`"lifecycle": {"preStop": {"httpGet": {"host": "kafka"}}}`:                                                 "shop/kafka",
		`"env": [{"name": "A", "value": "kafka-0.kafka.team.svc.cluster.local:9092"}]`:                             "team/kafka not shop/kafka",
		`"env": [{"name": "A", "value": "node.kafka.team"}]`:                                                       "team/kafka not shop/kafka",
		`"env": [{"name": "A", "value": "a-0.kafka:9092,a-1.kafka:9092"}]`:                                         "shop/kafka not team/kafka",
		`"env": [{"name": "A", "value": "$(POD).kafka"}]`:                                                          "shop/kafka not team/kafka",
		`"env": [{"name": "A", "value": "$(POD).kafka.$(NS).svc"}]`:                                                "team/kafka",
		`"env": [{"name": "A", "value": "app.kafka v1.kafka"}]`:                                                    "not shop/kafka",
	} {
		g := New(table, map[schema.GroupKind]bool{})
		raw := `{"metadata": {"name": "p", "namespace": "shop"}, "spec": {"containers": [{` + container + `}]}}`
		kind := object.Kind{GroupVersionKind: podKind.WithVersion("v1"), Namespaced: true}
		g.Add(object.Object{Kind: kind, Namespace: "shop", Name: "p", Raw: []byte(raw)}.Parts())
		mentioned, not, _ := strings.Cut(want, "not")
		for i, names := range []string{mentioned, not} {
			for text := range strings.FieldsSeq(names) {
				namespace, name, _ := strings.Cut(text, "/")
				if is := g.IsMentioned(Name{GroupKind: serviceKind, Namespace: namespace, Name: name}); is != (i == 0) {
					t.Errorf("%s: %s is mentioned: %t", container, text, is)
				}
			}
		}
	}
}
