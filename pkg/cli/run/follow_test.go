// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Runs of the schedule, and such as answer other requests, are not the one that was asked for.
func TestFollowerKnowsOtherRuns(t *testing.T) {
	const value = "asked"
	request := map[string]string{"mine": value, "theirs": "later"}
	at := func(asked, handled, active, last string) *v1alpha1.Cleaner {
		c := &v1alpha1.Cleaner{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "u", Annotations: map[string]string{v1alpha1.RunRequestedAtAnnotation: asked}}}
		c.Status.LastHandledRunRequest = handled
		if active != "" {
			c.Status.ActiveRun = &v1alpha1.ActiveRun{Name: active, RunRequest: request[active]}
		}
		if last != "" {
			c.Status.LastRun = &v1alpha1.LastRun{Name: last, RunRequest: request[last]}
		}
		return c
	}
	cleaner := func(handled, active, last string) *v1alpha1.Cleaner { return at(value, handled, active, last) }
	tests := map[string]struct {
		seen []*v1alpha1.Cleaner
		run  string
		err  string
	}{
		"it follows the other one":      {[]*v1alpha1.Cleaner{cleaner("", "tick", "old"), cleaner(value, "mine", "tick"), cleaner(value, "", "mine")}, "mine", ""},
		"the other one was not seen":    {[]*v1alpha1.Cleaner{cleaner(value, "tick", "mine")}, "mine", ""},
		"it does not begin":             {[]*v1alpha1.Cleaner{cleaner("", "tick", "old"), cleaner(value, "", "tick")}, "", `cleaner "c" did not run: the operator did not say why`},
		"it does not begin at all":      {[]*v1alpha1.Cleaner{cleaner(value, "", "old")}, "", `cleaner "c" did not run: the operator did not say why`},
		"the next one has begun":        {[]*v1alpha1.Cleaner{cleaner(value, "mine", "old"), cleaner(value, "next", "mine")}, "mine", ""},
		"the next one has ended":        {[]*v1alpha1.Cleaner{cleaner(value, "mine", "old"), cleaner(value, "later", "next")}, "mine", ""},
		"it was cut off and taken back": {[]*v1alpha1.Cleaner{cleaner(value, "mine", "old"), cleaner(value, "", "old")}, "mine", `cleaner "c" did not run: the operator did not say why`},
		"somebody else asks too":        {[]*v1alpha1.Cleaner{at("later", "", "", "old"), at("later", "later", "theirs", "old"), at("later", "later", "", "theirs")}, "theirs", ""},
		"somebody else was answered":    {[]*v1alpha1.Cleaner{at("later", "later", "theirs", "old"), at("later", "later", "", "theirs")}, "theirs", ""},
		"the next one asks already":     {[]*v1alpha1.Cleaner{at("later", "later", "theirs", "mine")}, "mine", ""},
		"it is another Cleaner":         {[]*v1alpha1.Cleaner{{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "other"}}}, "", `cleaner "c" was deleted and created again; the request was for the one before`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFollower(cleaner("", "", "old"))
			var ended bool
			var err error
			for _, c := range test.seen {
				if ended || err != nil {
					t.Fatalf("it ended early: %v", err)
				}
				ended, err = f.step(c)
			}
			text := ""
			if err != nil {
				text = err.Error()
			}
			if f.run != test.run || text != test.err || ended == (test.err != "") {
				t.Errorf("run %q, ended %v, error %q", f.run, ended, text)
			}
		})
	}
}
