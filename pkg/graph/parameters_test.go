// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"strings"
	"testing"
)

// policies and their bindings that choose parameters by labels. No policy is called gone.
const policies = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: of-config-maps}
spec: {paramKind: {apiVersion: v1, kind: ConfigMap}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: of-limits}
spec: {paramKind: {apiVersion: example.com/v1, kind: Limit}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: of-nothing}
spec: {}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: of-secrets}
spec: {paramKind: {apiVersion: v1, kind: Secret}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: labels}
spec: {policyName: of-config-maps, paramRef: {namespace: rules, selector: {matchLabels: {limits: "yes"}}, parameterNotFoundAction: Deny}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: any-namespace}
spec: {policyName: of-config-maps, paramRef: {selector: {matchExpressions: [{key: own, operator: Exists}]}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: all}
spec: {policyName: of-config-maps, paramRef: {namespace: chosen, selector: {}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: secrets}
spec: {policyName: of-secrets, paramRef: {namespace: vault, selector: {matchLabels: {a: b}}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: other-kind}
spec: {policyName: of-limits, paramRef: {namespace: other, selector: {}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-kind}
spec: {policyName: of-nothing, paramRef: {namespace: other, selector: {}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-policy}
spec: {policyName: gone, paramRef: {namespace: lost, selector: {matchLabels: {a: b}}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: unreadable}
spec: {policyName: of-secrets, paramRef: {namespace: odd, selector: {matchExpressions: [{key: a, operator: Unheard}]}}}
---
apiVersion: groupsnapshot.storage.k8s.io/v1beta1
kind: VolumeGroupSnapshot
metadata: {namespace: db, name: nightly}
spec: {source: {selector: {matchLabels: {group: db}}}}
---
apiVersion: groupsnapshot.storage.k8s.io/v1beta1
kind: VolumeGroupSnapshot
metadata: {namespace: all, name: nightly}
spec: {source: {selector: {}}}`

// A binding of an admission policy chooses the objects of its policy's kind that have the labels, in its namespace, and no others.
func TestParameters(t *testing.T) {
	for of, test := range map[string]struct{ labels, want string }{
		"ConfigMap rules/a":   {`{limits: "yes"}`, "used"},
		"ConfigMap rules/b":   {`{limits: "no"}`, ""},
		"ConfigMap rules/c":   {`{}`, ""},
		"Secret rules/a":      {`{limits: "yes"}`, ""},
		"ConfigMap shop/a":    {`{limits: "yes"}`, ""},
		"ConfigMap shop/own":  {`{own: ""}`, "used"},
		"Secret shop/own":     {`{own: ""}`, ""},
		"ConfigMap chosen/a":  {`{}`, "read"},
		"Secret chosen/a":     {`{}`, ""},
		"Secret vault/a":      {`{a: b}`, "used"},
		"Secret vault/b":      {`{a: c}`, ""},
		"ConfigMap vault/a":   {`{a: b}`, ""},
		"ConfigMap other/a":   {`{a: b}`, ""},
		"Secret other/a":      {`{a: b}`, ""},
		"ConfigMap lost/a":    {`{a: b}`, "read"},
		"Secret lost/a":       {`{a: b}`, "read"},
		"Secret lost/b":       {`{}`, ""},
		"Secret odd/a":        {`{}`, "read"},
		"ServiceAccount odd/": {`{}`, ""},

		"PersistentVolumeClaim db/a":    {`{group: db}`, "used"},
		"PersistentVolumeClaim db/b":    {`{group: web}`, ""},
		"PersistentVolumeClaim all/a":   {`{}`, "read"},
		"PersistentVolumeClaim rules/a": {`{limits: "yes", group: db}`, ""},
		"ConfigMap db/a":                {`{group: db}`, ""},
	} {
		table, err := BuiltIn()
		if err != nil {
			t.Fatal(err)
		}
		g, name := New(table, nil), named(of)
		g.Watch(name)
		for range 2 { // as when lists begin anew
			for _, o := range loaded(t, strings.TrimSpace(policies)) {
				g.Add(o.Parts())
			}
			g.Saw(loaded(t, "kind: "+name.Kind+"\napiVersion: v1\nmetadata: {namespace: "+name.Namespace+", name: "+name.Name+", labels: "+test.labels+"}")[0])
		}
		use, got := g.Use(name), ""
		switch {
		case use.IsUsed():
			got = "used"
		case use.Read:
			got = "read"
		}
		if got != test.want {
			t.Errorf("%s is %q, want %q: %+v", of, got, test.want, use)
		}
		if seen := len(g.Evidence(name)) > 0; seen != (test.want != "") {
			t.Errorf("there is evidence for %s: %t", of, seen)
		}
	}
}
