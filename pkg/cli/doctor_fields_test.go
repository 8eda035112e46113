// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
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
	checked := c.checked()
	for check, want := range map[string]string{
		"cleaners": "do not edit the Cleaner: apply the CustomResourceDefinitions first (see the check crds), then apply the Cleaner's own manifest again",
		"schedules": "edit no Cleaner before the CustomResourceDefinitions are right (see the check crds); then correct spec.schedule: " +
			"kubectl edit cleaner " + c.patient.Name,
	} {
		var got []string
		for _, line := range checked {
			if line.Check == check {
				got = append(got, line.WayOut)
			}
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("the ways out of the check %s are %q, want %q", check, got, want)
		}
	}
}

// TestStopWhileFieldsAreDropped: the API server drops also what a Cleaner would say of the stop.
func TestStopWhileFieldsAreDropped(t *testing.T) {
	c := newClinic(t)
	defer c.alter(func(v *apiextensionsv1.CustomResourceDefinitionVersion) {
		delete(v.Schema.OpenAPIV3Schema.Properties["spec"].Properties, "storeResourcePath")
	})()()
	got := c.call(t.Context(), nil, "stop", "-n", c.namespace)
	if got.code != codes.ExitDone || !strings.Contains(got.errOut, "whether the operator knows of it could not be seen: ") {
		t.Errorf("exit %d:\n%s", got.code, got.errOut)
	}
	got = c.call(t.Context(), nil, "resume", "-n", c.namespace)
	if got.code != codes.ExitDone || !strings.Contains(got.errOut, "no run begins now. To see what to do: kubectl cleaner doctor") {
		t.Errorf("exit %d:\n%s", got.code, got.errOut)
	}
}

// TestPreviewOfAFileWhileFieldsAreDropped: what is applied now loses fields.
func TestPreviewOfAFileWhileFieldsAreDropped(t *testing.T) {
	c := newClinic(t)
	defer c.alter(func(v *apiextensionsv1.CustomResourceDefinitionVersion) {
		delete(v.Schema.OpenAPIV3Schema.Properties["spec"].Properties, "storeResourcePath")
	})()()
	path := cleanerFile(t, t.TempDir(), "maps", `{group: "", version: v1, kind: ConfigMap, namespace: `+c.namespace+`}`, "  action: Scan\n")
	got := c.call(t.Context(), nil, "preview", "-f", path)
	if !strings.Contains(got.errOut, "hint: do not apply it now. To see what to do first: kubectl cleaner doctor") {
		t.Errorf("exit %d:\n%s", got.code, got.errOut)
	}
}

// checked are all lines.
func (c *clinic) checked() []doctor.Line {
	c.Helper()
	var result struct{ Checks []doctor.Line }
	must(c.T, json.Unmarshal([]byte(c.call(c.Context(), nil, "doctor", "-o", "json").out), &result))
	return result.Checks
}

// patched runs the patch of a way out: the text between its quotes.
func (c *clinic) patched(wayOut, before string, send func(patch client.Patch) error, typ types.PatchType) {
	c.Helper()
	_, after, found := strings.Cut(wayOut, before+"'")
	patch, _, ends := strings.Cut(after, "'")
	if !found || !ends {
		c.Fatalf("there is no %q in %q", before, wayOut)
	}
	must(c.T, send(client.RawPatch(typ, []byte(patch))))
}

// TestDoctorRemovesAForeignConversion: server-side apply leaves fields of others, also where fields are missing besides.
func TestDoctorRemovesAForeignConversion(t *testing.T) {
	c := newClinic(t)
	definitions, crd := c.crds("cleaners")
	conversion := &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
		ConversionReviewVersions: []string{"v1"},
		ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: ptr.To("https://localhost:1/convert")},
	}}
	before := crd.DeepCopy()
	delete(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties, "storeResourcePath")
	crd.Spec.Conversion = conversion
	must(t, definitions.Update(t.Context(), crd))
	defer func() {
		crd.Spec = before.Spec
		must(t, definitions.Update(t.Context(), crd))
		c.published(true)
	}()
	c.published(false)
	lines := c.checked()
	i := slices.IndexFunc(lines, func(l doctor.Line) bool { return strings.Contains(l.Message, "spec.conversion") })
	if i < 0 || lines[i].Object != "CustomResourceDefinition/"+crd.Name {
		t.Fatalf("no line is about spec.conversion: %v", lines)
	}
	c.patched(lines[i].WayOut, "kubectl patch crd "+crd.Name+" --type=json -p=", func(patch client.Patch) error {
		return definitions.Patch(t.Context(), crd, patch)
	}, types.JSONPatchType)
	if crd.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter {
		t.Errorf("the conversion is still %v", crd.Spec.Conversion)
	}
}

// TestDoctorSaysWhatComesBeforeTheDefinitions: the API server refuses ours while objects may be stored in a version that
// they do not have.
func TestDoctorSaysWhatComesBeforeTheDefinitions(t *testing.T) {
	c := newClinic(t)
	_, before := c.crds("cleaners")
	c.storeAs("v1")
	definitions, crd := c.crds("cleaners")
	apply := func() error {
		_, now := c.crds("cleaners")
		now.Spec = before.Spec
		return definitions.Update(t.Context(), now)
	}
	if err := apply(); err == nil || !strings.Contains(err.Error(), "storedVersions") {
		t.Fatalf("the API server takes our definition at once: %v", err)
	}
	lines := c.checked()
	i := slices.IndexFunc(lines, func(l doctor.Line) bool { return strings.Contains(l.Message, "are stored as v1alpha1, v1") })
	if i < 0 || !strings.Contains(lines[i].WayOut, "(kubectl edit crd "+crd.Name+"). 2. Wait a minute, until "+
		"each API server knows it. 3. Write each object once more (kubectl get cleaners.apps.projectsveltos.io -o json | kubectl replace -f -)") {
		t.Fatalf("the first steps are not in %v", lines)
	}
	crd.Spec.Versions[0].Storage, crd.Spec.Versions[1].Storage = true, false
	must(t, definitions.Update(t.Context(), crd))
	c.rewritten()
	c.patched(lines[i].WayOut, "kubectl patch crd "+crd.Name+" --subresource=status --type=merge -p=", func(patch client.Patch) error {
		return definitions.Status().Patch(t.Context(), crd, patch)
	}, types.MergePatchType)
	must(t, apply())
	c.published(true)
}
