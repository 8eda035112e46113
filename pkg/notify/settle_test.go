// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// A service may ask to be left alone for longer than there is: then there is one more try shortly before the end.
func TestSettle(t *testing.T) {
	ended := metav1.NewTime(time.Date(2026, 5, 1, 3, 0, 0, 0, time.UTC))
	busy := func(after time.Duration) error { return &Error{Reason: "busy", RetryAfter: after} }
	const day, second, state = 24 * time.Hour, time.Second, v1alpha1.NotificationPending
	for name, c := range map[string]struct {
		fault       error
		attempts    int32
		passed      time.Duration
		least, most time.Duration // the next try, after the end of the run
		want        string
	}{
		"the first failure":              {errors.New("no"), 0, 0, firstPause, 36 * second, "no"},
		"the last pause":                 {errors.New("no"), 50, time.Hour, 2 * time.Hour, 2*time.Hour + 12*time.Minute, "no"},
		"an hour asked for":              {busy(time.Hour), 0, second, time.Hour + second, time.Hour + second, "busy"},
		"a day asked for":                {busy(day), 0, second, day - time.Minute, day - time.Minute, "busy"},
		"more than is left":              {busy(day), 3, 20 * time.Hour, day - time.Minute, day - time.Minute, "busy"},
		"a pause beyond the end":         {errors.New("no"), 50, day - 30*time.Minute, day - time.Minute, day - time.Minute, "no"},
		"the end, and a pause asked for": {busy(day), 1, day - time.Minute, 0, 0, "given up after a day: busy"},
		"the end":                        {errors.New("no"), 50, day - time.Minute, 0, 0, "given up after a day: no"},
		"beyond the end":                 {errors.New("no"), 50, day + time.Minute, 0, 0, "given up after a day: no"},
		"it stays":                       {permanent("no key"), 0, 0, 0, 0, "no key"},
	} {
		entry := &v1alpha1.NotificationStatus{Attempts: c.attempts}
		Settle(entry, c.fault, ended.Add(c.passed), &ended)
		next := time.Duration(0)
		if entry.NextAttemptTime != nil {
			next = entry.NextAttemptTime.Sub(ended.Time)
		}
		if next < c.least || next > c.most || (entry.State == state) != (c.most > 0) || entry.Message != c.want || entry.Attempts != c.attempts+1 {
			t.Errorf("%s: %+v, next after %s", name, *entry, next)
		}
	}
}
