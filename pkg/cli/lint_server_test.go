// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/kinds"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

// TestLintSaysWhatTheServerSays offers the Cleaners of testdata/lint to a real API server: lint must refuse those that it
// refuses, and no others, and must tell each cause that it gives.
func TestLintSaysWhatTheServerSays(t *testing.T) {
	env := realCluster(t)
	c, err := client.New(env.Config, client.Options{})
	must(t, err)
	pool := sandbox.New(sandbox.Config{Command: scriptChild, Clock: clock.RealClock{}})
	defer pool.Close()
	s := &terminal.Session{Options: terminal.Options{Now: func() time.Time { return now }}}
	checker, err := check.New(s, pool)
	must(t, err)
	files, err := filepath.Glob("testdata/lint/*")
	must(t, err)
	refused, accepted, causes := 0, 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		docs, _ := (&manifest.Source{Name: file, Text: text}).Documents()
		for _, d := range docs {
			if is, _ := check.IsCleaner(d); !is {
				continue
			}
			linted, err := checker.Check(t.Context(), d)
			must(t, err)
			offer := func(validation string) error {
				u := &unstructured.Unstructured{Object: d.Value}
				return c.Create(t.Context(), u.DeepCopy(), client.DryRunAll, client.FieldValidation(validation))
			}
			strict := offer("Strict")
			if lints := slices.ContainsFunc(linted.Problems, isServers); lints != (strict != nil) {
				t.Errorf("%s:%d: the server says %v, lint says %v", file, d.Line, strict, linted.Problems)
			}
			if strict == nil {
				accepted++
				continue
			}
			refused++
			var status *apierrors.StatusError
			if !errors.As(offer("Ignore"), &status) || status.ErrStatus.Details == nil {
				continue // it minds unknown fields only
			}
			for _, cause := range status.ErrStatus.Details.Causes {
				told := slices.ContainsFunc(linted.Problems, func(p manifest.Problem) bool {
					return isServers(p) && strings.HasPrefix(p.Field, cause.Field)
				})
				causes++
				if !told && cause.Field != "<nil>" { // a way to say that the cause before kept it from looking on
					t.Errorf("%s:%d: lint does not tell what the server says of %s: %s", file, d.Line, cause.Field, cause.Message)
				}
			}
		}
	}
	if refused < 8 || accepted < 8 || causes < 30 {
		t.Errorf("only %d refused for %d causes, and %d accepted", refused, causes, accepted)
	}
}

// isServers reports whether a problem is one that the API server finds; the others are the operator's, or ours.
func isServers(p manifest.Problem) bool {
	return slices.Contains([]codes.Code{codes.FieldUnknown, codes.FieldMissing, codes.FieldType, codes.FieldValue, codes.FieldRule}, p.Code)
}

// TestBuiltInSchemasAreTheServers compares what lint knows of each built-in kind with what a real API server publishes.
func TestBuiltInSchemasAreTheServers(t *testing.T) {
	env := realCluster(t)
	config := rest.CopyConfig(env.Config)
	config.GroupVersion, config.NegotiatedSerializer = &schema.GroupVersion{}, clientgoscheme.Codecs.WithoutConversion()
	raw, err := rest.RESTClientFor(config)
	must(t, err)
	known, err := kinds.New()
	must(t, err)
	var schemas cel.Schemas
	published := schemas.At(raw)
	compared := 0
	for gvk := range clientgoscheme.Scheme.AllKnownTypes() {
		if !slices.Contains([]string{"Pod", "Deployment", "Job", "CronJob", "Service", "Secret", "PersistentVolumeClaim", "Node", "Ingress", "HorizontalPodAutoscaler", "NetworkPolicy"}, gvk.Kind) {
			continue
		}
		ours := known.Schema(gvk)
		theirs, err := published.Schema(t.Context(), gvk)
		must(t, err)
		if theirs == nil || ours == nil {
			continue // a version that is not served
		}
		compared++
		compareSchemas(t, gvk.Kind, ours, theirs)
	}
	if compared < 11 {
		t.Errorf("only %d kinds were compared", compared)
	}
}

// compareSchemas finds fields of the server that lint does not know, or takes for something else. The server may be older.
func compareSchemas(t *testing.T, path string, ours, theirs *spec.Schema) {
	t.Helper()
	for len(theirs.Type) == 0 && len(theirs.AllOf) == 1 {
		theirs = &theirs.AllOf[0]
	}
	if len(ours.Type) == 0 || len(theirs.Type) == 0 { // anything
		return
	}
	if !slices.Equal(ours.Type, theirs.Type) {
		t.Errorf("%s is %v, and the server says %v", path, ours.Type, theirs.Type)
		return
	}
	for name, property := range theirs.Properties {
		mine, ok := ours.Properties[name]
		if path == "Pod.status.nodeAllocatableResourceClaimStatuses[]" {
			continue // an alpha field, which differs from version to version
		}
		if !ok {
			t.Errorf("%s has no field %s", path, name)
			continue
		}
		compareSchemas(t, path+"."+name, &mine, &property)
	}
	if ours.Items != nil && theirs.Items != nil {
		compareSchemas(t, path+"[]", ours.Items.Schema, theirs.Items.Schema)
	}
}
