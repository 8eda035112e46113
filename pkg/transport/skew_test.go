// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"
)

const year = 365 * 24 * time.Hour

// TestClockSkew compares the clock with the Date of one answer.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	const list, after = "/apis/apps.projectsveltos.io/v1alpha1/cleaners", ": ages cannot be judged; set the node's clock"
	for name, test := range map[string]struct {
		path   string
		ahead  time.Duration // the operator's clock, when the request is sent
		slow   time.Duration // from sending to the server's date, and from there to the answer
		noDate bool
		bad    string
		code   int
		want   string
	}{
		"the same":                  {},
		"a minute ahead":            {ahead: 61 * time.Second}, // up to a second of it is the date's fraction
		"more than a minute ahead":  {ahead: 62 * time.Second, want: "the operator's clock is 1m1s ahead of the API server's" + after},
		"a minute behind":           {ahead: -60 * time.Second},
		"more than a minute behind": {ahead: -61 * time.Second, want: "the operator's clock is 1m1s behind the API server's" + after},
		"hours ahead":               {ahead: 30 * time.Hour, want: "the operator's clock is 29h59m59s ahead of the API server's" + after},
		"a year ahead":              {ahead: year, want: "the operator's clock is 365 days ahead of the API server's" + after},
		"decades behind":            {ahead: -56 * year, want: "the operator's clock is 20440 days behind the API server's" + after},
		"a slow answer":             {slow: 5 * time.Minute},
		"a slow answer, ahead":      {slow: 5 * time.Minute, ahead: year, want: "365 days ahead of the API server's" + after},
		"no Date":                   {ahead: year, noDate: true},
		"a Date that is none":       {ahead: year, bad: "yesterday"},
		"a proxy's failure":         {ahead: year, code: http.StatusBadGateway},
		"what has not changed":      {ahead: year, path: "/openapi/v3/apis/apps.projectsveltos.io/v1alpha1", code: http.StatusNotModified, want: "365 days ahead"},
		"a core kind":               {ahead: year, path: "/api/v1/namespaces", want: "365 days ahead"},
		"a kind of another server":  {ahead: year, path: "/apis/metrics.k8s.io/v1beta1/namespaces/api/pods"},
		"the version":               {ahead: year, path: "/version", want: "365 days ahead"},
		"the lease, by a long path": {ahead: year, path: "/k8s/clusters/c-1/apis/coordination.k8s.io/v1/leases", want: "365 days ahead"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			date := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			clk := testingclock.NewFakePassiveClock(date.Add(test.ahead))
			skew := &ClockSkew{Clock: clk}
			wrapped := skew.Wrap(roundTripper(func(*http.Request) (*http.Response, error) {
				clk.SetTime(clk.Now().Add(2 * test.slow))
				response := &http.Response{StatusCode: max(test.code, http.StatusOK), Header: http.Header{}, Body: http.NoBody}
				switch {
				case test.bad != "":
					response.Header.Set("Date", test.bad)
				case !test.noDate:
					response.Header.Set("Date", date.Add(test.slow).Format(http.TimeFormat))
				}
				return response, nil
			}))
			path := test.path
			if path == "" {
				path = list
			}
			response, err := wrapped.RoundTrip(httptest.NewRequest(http.MethodGet, path, http.NoBody))
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			got := ""
			if err := skew.Check(); err != nil {
				got = err.Error()
			}
			if ok := got == test.want || test.want != "" && strings.Contains(got, test.want); !ok {
				t.Fatalf("the clock: %q, want %q", got, test.want)
			}
		})
	}
}

// TestClockSkewIsOfTheLatestAnswer: a clock that was set right is right, and a request that failed says nothing.
func TestClockSkewIsOfTheLatestAnswer(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clk := testingclock.NewFakePassiveClock(date.Add(year))
	skew := &ClockSkew{Clock: clk}
	var fault error
	wrapped := skew.Wrap(roundTripper(func(*http.Request) (*http.Response, error) {
		if fault != nil {
			return nil, fault
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Date": {date.Format(http.TimeFormat)}}, Body: http.NoBody}, nil
	}))
	ask := func() {
		if response, err := wrapped.RoundTrip(httptest.NewRequest(http.MethodGet, "/version", http.NoBody)); err == nil {
			_ = response.Body.Close()
		}
	}
	if skew.Check() != nil {
		t.Fatal("a clock is wrong that was not compared yet")
	}
	ask()
	clk.SetTime(date)
	fault = errors.New("the connection broke")
	if ask(); skew.Check() == nil {
		t.Fatal("a request that failed made the clock right")
	}
	fault = nil
	if ask(); skew.Check() != nil {
		t.Fatalf("the clock was set right: %v", skew.Check())
	}
}
