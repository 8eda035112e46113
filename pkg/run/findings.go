// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/finding"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// readFindings finds what the Cleaner's selectors ask for, with the run's own rights. Nil when they ask for nothing.
func (s Read) readFindings(ctx context.Context, t *task, memory *selector.Share, counts guard.Counts) (
	*survey.Findings, error,
) {
	if !t.cleaner.HasFindings() {
		return nil, nil
	}
	options := survey.Options{Now: s.Clock.Now(), Schemas: s.Learned}
	if s.Survey != nil {
		if err := s.Survey(ctx, &options); err != nil {
			return nil, fmt.Errorf("looking for findings: %w", err)
		}
	}
	observer := survey.Observer{List: func(kind object.Kind, _, _ int) {
		if t.observer.Lists != nil {
			t.observer.Lists(kind)
		}
	}, Unread: func(_ finding.List, err error, _ bool) error {
		if apierrors.IsForbidden(err) || t.preview && isNotShown(err) {
			return nil
		}
		return err
	}}
	return survey.For(ctx, t.who.Reader, memory, t.cleaner, counts, options, observer)
}

// isNotShown reports whether manifests, which a preview reads instead of a cluster, do not show what there is.
func isNotShown(err error) bool {
	var status apierrors.APIStatus
	return errors.Is(err, survey.ErrOnlyOf) || errors.As(err, &status) && status.Status().Code == http.StatusNotImplemented
}

// Lookup reads what the Cleaner's selectors ask for, as Preview does.
func (r *Runner) Lookup(ctx context.Context, cleaner *v1alpha1.Cleaner) (survey.Lookup, error) {
	who, err := r.Check.Identities.Of(nil)
	if err != nil {
		return nil, err
	}
	memory := r.Check.Memory.Share()
	defer memory.Release()
	found, err := r.Read.readFindings(ctx, &task{cleaner: cleaner, who: who, preview: true}, memory, nil)
	return found.Judge, err
}
