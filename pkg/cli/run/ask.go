// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// requestValue is a new value for the annotation: the time. One before the Cleaner's creation would be taken for one
// that was restored with it, so a clock that is behind is put right.
func requestValue(now time.Time, cleaner *v1alpha1.Cleaner) string {
	if created := cleaner.CreationTimestamp.Time; now.Before(created) {
		now = created.Add(time.Duration(now.Nanosecond()))
	}
	return now.UTC().Format(time.RFC3339Nano)
}

// ask sets the annotation, and returns the Cleaner with it.
func ask(ctx context.Context, c *cluster.Client, before *v1alpha1.Cleaner, value string) (*v1alpha1.Cleaner, error) {
	cleaner := before.Name
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":         before.UID, // a precondition
		"annotations": map[string]string{v1alpha1.RunRequestedAtAnnotation: value},
	}})
	if err != nil {
		return nil, err
	}
	body, err := cluster.Send(
		ctx,
		c.Raw.Patch(types.MergePatchType).
			AbsPath(cluster.CleanerPath(cleaner)).
			Param("fieldManager", cluster.FieldManager).
			Body(patch),
	)
	switch {
	case apierrors.IsNotFound(err):
		return nil, c.NoCleaner(ctx, cleaner)
	case err != nil:
		return nil, cluster.RequestError(fmt.Sprintf("asking for a run of cleaner %q", cleaner), err)
	}
	var answer v1alpha1.Cleaner
	return &answer, json.Unmarshal(body, &answer)
}

// answering refuses where no operator is: the request would stand, and whoever installs an operator later does not
// expect that it deletes something at once.
func (o *options) answering(ctx context.Context, api *cluster.Client) error {
	if !api.NoOperator(ctx, o.Getenv("NAMESPACE"), o.Now()) {
		return nil
	}
	return terminal.Fail(
		codes.RunNotAnswered,
		errors.New("no operator is running: there is no leader, and no Pod of the operator is available"),
		"no run was asked for; to see what is missing: "+terminal.Program+" doctor. If the operator runs outside the "+
			"cluster without leader election, set the annotation "+v1alpha1.RunRequestedAtAnnotation+
			" of the Cleaner to the current time (RFC 3339)",
	)
}
