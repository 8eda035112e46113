// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return value
}

// Rule 8, path by path: what was before, what the patch wrote, what is now, and what is sent to put it back.
func TestWalk(t *testing.T) {
	tests := map[string]struct {
		before, patch, now string
		resent             string
		force              bool
		back               string
		edited, notes      []string
	}{
		"a changed value":                    {`{"a":1,"b":2}`, `{"a":5}`, `{"a":5,"b":2}`, "", false, `{"a":1}`, nil, nil},
		"an added value":                     {`{}`, `{"a":5}`, `{"a":5}`, "", false, `{"a":null}`, nil, nil},
		"a removed value":                    {`{"a":{"x":[]}}`, `{"a":null}`, `{}`, "", false, `{"a":{"x":[]}}`, nil, nil},
		"exact numbers":                      {`{"a":9007199254740993}`, `{"a":0.10}`, `{"a":0.1}`, "", false, `{"a":9007199254740993}`, nil, nil},
		"an empty list and an empty map":     {`{"a":[],"b":{}}`, `{"a":[1],"b":{"x":1}}`, `{"a":[1],"b":{"x":1}}`, "", false, `{"a":[],"b":{"x":null}}`, nil, nil},
		"a map that became a list":           {`{"a":{"x":1}}`, `{"a":[]}`, `{"a":[]}`, "", false, `{"a":{"x":1}}`, nil, nil},
		"a value that became a map":          {`{"a":1}`, `{"a":{"x":{}}}`, `{"a":{"x":{}}}`, "", false, `{"a":1}`, nil, nil},
		"an edit elsewhere":                  {`{"m":{"a":1}}`, `{"m":{"a":2}}`, `{"m":{"a":2,"b":3}}`, "", false, `{"m":{"a":1}}`, nil, nil},
		"an edit there":                      {`{"a":1,"b":1}`, `{"a":2,"b":2}`, `{"a":3,"b":2}`, "", false, `{"b":1}`, []string{"a"}, nil},
		"an edit there, with force":          {`{"a":1}`, `{"a":2}`, `{"a":3}`, "", true, `{"a":1}`, []string{"a"}, nil},
		"removed since":                      {`{"m":{"a":1}}`, `{"m":{"a":2}}`, `{}`, "", false, `{}`, []string{"m"}, nil},
		"removed since, with force":          {`{"m":{"a":1}}`, `{"m":{"a":2}}`, `{}`, "", true, `{"m":{"a":1}}`, []string{"m"}, nil},
		"a map edited whole, with force":     {`{"a":1}`, `{"a":[1]}`, `{"a":{"x":1}}`, "", true, `{"a":1}`, []string{"a"}, nil},
		"put back already":                   {`{"a":1}`, `{"a":2}`, `{"a":1}`, "", false, `{}`, nil, nil},
		"put back in part":                   {`{"a":1,"b":1}`, `{"a":2,"b":2}`, `{"a":1,"b":2}`, "", false, `{"b":1}`, nil, nil},
		"a new map goes as a whole":          {`{}`, `{"m":{"a":1,"n":{"b":[]}}}`, `{"m":{"a":1,"n":{"b":[]}}}`, "", false, `{"m":null}`, nil, nil},
		"a new map in which others wrote":    {`{}`, `{"m":{"a":1}}`, `{"m":{"a":1,"mine":2}}`, "", false, `{"m":{"a":null}}`, nil, []string{"m did not exist before the run, and stays, because it now also has: mine"}},
		"a new map that is put back":         {`{}`, `{"m":{"a":1}}`, `{"m":{"mine":2}}`, "", false, `{}`, nil, nil},
		"what the server makes of it":        {`{"cpu":"1"}`, `{"cpu":"0.5"}`, `{"cpu":"500m"}`, `{"cpu":"500m"}`, false, `{"cpu":"1"}`, nil, nil},
		"what the server would set again":    {`{"l":[]}`, `{"l":[{"a":1}]}`, `{"l":[{"a":1,"mine":2}]}`, `{"l":[{"a":1}]}`, false, `{}`, []string{"l"}, nil},
		"defaults in a list":                 {`{"l":[]}`, `{"l":[{"a":1}]}`, `{"l":[{"a":1,"d":2}]}`, `{"l":[{"a":1,"d":2}]}`, false, `{"l":[]}`, nil, nil},
		"a removal that came back":           {`{"a":1}`, `{"a":null}`, `{"a":7}`, "", false, `{}`, []string{"a"}, nil},
		"null is nothing":                    {`{"a":null,"b":null}`, `{"a":1,"b":{"x":1}}`, `{"a":1,"b":{"x":1}}`, "", false, `{"a":null,"b":null}`, nil, nil},
		"names with dots are named as paths": {`{"metadata":{"annotations":{"a.b/c":"1"}}}`, `{"metadata":{"annotations":{"a.b/c":"2"}}}`, `{"metadata":{"annotations":{"a.b/c":"3"}}}`, "", false, `{}`, []string{"metadata.annotations.a.b/c"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &threeWay{force: test.force, resent: test.resent != ""}
			var resent map[string]any
			if w.resent {
				resent = decode(t, test.resent)
			}
			back := w.walk(decode(t, test.patch), decode(t, test.before), decode(t, test.now), resent, nil)
			if diff := cmp.Diff(decode(t, test.back), back); diff != "" {
				t.Errorf("what is sent (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.edited, w.edited); diff != "" {
				t.Errorf("edited (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.notes, w.notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// The API server moved what a patch wrote as stringData into data: that is where it is put back.
func TestUndoStringData(t *testing.T) {
	const before, patch = `{"metadata":{"name":"a","namespace":"n","uid":"1","resourceVersion":"7"},"data":{"k":"b2xk","x":"eA=="}}`, `{"stringData":{"k":"new"}}`
	tests := map[string]struct {
		data   string
		result Result
		reason string
		back   string
	}{
		"as the run wrote it": {`{"k":"bmV3","x":"eA=="}`, Planned, "", `{"k":"b2xk"}`},
		"put back":            {`{"k":"b2xk","x":"eA=="}`, Already, "", ""},
		"edited since":        {`{"k":"bWluZQ==","x":"eA=="}`, ChangedSince, "it was edited since at data.k; with --force that is overwritten", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			live := liveObject(t, "", "Secret", `{"metadata":{"name":"a","namespace":"n","uid":"1","resourceVersion":"8"},"data":`+test.data+`}`)
			got := decide(copyFrom(t, "", "Secret", before, patch), facts{outcome: v1alpha1.OutcomeTransformed, live: live}, Options{})
			if got.result != test.result || got.reason != test.reason {
				t.Errorf("got %s %q, want %s %q", got.result, got.reason, test.result, test.reason)
			}
			var want any
			if test.back != "" {
				want = decode(t, test.back)
			}
			if diff := cmp.Diff(want, got.body["data"]); diff != "" {
				t.Errorf("what is put back (-want +got):\n%s", diff)
			}
		})
	}
}

// A trial that would not put the data back is seen.
func TestWouldUndoStringData(t *testing.T) {
	const before, patch = `{"metadata":{"name":"a","namespace":"n","uid":"1","resourceVersion":"7"},"data":{"k":"b2xk"}}`, `{"stringData":{"k":"new"}}`
	c := copyFrom(t, "", "Secret", before, patch)
	item := &Item{Object: *liveObject(t, "", "Secret", before), copy: c}
	if err := wouldUndo(item, []byte(before)); err != nil {
		t.Error(err)
	}
	if err := wouldUndo(item, []byte(strings.Replace(before, "b2xk", "bmV3", 1))); err == nil || err.Error() != "the API server would not restore data.k" {
		t.Errorf("%v", err)
	}
}
