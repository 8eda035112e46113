// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/rest"
)

// answering is an API server that answers each request with the same text.
type answering func(r *http.Request) string

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(a(r))),
	}, nil
}

// TestPagesOfRecordsWait: however many people look, and however many events there are, only some pages are in memory.
func TestPagesOfRecordsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan struct{}, 1)
		s := New(optionsOf(&rest.Config{Host: "http://127.0.0.1:1", Transport: answering(func(*http.Request) string {
			asked <- struct{}{}
			return `{"items":[]}`
		})}))
		p, err := s.person("")
		must(t, err)
		for range parallelPages {
			s.pages <- struct{}{}
		}
		read := func(ctx context.Context) chan error {
			done := make(chan error, 1)
			go func() {
				_, err := runRows(ctx, p, func(RunRow) bool { return true })
				done <- err
			}()
			synctest.Wait()
			return done
		}
		ctx, leave := context.WithCancel(t.Context())
		waits, gone := read(t.Context()), read(ctx)
		if len(asked) > 0 {
			t.Fatal("it read a page without a place for it")
		}
		leave()
		if err := <-gone; err == nil {
			t.Error("who left still waits")
		}
		<-s.pages
		must(t, <-waits)
		if len(asked) != 1 || len(s.pages) != parallelPages-1 {
			t.Errorf("it read %d pages, and %d places are taken", len(asked), len(s.pages))
		}
	})
}
