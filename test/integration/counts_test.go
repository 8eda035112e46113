// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// TestOnlyChangedCountsAreWritten: the counts of many objects are in several ConfigMaps. One that counts what it counted before is left as
// it is, and when the last of them could not be written, only what was written counts anew.
func TestOnlyChangedCountsAreWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cleaner := b.cleaner(v1alpha1.ActionScan)
	book, counts := b.runner.Record.Journal, map[string]int64{}
	for i := range 9000 {
		counts[fmt.Sprintf("ConfigMap__%08d", i)] = 3
	}
	save := func(run string) (written int) {
		t.Helper()
		before := b.requests.count(http.MethodPut, "") + b.requests.count(http.MethodPost, "")
		must(t, book.SaveCounts(t.Context(), cleaner, counts, run))
		return b.requests.count(http.MethodPut, "") + b.requests.count(http.MethodPost, "") - before
	}
	wantSaved := func(lastRun string) {
		t.Helper()
		found, last, err := book.Counts(t.Context(), cleaner)
		must(t, err)
		if diff := cmp.Diff(counts, found); diff != "" || last != lastRun {
			t.Errorf("the last run is %s, and the counts (-want +got):\n%.500s", last, diff)
		}
	}
	if n := save("one"); n != 4 {
		t.Errorf("%d ConfigMaps were written at first, want 4", n)
	}
	wantSaved("one")
	if n := save("two"); n != 0 {
		t.Errorf("%d ConfigMaps were written although nothing changed", n)
	}
	wantSaved("one")
	counts["ConfigMap__new"] = 1
	if n := save("three"); n > 2 {
		t.Errorf("%d ConfigMaps were written for one more object", n)
	}
	wantSaved("three")
	for i := range 20 {
		counts[fmt.Sprintf("ConfigMap__other-%d", i)] = 1
	}
	b.refusing(http.MethodPut, "/cleaner-"+cleaner.Name, "the connection broke")
	if err := book.SaveCounts(t.Context(), cleaner, counts, "four"); err == nil {
		t.Fatal("the counts were written")
	}
	b.requests.setMeddle(nil)
	found, last, err := book.Counts(t.Context(), cleaner)
	must(t, err)
	for key, n := range found {
		if n > counts[key] || strings.Contains(key, "other") {
			t.Errorf("%s counts %d", key, n)
		}
	}
	if last != "three" || len(found) < 1000 || len(found) > 4000 {
		t.Errorf("after a write that was cut off, %d objects are counted, by %s", len(found), last)
	}
	save("four")
	wantSaved("four")
	for i := range 9000 {
		delete(counts, fmt.Sprintf("ConfigMap__%08d", i))
	}
	save("five")
	wantSaved("five")
}
