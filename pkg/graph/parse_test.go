// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Each error says what is wrong and what to write, and all of them come at once.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		`kind: Widget`: `references: this is no list: begin each kind with a dash, as in "- kind: Deployment.apps"`,
		`- 1`:          `references: entry 1 (it has no kind): it is no map: write "kind:" and "references:"`,
		`- kind: Widget.example.com
- kinds: [x]
  references: [{path: a, two: b, To: Secret}]`: `references: entry 1 (Widget.example.com): it says nothing: write references, podTemplates, podSpecs, claimSpecs or guess
references: entry 2 (it has no kind): there is no field "kinds": it can be kind, podTemplates, podSpecs, claimSpecs, guess, texts, references, strength
references: entry 2 (it has no kind): there is no field "references[0].To": it can be FIELDS
references: entry 2 (it has no kind): there is no field "references[0].two": it can be FIELDS
references: entry 2 (it has no kind): kind is missing: write the kind whose objects hold the names, with its group after a dot, as in Deployment.apps`,
		`- kind: Widget.example.com
  references: [{paht: spec.theme, to: "ConfigMap.v1"}, {path: "a[", to: Secret}]`: `references: entry 1 (Widget.example.com): there is no field "references[0].paht": it can be FIELDS
references: entry 1 (Widget.example.com): references[0].to: "ConfigMap.v1" is no kind: write it with its group after a dot and without a version, as in ConfigMap or Deployment.apps
references of Widget.example.com: path "": path is missing: write which field holds the name, for example spec.secretName
references of Widget.example.com: path "a[": there is no ] after "["`,
		`- kind: apps/v1/Deployment
  references: [{path: a, to: Secret.v1beta2}, {path: b, kindField: kind, kinds: [Secret, v1/ConfigMap, Role.RBAC, Shop.example.com.v1, Unknown.example.com]}]`: `references: entry 1 (apps/v1/Deployment): "apps/v1/Deployment" is no kind: HOW
references: entry 1 (apps/v1/Deployment): references[0].to: "Secret.v1beta2" is no kind: HOW
references: entry 1 (apps/v1/Deployment): references[1].kinds: "v1/ConfigMap" is no kind: HOW
references: entry 1 (apps/v1/Deployment): references[1].kinds: "Role.RBAC" is no kind: HOW
references: entry 1 (apps/v1/Deployment): references[1].kinds: "Shop.example.com.v1" is no kind: HOW
references: entry 1 (apps/v1/Deployment): references[1].kinds: nobody knows Unknown.example.com`,
		`- kind: Widget
  references: [{path: [a], to: Secret}]`: `references: entry 1 (Widget): references.path is a array: write a string`,
		`- kind: Widget.example.com
  podTemplates: ["a..b"]
  references:
  - {path: "a[", to: Secret}
  - {path: spec.x}
  - {to: Secret}
  - {path: spec.y, to: Secret, format: "x-{", kinds: [Secret], strength: Sure, kindField: "a[]"}
  - {path: spec.z, to: Secret, format: "x", groupField: group}
  - {path: spec.a, to: Secret, format: "secret:{}"}
  - {path: "spec.l[]", to: Secret, absent: a}`: `references of Widget.example.com: path "a[": there is no ] after "["
references of Widget.example.com: path "spec.x": to is missing: write the kind that is named, with its group after a dot, as in Secret or Role.rbac.authorization.k8s.io, ` +
			`or kindField, if a field beside the name says it
references of Widget.example.com: path "": path is missing: write which field holds the name, for example spec.secretName
references of Widget.example.com: path "spec.y": "a[]" must lead to one field, without [] and *
format "x-{" has a { without }
there is no strength "Sure": write Names, Learned, Reads or Hints, or leave it out
references of Widget.example.com: path "spec.z": format "x" has no {}: put it where the name goes, as in {}-tls, or write namespace/name
groupField and kinds go with kindField only: write to, or add kindField
references of Widget.example.com: path "spec.a": format "secret:{}" adds "secret:", and no name has such signs: if the name is a part of the text, write the path under texts
references of Widget.example.com: path "spec.l[]": absent goes with a path that ends with a field's name
references of Widget.example.com: podTemplates "a..b": a field's name is missing before ".b"`,
	} {
		_, err := Parse([]byte(text), func(kind schema.GroupKind) error {
			if kind.Kind == "Unknown" {
				return fmt.Errorf("nobody knows %s", kind)
			}
			return nil
		})
		want = strings.ReplaceAll(want, "HOW", "write it with its group after a dot and without a version, as in ConfigMap or Deployment.apps")
		want = strings.ReplaceAll(want, "FIELDS", "path, to, kinds, kindField, groupField, namespaceField, namespaceFrom, namespace, optionalField, optional, where, absent, format, strength")
		if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	}
}
