// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// Who may list nothing of what a finding reads is told once, and how to get the rights.
func TestManyForbiddenListsAreOneLine(t *testing.T) {
	var lists []error
	for i := range 19 {
		resource := schema.GroupResource{Resource: fmt.Sprintf("kind%d", i)}
		lists = append(lists, fmt.Errorf("listing %s: %w", resource.Resource, apierrors.NewForbidden(resource, "", errors.New("no"))))
	}
	cleaner := &v1alpha1.Cleaner{}
	cleaner.Name = "unused"
	j := &job{options: &options{}}
	for want, err := range map[string]error{
		`cleaner "unused": listing kind0: kind0 is forbidden: no; and 18 more are forbidden`:                       errors.Join(lists...),
		`cleaner "unused": listing kind0: kind0 is forbidden: no` + "\n" + `listing kind1: kind1 is forbidden: no`: errors.Join(lists[:2]...),
	} {
		got := j.incompleteError(cleaner, &run.Preview{Incomplete: err})
		if got.Error() != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
