// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/check"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/manifest"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// read reads the Cleaners of the files. Their scripts and schedules need no rights, so only what the API server would
// refuse is an error.
func (o *options) read(ctx context.Context) ([]*v1alpha1.Cleaner, error) {
	sources, err := manifest.Read(o.Session, o.files)
	if err != nil {
		return nil, err
	}
	checker, err := check.New(o.Session, nil)
	if err != nil {
		return nil, err
	}
	var cleaners []*v1alpha1.Cleaner
	var problems []manifest.Problem
	for _, source := range sources {
		docs, broken := source.Documents()
		problems = append(problems, broken...)
		for _, d := range docs {
			is, almost := check.IsCleaner(d)
			if almost != nil {
				problems = append(problems, *almost)
			}
			if is {
				checked := checker.WithoutScripts(ctx, d)
				problems = append(problems, checked.Problems...)
				cleaners = append(cleaners, checked.Cleaner)
			}
		}
	}
	for _, p := range problems {
		if p.Code.Severity() == codes.SeverityError {
			check.Print(o.ErrOut, o.Paint(o.ErrOut), p)
		}
	}
	switch n := manifest.CountErrors(problems); {
	case n > 0:
		return nil, terminal.Fail("", fmt.Errorf("%s in the Cleaners; no Role was printed", terminal.Counted(n, "error")), "")
	case len(cleaners) == 0:
		return nil, terminal.Fail(codes.FileNoCleaner, errors.New("there is no Cleaner in "+strings.Join(o.files, " ")), "")
	}
	return cleaners, nil
}

// print prints the manifests.
func (o *options) print(documents []string) error {
	if o.output != "json" {
		_, err := fmt.Fprint(o.Out, strings.Join(documents, "---\n"))
		return err
	}
	items := make([]any, len(documents))
	for i, text := range documents {
		if err := yaml.Unmarshal([]byte(text), &items[i]); err != nil {
			return err
		}
	}
	return terminal.WriteJSON(o.Out, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
}
