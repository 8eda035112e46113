// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// again asks for the run of the record once more, while the API server refuses to hand out Cleaners.
func (b *bench) again(record *v1alpha1.CleanerRun) (*v1alpha1.CleanerRun, error) {
	b.t.Helper()
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/cleaners/"+record.Spec.Cleaner) {
			return refusal(b.t, r, apierrors.NewForbidden(v1alpha1.GroupVersion.WithResource("cleaners").GroupResource(), record.Spec.Cleaner, errors.New("not today"))), nil
		}
		return nil, nil
	})
	defer b.requests.setMeddle(nil)
	return b.runner.Run(b.t.Context(), run.Request{Cleaner: record.Spec.Cleaner, UID: record.Spec.CleanerUID, Nominal: record.Spec.NominalTime.Time, Trigger: v1alpha1.TriggerSchedule})
}

// A run that cannot begin may have begun, and even ended, before: its record stays, and says so.
func TestRunThatCannotBeginOnceMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	record := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, record, v1alpha1.ReasonCompleted, "1 deleted.")

	if again, err := b.again(record); again != nil || err == nil || !strings.Contains(err.Error(), "not today") {
		t.Errorf("got %v and %v", again, err)
	}
	var after v1alpha1.CleanerRun
	must(t, b.user.Get(t.Context(), client.ObjectKeyFromObject(record), &after))
	if after.ResourceVersion != record.ResourceVersion {
		t.Errorf("its record was written: %+v", after.Status)
	}
}
