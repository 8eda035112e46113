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

// Who may not read Cleaners and runs learns which role gives the right. It gives no other one.
func TestForbiddenNamesTheViewerRole(t *testing.T) {
	for text, named := range map[string]bool{
		`list resource "cleaners" in API group "apps.projectsveltos.io" at the cluster scope`:   true,
		`get resource "cleanerruns" in API group "apps.projectsveltos.io" at the cluster scope`: true,
		`patch resource "cleaners" in API group "apps.projectsveltos.io" at the cluster scope`:  false,
		`list resource "secrets" in API group "" in the namespace "x"`:                          false,
	} {
		err := apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "", fmt.Errorf("User %q cannot %s", "ann", text))
		var failure *terminal.Failure
		if !errors.As(RequestError("reading", err), &failure) || strings.Contains(failure.Hint, "kubecleaner-cleaner-viewer-role") != named {
			t.Errorf("%s: the hint is %q, want one: %t", text, failure.Hint, named)
		}
	}
}
