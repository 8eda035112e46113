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
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
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
