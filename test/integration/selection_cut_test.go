// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// Each page breaks off in turn, so many times: the limit is halved each time, and in the end the view is whole, or known not to be.
func TestEveryPageCut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMaps(b.namespace, "cm", 25)
	halves := []string{"20000", "10000", "5000", "2500", "1250", "625", "500", "500", "500"}
	for page := 1; page <= 3; page++ {
		for _, cuts := range []int{1, 8, 9} {
			t.Run(fmt.Sprintf("page %d, %d times", page, cuts), func(t *testing.T) {
				limits := b.cutPages(page, cuts)
				run := b.run(b.cleaner(v1alpha1.ActionDelete, conditions(v1alpha1.MatchCondition{Name: "never", Expression: `object.data.n == "none"`})))
				if cuts < len(halves) {
					wantRun(t, run, v1alpha1.ReasonCompleted, "0 of 25 objects matched")
				} else {
					wantRun(t, run, v1alpha1.ReasonViewIncomplete, "Nothing was touched, because the run could not read or judge everything: ", "the response ended in the middle of the list")
				}
				if !slices.Equal(*limits, halves[:min(cuts+1, len(halves))]) {
					t.Errorf("the limits were %q", *limits)
				}
			})
		}
	}
	t.Run("every page once", func(t *testing.T) {
		cut := map[string]bool{}
		b.paging(func(r *http.Request, page int, body []byte) *http.Response {
			if key := fmt.Sprint(page); !cut[key] {
				cut[key] = true
				return cutOff(r, body)
			}
			return answer(r, http.StatusOK, body)
		})
		wantRun(t, b.run(b.cleaner(v1alpha1.ActionScan)), v1alpha1.ReasonCompleted, "25 of 25 objects matched.")
		if len(cut) != 3 {
			t.Errorf("%d pages were cut", len(cut))
		}
	})
	b.wantUntouched()
}

// cutPages cuts the page of a list off so many times, and returns what the lists' first pages were asked for with.
func (b *bench) cutPages(page, cuts int) *[]string {
	var limits []string
	b.paging(func(r *http.Request, n int, body []byte) *http.Response {
		if n == 1 {
			limits = append(limits, r.Header.Get("Asked-Limit"))
		}
		if n == page && cuts > 0 {
			cuts--
			return cutOff(r, body)
		}
		return answer(r, http.StatusOK, body)
	})
	return &limits
}

// paging makes the API server send the test's ConfigMaps ten at a time, and lets change change what it says. A request's header
// Asked-Limit is how many it asked for.
func (b *bench) paging(change func(r *http.Request, page int, body []byte) *http.Response) {
	path, page := "/"+b.namespace+"/configmaps", 0
	b.answering(path, func(_ int, r *http.Request, body []byte) *http.Response {
		if page++; !r.URL.Query().Has("continue") {
			page = 1
		}
		return change(r, page, body)
	})
	next := b.requests.meddle
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, path) {
			query := r.URL.Query()
			r.Header.Set("Asked-Limit", query.Get("limit"))
			query.Set("limit", "10")
			r.URL.RawQuery = query.Encode()
		}
		return next(r)
	})
}
