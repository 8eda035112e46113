// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/guard"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/survey"
)

// readCascade looks for protected objects that a Delete would delete together with what it has chosen.
func (s Read) readCascade(ctx context.Context, t *task, chosen *object.Verdicts) (*guard.Cascade, error) {
	cascade := &guard.Cascade{}
	if t.action != v1alpha1.ActionDelete {
		return cascade, nil
	}
	for _, verdict := range chosen.All() {
		if verdict.Act {
			cascade.Add(verdict.Object, t.cleaner.Spec.DeleteOptions)
		}
	}
	return cascade, survey.Cascade(ctx, t.who.Reader, t.engine.Memory, cascade)
}
