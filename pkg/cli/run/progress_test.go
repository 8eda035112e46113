// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/json"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func TestRunProgressLines(t *testing.T) {
	const took = 12500 * time.Millisecond
	tests := map[string]struct {
		progress   progress
		line, json string
	}{
		"listing": {
			progress{run: "r", RunProgress: v1alpha1.RunProgress{Phase: v1alpha1.ProgressListing, Kind: "ConfigMap", Done: 41_500, Matched: ptr.To(int64(38)), Rate: 4123}},
			"listing ConfigMap · 41,500 objects (38 match) · 4.1k/s · 12s",
			`{"run":"r","phase":"Listing","kind":"ConfigMap","done":41500,"matched":38,"perSecond":4123,"elapsedSeconds":12.5}`,
		},
		"waiting": {
			progress{run: "r", RunProgress: v1alpha1.RunProgress{Phase: v1alpha1.ProgressWaiting, Done: 3}},
			"waiting for more memory for its scripts · 12s", `{"run":"r","phase":"Waiting","done":3,"perSecond":0,"elapsedSeconds":12.5}`,
		},
		"judging": {
			progress{run: "r", RunProgress: v1alpha1.RunProgress{Phase: v1alpha1.ProgressJudging}},
			"judging · 12s", `{"run":"r","phase":"Judging","done":0,"perSecond":0,"elapsedSeconds":12.5}`,
		},
		"copying": {
			progress{run: "r", RunProgress: v1alpha1.RunProgress{Phase: v1alpha1.ProgressCopying, Total: ptr.To(int64(300))}},
			"copying · 300 objects · 12s", `{"run":"r","phase":"Copying","done":0,"total":300,"perSecond":0,"elapsedSeconds":12.5}`,
		},
		"deleting": {
			progress{run: "r", action: v1alpha1.ActionDelete, RunProgress: v1alpha1.RunProgress{Phase: v1alpha1.ProgressActing, Done: 120, Total: ptr.To(int64(300)), Rate: 16}},
			"deleting · 120 of 300 objects · 16/s · 11s left", `{"run":"r","phase":"Acting","done":120,"total":300,"perSecond":16,"elapsedSeconds":12.5}`,
		},
		"changing, and nothing is done yet": {
			progress{run: "r", action: v1alpha1.ActionTransform, RunProgress: v1alpha1.RunProgress{Phase: v1alpha1.ProgressActing, Total: ptr.To(int64(1))}},
			"changing · 0 of 1 object · 12s", `{"run":"r","phase":"Acting","done":0,"total":1,"perSecond":0,"elapsedSeconds":12.5}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.progress.Line(took); got != test.line {
				t.Errorf("got  %s\nwant %s", got, test.line)
			}
			if facts, err := json.Marshal(test.progress.Facts(took)); err != nil || string(facts) != test.json {
				t.Errorf("got  %s, %v\nwant %s", facts, err, test.json)
			}
		})
	}
}
