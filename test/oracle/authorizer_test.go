// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/pkg/auth/nodeidentifier"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/node"
)

// readable is what a kubelet may read of what the Pods on its Node name: the kind, and how it asks.
var readable = map[string]authorizer.AttributesRecord{
	"Secret":                        {Verb: "get", Resource: "secrets"},
	"ConfigMap":                     {Verb: "get", Resource: "configmaps"},
	"PersistentVolumeClaim":         {Verb: "get", Resource: "persistentvolumeclaims"},
	"ServiceAccount":                {Verb: "create", Resource: "serviceaccounts", Subresource: "token"},
	"ResourceClaim.resource.k8s.io": {Verb: "get", APIGroup: "resource.k8s.io", Resource: "resourceclaims"},
}

var anyName = regexp.MustCompile(`name-[0-9]+`)

// TestNodeAuthorizer asks the API server's authorizer of Nodes for each text in a Pod whether it is the name of something that the Pod's kubelet may
// read. Whatever is, pkg/graph must find.
func TestNodeAuthorizer(t *testing.T) {
	table, seen := table(t), map[string]int{}
	for seed := range int64(tries / 5) {
		var p corev1.Pod
		fill := random(seed)
		fill.Fill(&p.Spec)
		fill.Fill(&p.Status.ResourceClaimStatuses)
		fill.Fill(&p.Status.ExtendedResourceClaimStatus)
		p.Name, p.Namespace, p.UID, p.Spec.NodeName = "web", "shop", "1", "one"
		raw, err := json.Marshal(&p)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{"default"}
		for _, name := range slices.Compact(anyName.FindAllString(string(raw), -1)) {
			names = append(names, name, "web-"+name) // the claim of an ephemeral volume has both names
		}
		g := node.NewGraph()
		g.AddPod(&p)
		may := node.NewAuthorizer(g, nodeidentifier.NewDefaultNodeIdentifier(), nil)
		for kind, ask := range readable {
			found := edges(t, table, "Pod", &p, kind)
			for _, name := range names {
				ask.Name, ask.Namespace, ask.ResourceRequest = name, "shop", true
				ask.User = &user.DefaultInfo{Name: "system:node:one", Groups: []string{"system:nodes"}}
				decision, _, err := may.Authorize(t.Context(), ask)
				if err != nil {
					t.Fatal(err)
				}
				if decision != authorizer.DecisionAllow {
					continue
				}
				if seen[kind]++; !found["shop/"+name] {
					t.Errorf("seed %d: no %s %s among %v", seed, kind, name, found)
				}
			}
		}
		if t.Failed() {
			return
		}
	}
	for kind := range readable {
		if seen[kind] < tries/10 {
			t.Errorf("the authorizer knew %d names of kind %s in %d Pods", seen[kind], kind, tries/5)
		}
	}
}
