// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/doctor"
)

// TestDoctorLetsNobodyEditWhileFieldsAreDropped: an edit now stores a Cleaner without the dropped fields, as if its
// author had taken them out. Afterwards it deletes too much.
func TestDoctorLetsNobodyEditWhileFieldsAreDropped(t *testing.T) {
	c := newClinic(t)
	c.edit(func(s *v1alpha1.CleanerSpec) { s.Schedule = "0 0 31 2 *" })
	c.says(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonCRDOutdated, "it lacks fields")
	defer c.alter(func(v *apiextensionsv1.CustomResourceDefinitionVersion) {
		delete(v.Schema.OpenAPIV3Schema.Properties["spec"].Properties, "storeResourcePath")
	})()()
	var result struct{ Checks []doctor.Line }
	must(t, json.Unmarshal([]byte(c.call(t.Context(), nil, "doctor", "-o", "json").out), &result))
	for check, want := range map[string]string{
		"cleaners": "do not edit the Cleaner: apply the CustomResourceDefinitions first (see the check crds), then apply the Cleaner's own manifest again",
		"schedules": "edit no Cleaner before the CustomResourceDefinitions are right (see the check crds); then correct spec.schedule: " +
			"kubectl edit cleaner " + c.patient.Name,
	} {
		var got []string
		for _, line := range result.Checks {
			if line.Check == check {
				got = append(got, line.WayOut)
			}
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("the ways out of the check %s are %q, want %q", check, got, want)
		}
	}
}
