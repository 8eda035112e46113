// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"
)

func TestLacking(t *testing.T) {
	t.Parallel()
	has := labels.Set{"app": "vault", "component": "server", "redis-role": "replica"}
	for selector, want := range map[string]string{
		"app=vault":                                  "",
		"app=vault,vault-active=true":                "vault-active",
		"app=vault,role in (leader),active=true":     "active",
		"app=vault,component=client,role=leader":     "",
		"role=leader":                                "role",
		"!gone,role=leader":                          "role",
		"active":                                     "active",
		"zone=a":                                     "",
		"role=leader,zone=a":                         "",
		"app=vault,redis-role=master":                "redis-role",
		"redis-role=master":                          "redis-role",
		"app=other,redis-role=master":                "",
		"cnpg.io/instanceRole=primary":               "cnpg.io/instanceRole",
		"app=vault,pod-template-hash=abc":            "",
		"app=vault,active,component notin (a)":       "active",
		"app=vault,active,component notin (server)":  "",
		"app=other,vault-active=true":                "",
		"app=vault,apps.kubernetes.io/pod-index=one": "",
	} {
		parsed, err := labels.Parse(selector)
		if err != nil {
			t.Fatal(err)
		}
		if got := lackingIn(has, parsed); got != want {
			t.Errorf("%s lacks %q, want %q", selector, got, want)
		}
	}
}
