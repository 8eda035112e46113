// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// RequestError says what went wrong with a request.
func RequestError(doing string, err error) error {
	var network *net.OpError
	wrapped := fmt.Errorf("%s: %w", doing, err)
	switch {
	case apierrors.IsForbidden(err):
		return terminal.Fail(codes.ClusterForbidden, wrapped, roleHint(err))
	case apierrors.IsUnauthorized(err):
		return terminal.Fail(
			codes.ClusterForbidden,
			fmt.Errorf("%s: the cluster does not know you (%d)", doing, http.StatusUnauthorized),
			"log in again; kubectl config view --minify shows as whom you ask",
		)
	case IsAway(err) && errors.As(err, &network): // then it does not matter what was to be asked
		wrapped = fmt.Errorf("cannot reach the API server: %w", network)
		return terminal.Fail(codes.ClusterUnreachable, wrapped, "kubectl config view --minify shows which cluster is asked")
	case errors.As(err, &network):
		return terminal.Fail(codes.ClusterUnreachable, wrapped, "kubectl config view --minify shows which cluster is asked")
	}
	return terminal.Fail(codes.ClusterFailed, wrapped, "")
}

// IsAway reports whether an error says that nobody answers at the address of the API server.
func IsAway(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
}

// roleHint names the role of those who may read Cleaners and runs, or change Cleaners, if that is what the error is
// about.
func roleHint(err error) string {
	text := err.Error()
	if !strings.Contains(text, strconv.Quote(v1alpha1.GroupVersion.Group)) {
		return ""
	}
	who := ""
	for _, verb := range []string{"get", "list", "watch"} {
		if strings.Contains(text, " cannot "+verb+" resource ") {
			who = "viewer"
		}
	}
	if strings.Contains(text, ` cannot patch resource "cleaners" `) {
		who = "editor"
	}
	if who == "" {
		return ""
	}
	role := "kubecleaner-cleaner-" + who + "-role"
	return "the ClusterRole " + role + " " + RolePrefix + " gives this right; an administrator can give it to you: " +
		"kubectl create clusterrolebinding cleaner-" + who + " --clusterrole=" + role + " --user=YOU"
}
