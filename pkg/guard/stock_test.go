// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// What Kubernetes creates itself is protected from a Delete. Some of it may be transformed.
func TestStockObjectsAreProtected(t *testing.T) {
	t.Parallel()
	const (
		rbac, flow = "rbac.authorization.k8s.io", "flowcontrol.apiserver.k8s.io"
		bootstrap  = `{"metadata":{"labels":{"kubernetes.io/bootstrapping":"rbac-defaults"}}}`
		roles      = `{"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"true"}}}`
		rolesOff   = `{"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}}}`
		levels     = `{"metadata":{"annotations":{"apf.kubernetes.io/autoupdate-spec":"true"}}}`
		addon      = `{"metadata":{"labels":{"addonmanager.kubernetes.io/mode":"EnsureExists"}}}`
		plain      = `{"metadata":{}}`
	)
	const both, deletes, none = "Delete, Transform", "Delete", ""
	tests := map[string]struct {
		group, kind, namespace, name, raw string
		// from are the actions that the object is protected from, and why is a part of the reason.
		from, why string
	}{
		"a bootstrap ClusterRole":              {rbac, "ClusterRole", "", "view", bootstrap, both, "label kubernetes.io/bootstrapping"},
		"a bootstrap object of another kind":   {"", "ConfigMap", "shop", "a", bootstrap, both, "label kubernetes.io/bootstrapping"},
		"a ClusterRole that is kept up":        {rbac, "ClusterRole", "", "edit", roles, both, "annotation rbac.authorization.kubernetes.io/autoupdate"},
		"a RoleBinding that is not kept up":    {rbac, "RoleBinding", "shop", "edit", rolesOff, both, "annotation rbac.authorization.kubernetes.io/autoupdate"},
		"the annotation on another kind":       {"", "ConfigMap", "shop", "a", roles, none, ""},
		"a reserved name of a ClusterRole":     {rbac, "ClusterRole", "", "system:coredns", plain, both, "names that begin with system: are reserved"},
		"a reserved name of a RoleBinding":     {rbac, "RoleBinding", "kube-public", "system:controller:x", plain, both, "names that begin with system: are reserved"},
		"a name that only looks reserved":      {rbac, "ClusterRole", "", "systems", plain, none, ""},
		"a ClusterRole of a user":              {rbac, "ClusterRole", "", "mine", plain, none, ""},
		"a FlowSchema":                         {flow, "FlowSchema", "", "exempt", levels, both, "annotation apf.kubernetes.io/autoupdate-spec"},
		"a PriorityLevelConfiguration":         {flow, "PriorityLevelConfiguration", "", "exempt", levels, both, "annotation apf.kubernetes.io/autoupdate-spec"},
		"a FlowSchema of a user":               {flow, "FlowSchema", "", "mine", plain, none, ""},
		"an add-on":                            {"apps", "Deployment", "shop", "dns", addon, deletes, "label addonmanager.kubernetes.io/mode"},
		"the root certificate":                 {"", "ConfigMap", "shop", "kube-root-ca.crt", plain, both, "Kubernetes creates it in each namespace"},
		"a ConfigMap of another name":          {"", "ConfigMap", "shop", "root-ca.crt", plain, none, ""},
		"a Secret of the root's name":          {"", "Secret", "shop", "kube-root-ca.crt", plain, none, ""},
		"the default ServiceAccount":           {"", "ServiceAccount", "shop", "default", plain, deletes, "Kubernetes creates it in each namespace"},
		"a ServiceAccount of a user":           {"", "ServiceAccount", "shop", "mine", plain, none, ""},
		"the API server's Service":             {"", "Service", "default", "kubernetes", plain, deletes, "the API server creates it"},
		"the API server's EndpointSlice":       {"discovery.k8s.io", "EndpointSlice", "default", "kubernetes", plain, deletes, "the API server creates it"},
		"a Service of the API server's name":   {"", "Service", "shop", "kubernetes", plain, none, ""},
		"the default Namespace":                {"", "Namespace", "", "default", plain, deletes, "the API server does not let it go"},
		"a system PriorityClass":               {"scheduling.k8s.io", "PriorityClass", "", "system-node-critical", plain, deletes, "the API server does not let it go"},
		"a ServiceAccount of another group":    {"example.com", "ServiceAccount", "shop", "default", plain, none, ""},
		"something of a user's that is called": {"", "Pod", "shop", "default", plain, none, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := object.Kind{GroupVersionKind: schema.GroupVersionKind{Group: test.group, Version: "v1", Kind: test.kind}}
			o := object.Object{Kind: kind, Namespace: test.namespace, Name: test.name, Raw: []byte(test.raw)}
			var from []string
			for _, action := range []v1alpha1.Action{v1alpha1.ActionDelete, v1alpha1.ActionTransform} {
				reason, err := Protection{}.Reason(action, o, nil)
				if err != nil || reason != "" && !strings.Contains(reason, test.why) {
					t.Fatalf("%s: %q, %v", action, reason, err)
				}
				if reason != "" {
					from = append(from, string(action))
				}
			}
			if got := strings.Join(from, ", "); got != test.from {
				t.Errorf("protected from %q, want %q", got, test.from)
			}
			scan, err := Protection{}.Reason(v1alpha1.ActionScan, o, nil)
			if err != nil || (scan != "") != (test.from != none) {
				t.Errorf("a Scan is told %q, %v", scan, err)
			}
		})
	}
}
