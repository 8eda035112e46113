// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/json"
	"testing"

	yamlnode "go.yaml.in/yaml/v3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
)

// A whole number is a number, and schemas call what may be a number or a text a string of a format.
func TestNumbersFit(t *testing.T) {
	either := *spec.StringProperty()
	either.Format = "int-or-string"
	types := &spec.Schema{SchemaProps: spec.SchemaProps{Properties: map[string]spec.Schema{
		"ratio": *spec.Float64Property(), "either": either, "text": *spec.StringProperty(),
	}}}
	for field, wrong := range map[string]int{"ratio": 0, "either": 0, "text": 1} {
		r := &Result{Document: &manifest.Document{Node: &yamlnode.Node{}}}
		if r.fits("spec.mergePatch", "Gauge", map[string]any{field: json.Number("1")}, types); len(r.Problems) != wrong {
			t.Errorf("%s: %+v, want %d problems", field, r.Problems, wrong)
		}
	}
}
