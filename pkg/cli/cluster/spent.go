// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Spent is how long a run was in each of its stages, in whole seconds, as records keep times. Nil where the record does
// not say it: of a stage that goes on, and of a record that an earlier version wrote.
type Spent struct {
	// Started is when the run began to read.
	Started *metav1.Time
	// Waited is from when the run was due until it began.
	Waited *time.Duration
	// Judged is how long it read and judged and, if it acts, wrote down what it was going to touch.
	Judged *time.Duration
	// Acted is how long it deleted or changed objects.
	Acted *time.Duration
}

// SpentOf is how long the run was in each of its stages.
func SpentOf(run *v1alpha1.CleanerRun) Spent {
	status := &run.Status
	started := status.StartTime
	if started == nil && status.Phase == "" { // it is written when the run acts or ends
		started = &run.CreationTimestamp
	}
	s := Spent{
		Started: started,
		Waited:  between(&run.Spec.NominalTime, started),
		Judged:  between(started, status.JudgedTime),
	}
	if status.Intent != nil {
		s.Acted = between(status.JudgedTime, status.CompletionTime)
	}
	return s
}

// between is never negative: the times may be of two clocks.
func between(from, to *metav1.Time) *time.Duration {
	if from.IsZero() || to.IsZero() {
		return nil
	}
	took := max(0, to.Sub(from.Time)).Truncate(time.Second)
	return &took
}

// Words are "waited 2s, read and judged for 4s, acted for 1m0s". Empty when the record does not say it.
func (s Spent) Words() string {
	var words []string
	for _, stage := range []struct {
		did  string
		took *time.Duration
	}{{"waited", s.Waited}, {"read and judged for", s.Judged}, {"acted for", s.Acted}} {
		if stage.took != nil {
			words = append(words, fmt.Sprintf("%s %s", stage.did, secondsWords(*stage.took)))
		}
	}
	return strings.Join(words, ", ")
}

func secondsWords(took time.Duration) string {
	if took == 0 {
		return "<1s"
	}
	return took.String()
}
