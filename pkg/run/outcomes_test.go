// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// A script that used up its time counts against the schedule, unless it did for an object that the run left alone and went on.
func TestExhausted(t *testing.T) {
	t.Parallel()
	tooSlow := []stage.Outcome{{Err: &lua.TimeoutError{}}}
	for name, test := range map[string]struct {
		decision decision
		list     []stage.Outcome
		want     bool
	}{
		"nothing":                                   {decision: decision{choice: choice{view: &view{}}}},
		"an object that cannot be judged":           {decision: decision{choice: choice{view: &view{notEvaluated: tooSlow}, incomplete: errors.New("one of 3 objects")}}, want: true},
		"one that onPartialView: Skip leaves alone": {decision: decision{choice: choice{view: &view{notEvaluated: tooSlow}}}},
		"the aggregated script":                     {decision: decision{choice: choice{view: &view{}, incomplete: &lua.TimeoutError{}}}, want: true},
		"the transform":                             {decision: decision{choice: choice{view: &view{}}}, list: tooSlow, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (&outcomes{decision: &test.decision, list: test.list}).exhausted(); got != test.want {
				t.Errorf("exhausted: %t, want %t", got, test.want)
			}
		})
	}
}
