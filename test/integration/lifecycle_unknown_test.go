// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// again asks for the run of the record once more, while the API server refuses to hand out Cleaners, and records as refuse says.
func (b *bench) again(record *v1alpha1.CleanerRun, refused *apierrors.StatusError) *v1alpha1.CleanerRun {
	b.t.Helper()
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		switch {
		case r.Method != http.MethodGet:
		case strings.HasSuffix(r.URL.Path, "/cleaners/"+record.Spec.Cleaner):
			return refusal(b.t, r, apierrors.NewForbidden(v1alpha1.GroupVersion.WithResource("cleaners").GroupResource(), record.Spec.Cleaner, errors.New("not today"))), nil
		case strings.HasSuffix(r.URL.Path, "/cleanerruns/"+record.Name) && refused != nil:
			return refusal(b.t, r, refused), nil //nolint:nilerr // it is the answer
		}
		return nil, nil
	})
	defer b.requests.setMeddle(nil)
	return b.runner.Run(b.t.Context(), run.Request{Cleaner: record.Spec.Cleaner, UID: record.Spec.CleanerUID, Nominal: record.Spec.NominalTime.Time, Trigger: v1alpha1.TriggerSchedule})
}

// A run that cannot begin may have begun, and even ended, before: then its record is told, and never that nothing was touched.
func TestRunThatCannotBeginOnceMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	record := b.run(b.cleaner(v1alpha1.ActionDelete))
	wantRun(t, record, v1alpha1.ReasonCompleted, "1 deleted.")

	wantRun(t, b.again(record, nil), v1alpha1.ReasonCompleted, "1 deleted.")
	unread := b.again(record, apierrors.NewForbidden(v1alpha1.GroupVersion.WithResource("cleanerruns").GroupResource(), record.Name, errors.New("nor this")))
	wantRun(t, unread, v1alpha1.ReasonForbidden, "The run could not begin: ", "Whether it had begun before is not known: ", "nor this")
	if strings.Contains(unread.Status.Message, "nothing was touched") {
		t.Errorf("it says %q", unread.Status.Message)
	}
}
