// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"errors"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/cli/rights"
)

// TestNoDeployment: what could not be read is not said to be absent.
func TestNoDeployment(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"the operator's account is not known: its Deployment was not found":     nil,
		"the operator's account is not known: its Deployment could not be read": errors.New("forbidden"),
	} {
		if got := (&patient{deploymentsErr: err}).noAccount()[0].Message; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// While every Cleaner only reports, nobody needs the rights to act.
func TestRightsToChange(t *testing.T) {
	t.Parallel()
	for verb, want := range map[string]bool{
		"get": false, "list": false, "watch": false, "impersonate": false, "delete": true, "patch": true, "create": true,
	} {
		if got := isToChange(rights.Right{Verb: verb}); got != want {
			t.Errorf("%s changes objects: %t, want %t", verb, got, want)
		}
	}
}
