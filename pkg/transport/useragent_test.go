// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestNameCleaners(t *testing.T) {
	const operator = "kubecleaner/v1.2.3"
	for name, test := range map[string]struct{ cleaner, want string }{
		"a name":          {"unused-configmaps", operator + " (cleaner/unused-configmaps)"},
		"with dots":       {"a.b-c.9", operator + " (cleaner/a.b-c.9)"},
		"the longest":     {strings.Repeat("a", 253), operator + " (cleaner/" + strings.Repeat("a", 253) + ")"},
		"too long":        {strings.Repeat("a", 254), operator},
		"none":            {"", operator},
		"a header":        {"a\r\nAuthorization: Bearer x", operator},
		"a comment":       {"a) evil (", operator},
		"not a character": {"a\x00b", operator},
		"upper case":      {"Cleaner", operator},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header["User-Agent"] }))
			defer web.Close()
			// An object in hand is finished after its run was stopped, and is its run's all the same.
			ctx, cancel := context.WithCancel(ForCleaner(t.Context(), test.cleaner))
			cancel()
			request, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, web.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("User-Agent", operator)
			response, err := NameCleaners(http.DefaultTransport).RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if len(got) != 1 || got[0] != test.want || request.UserAgent() != operator {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
