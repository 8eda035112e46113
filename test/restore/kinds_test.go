// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/journal/restore"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
)

// documented are the fields that docs/how-to/restore.md says a restored object does not have as they were.
var documented = map[string][]string{
	"": {
		"metadata.uid", "metadata.resourceVersion", "metadata.generation", "metadata.creationTimestamp", "metadata.managedFields",
		"metadata.generateName", "metadata.finalizers", "metadata.annotations.apps~projectsveltos~io/restored-from", "status",
	},
	"Deployment":                {"metadata.annotations.deployment~kubernetes~io/revision"},
	"Service":                   {"spec.clusterIP", "spec.clusterIPs", "spec.ports.nodePort"},
	"CertificateSigningRequest": {"spec.username", "spec.uid", "spec.groups", "spec.extra"},
	"Job": {
		"spec.selector.matchLabels.batch~kubernetes~io/controller-uid", "spec.template.metadata.labels.controller-uid",
		"spec.template.metadata.labels.batch~kubernetes~io/controller-uid", "metadata.labels.controller-uid", "metadata.labels.batch~kubernetes~io/controller-uid",
	},
}

// without takes the documented fields out.
func without(kind string, value map[string]any) map[string]any {
	value = runtime.DeepCopyJSON(value)
	for _, of := range []string{"", kind} {
		for _, field := range documented[of] {
			steps := strings.Split(field, ".")
			for i := range steps {
				steps[i] = strings.ReplaceAll(steps[i], "~", ".")
			}
			remove(value, steps)
		}
	}
	if metadata := value["metadata"].(map[string]any); metadata["annotations"] != nil && len(metadata["annotations"].(map[string]any)) == 0 {
		delete(metadata, "annotations")
	}
	return value
}

// remove goes into lists too.
func remove(value any, steps []string) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			remove(item, steps)
		}
	case map[string]any:
		if len(steps) == 1 {
			delete(value, steps[0])
		} else {
			remove(value[steps[0]], steps[1:])
		}
	}
}

// objects creates one object of each kind of testdata/objects.yaml, and returns them with their kinds.
func (b *bench) objects() ([]object.Object, []schema.GroupVersionKind) {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "objects.yaml"))
	must(b.t, err)
	text = bytes.ReplaceAll(text, []byte("NS"), []byte(b.namespace))
	reader := selector.NewReader(b.raw, clock.RealClock{})
	var created []object.Object
	var kinds []schema.GroupVersionKind
	for _, document := range strings.Split(string(text), "\n---\n") {
		asJSON, err := yaml.ToJSON([]byte(document))
		must(b.t, err)
		decoder := json.NewDecoder(bytes.NewReader(asJSON))
		decoder.UseNumber()
		value := map[string]any{}
		must(b.t, decoder.Decode(&value))
		if value["kind"] == "CertificateSigningRequest" {
			must(b.t, unstructured.SetNestedField(value, signingRequest(b.t), "spec", "request"))
		}
		gvk := schema.FromAPIVersionAndKind(value["apiVersion"].(string), value["kind"].(string))
		kind, err := reader.Resolve(b.t.Context(), gvk)
		must(b.t, err)
		created = append(created, b.create(kind, value))
		kinds = append(kinds, gvk)
	}
	return created, kinds
}

func signingRequest(t *testing.T) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	must(t, err)
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

// Every kind is deleted by a run and restored: equal but for documented fields. A second restore changes nothing.
func TestEveryKindComesBack(t *testing.T) {
	b := newBench(t)
	created, kinds := b.objects()
	if len(kinds) < 30 {
		t.Fatalf("there are %d kinds only", len(kinds))
	}
	before := make([]map[string]any, len(created))
	for i, o := range created {
		before[i] = b.get(o)
	}
	cleaner := b.cleaner(v1alpha1.ActionDelete, kinds)
	record := b.run(cleaner)
	wantActed(t, record, int64(len(created)))
	// The Namespace and what the controllers hold may still be ending: what is not a Namespace is waited for.
	b.gone(created[1:]...)

	wantResults(t, b.restore(record, restore.Options{}), len(created), restore.Restored)
	after := make([]map[string]any, len(created))
	for i, o := range created {
		after[i] = b.get(o)
		if diff := cmp.Diff(without(o.Kind.Kind, before[i]), without(o.Kind.Kind, after[i])); diff != "" {
			t.Errorf("%s (-before +restored):\n%s", o, diff)
		}
		if from := at(after[i], "metadata", "annotations", v1alpha1.RestoredFromAnnotation); from != string(record.UID) {
			t.Errorf("%s is marked as from run %v, want %s", o, from, record.UID)
		}
	}
	wantResults(t, b.restore(record, restore.Options{}), len(created), restore.Already)
	wantResults(t, b.restore(record, restore.Options{Force: true}), len(created), restore.Already)
	for i, o := range created {
		if was, is := at(after[i], "metadata", "uid"), at(b.get(o), "metadata", "uid"); was != is {
			t.Errorf("a second restore made another %s", o)
		}
	}

	// The Cleaner leaves them alone until somebody confirms.
	again := b.run(cleaner)
	wantActed(t, again, 0)
	for _, outcome := range again.Status.Objects {
		if outcome.Outcome != v1alpha1.OutcomeProtected || !strings.HasPrefix(outcome.Reason, "it was restored from the run with UID "+string(record.UID)+"; to let Cleaners touch it again: kubectl annotate ") {
			t.Errorf("%s %s is %s: %s", outcome.Kind, outcome.Name, outcome.Outcome, outcome.Reason)
		}
	}
}

func at(value map[string]any, fields ...string) any {
	found, _, _ := unstructured.NestedFieldNoCopy(value, fields...)
	return found
}
