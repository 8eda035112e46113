// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Who may not read Cleaners and runs, or change Cleaners, learns which role gives the right. It gives no other one.
func TestForbiddenNamesTheRole(t *testing.T) {
	for text, named := range map[string]string{
		`list resource "cleaners" in API group "apps.projectsveltos.io" at the cluster scope`:     "cleaner-viewer --clusterrole=kubecleaner-cleaner-viewer-role ",
		`get resource "cleanerruns" in API group "apps.projectsveltos.io" at the cluster scope`:   "cleaner-viewer --clusterrole=kubecleaner-cleaner-viewer-role ",
		`patch resource "cleaners" in API group "apps.projectsveltos.io" at the cluster scope`:    "cleaner-editor --clusterrole=kubecleaner-cleaner-editor-role ",
		`patch resource "cleanerruns" in API group "apps.projectsveltos.io" at the cluster scope`: "",
		`list resource "secrets" in API group "" in the namespace "x"`:                            "",
	} {
		err := apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "", fmt.Errorf("User %q cannot %s", "ann", text))
		var failure *terminal.Failure
		if !errors.As(RequestError("reading", err), &failure) || !strings.Contains(failure.Hint, named) || (named == "") != (failure.Hint == "") {
			t.Errorf("%s: the hint is %q, want %q", text, failure.Hint, named)
		}
	}
}
