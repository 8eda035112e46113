// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package stop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

func namespacePath(name string) string {
	return object.Kind{
		GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Namespace"),
		Resource:         "namespaces",
	}.Path(
		"",
		name,
	)
}

// stopReason is the value of the annotation by which all acting is stopped. Nil when it is not. Who may not read the
// namespace may still be allowed to annotate it, so an error ends nothing.
func stopReason(ctx context.Context, c *cluster.Client, namespace string) (*string, error) {
	var metadata metav1.PartialObjectMetadata
	if err := c.Read(ctx, namespacePath(namespace), &metadata); err != nil {
		return nil, err
	}
	if reason, stopped := metadata.Annotations[v1alpha1.StopAnnotation]; stopped {
		return &reason, nil
	}
	return nil, nil
}

// annotate sets the annotation that stops all acting, or removes it, and prints the namespace for -o.
func (o *options) annotate(ctx context.Context, c *cluster.Client, namespace string, reason *string) error {
	patch, err := json.Marshal(
		map[string]any{"metadata": map[string]any{"annotations": map[string]*string{v1alpha1.StopAnnotation: reason}}},
	)
	if err != nil {
		return err
	}
	verb := "stop"
	if reason == nil {
		verb = "resume"
	}
	body, err := cluster.Send(
		ctx,
		c.Raw.Patch(types.MergePatchType).
			AbsPath(namespacePath(namespace)).
			Param("fieldManager", cluster.FieldManager).
			Body(patch),
	)
	switch {
	case apierrors.IsNotFound(err):
		return terminal.Fail(
			codes.OperatorNotFound,
			errors.New("there is no namespace "+terminal.Quoted(namespace)),
			o.elsewhere(ctx, c, namespace, verb),
		)
	case apierrors.IsForbidden(err):
		return terminal.Fail(codes.ClusterForbidden, fmt.Errorf("annotating namespace %s: %w", namespace, err),
			"an administrator can give you this right: kubectl create clusterrole cleaner-stop --verb=get,patch --resource=namespaces "+
				"--resource-name="+namespace+"; kubectl create clusterrolebinding cleaner-stop --clusterrole=cleaner-stop --user=YOU")
	case err != nil:
		return cluster.RequestError("annotating namespace "+namespace, err)
	}
	return o.changed.Print(o.Session, body)
}
