// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// TestLostAnswerToTheCreationOfTheRecord does not skip the run: the record that is there then is known for the run's own,
// and no further attempt is counted.
// When the second answer is lost too, the run is taken up again.
func TestLostAnswerToTheCreationOfTheRecord(t *testing.T) {
	t.Parallel()
	for answers, attempts := range map[int]int32{1: 0, 2: 2} {
		b := newBench(t)
		b.configMap("old")
		cleaner := b.cleaner(v1alpha1.ActionScan)
		lost := 0
		b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/cleanerruns") || lost == answers {
				return nil, nil
			}
			lost++
			var record v1alpha1.CleanerRun
			if err := json.NewDecoder(r.Body).Decode(&record); err != nil {
				return nil, err
			}
			if err := ignoreExists(b.user.Create(r.Context(), &record)); err != nil {
				return nil, err
			}
			return nil, io.ErrUnexpectedEOF
		})
		request := run.Request{Cleaner: cleaner.Name, Nominal: b.clock.Now().Truncate(time.Second), Trigger: v1alpha1.TriggerSchedule}
		if attempts > 0 {
			b.wantNoRecord(request, "unexpected EOF") // as far as it knows
		}
		record := b.carryOut(t.Context(), request)
		wantRun(t, record, v1alpha1.ReasonCompleted, "1 of 1 object matched.")
		if stored := b.stored(record); stored.Status.Phase != v1alpha1.RunCompleted || stored.Status.Attempts != attempts || lost != answers {
			t.Errorf("after %d lost answers, the record says %+v, want %d attempts", lost, stored.Status, attempts)
		}
	}
}

// TestLostAnswerToTheCreationOfTheIntent does not end the run: the Secret that is there then is known for the run's own.
// A Secret of that name with other contents is not.
func TestLostAnswerToTheCreationOfTheIntent(t *testing.T) {
	t.Parallel()
	for ours, reason := range map[bool]string{true: v1alpha1.ReasonCompleted, false: v1alpha1.ReasonFailed} {
		b := newBench(t)
		b.configMap("old")
		cleaner := b.cleaner(v1alpha1.ActionDelete)
		web, err := rest.HTTPClientFor(env.Config)
		must(t, err)
		lost := 0
		b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/secrets") || lost == 1 {
				return nil, nil
			}
			lost++
			response, err := web.Transport.RoundTrip(r)
			if err != nil || response.StatusCode != http.StatusCreated {
				t.Errorf("the API server did not do it: %v %v", response, err)
				return nil, err
			}
			_ = response.Body.Close()
			if !ours {
				var all corev1.SecretList
				must(t, b.user.List(r.Context(), &all, client.InNamespace(operatorNamespace)))
				for _, secret := range all.Items {
					if strings.HasSuffix(secret.Name, "-bundle-0") && secret.Labels[v1alpha1.CopiesLabel] == string(cleaner.UID) {
						secret.Data = map[string][]byte{"other": []byte("x")}
						must(t, b.user.Update(r.Context(), &secret))
					}
				}
			}
			return nil, io.ErrUnexpectedEOF
		})
		record := b.run(cleaner)
		wantRun(t, record, reason)
		left := b.names(b.namespace)
		if gone := len(left) == 0; gone != ours || lost != 1 {
			t.Errorf("after %d lost answers, with a Secret of the run's own: %t, %v are left", lost, ours, left)
		}
	}
}

// TestRecordOfAnotherRunIsNotWritten: somebody deletes the record while the run goes on, and another operator begins the run anew under
// the same name. That record stays as it is.
func TestRecordOfAnotherRunIsNotWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("old")
	cleaner := b.cleaner(v1alpha1.ActionScan)
	var other v1alpha1.CleanerRun
	b.beforeFirst(http.MethodPut, "/status", func() {
		must(t, b.user.Get(t.Context(), client.ObjectKey{Name: v1alpha1.RunName(cleaner.Name, b.clock.Now())}, &other))
		must(t, b.user.Delete(t.Context(), &other))
		other.ResourceVersion, other.UID = "", ""
		must(t, b.user.Create(t.Context(), &other))
	})
	record := b.run(cleaner)
	if diff := cmp.Diff(&other, b.stored(&other)); diff != "" {
		t.Errorf("the other run's record was written (-before +after):\n%s", diff)
	}
	if record.Status.Phase.Final() {
		t.Errorf("the run has an end, which is the other operator's to find: %+v", record.Status)
	}
}
