// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// pagedServer answers a list of ten objects in two pages, and documents, unless fault does something else.
type pagedServer struct {
	// fault says what happens to the n-th request that is not for /readyz, counted from 1. Nil answers.
	fault func(n int, r *http.Request) (*http.Response, error)
	// ready says whether the API server is there. Nil means always.
	ready func() bool
	// unready is why it is never there. Nil when it is not so.
	unready error

	mu   sync.Mutex
	sent []string // paths and tokens of the requests
	at   []time.Time
	asks int
}

func (s *pagedServer) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/readyz" {
		s.asks++
		if s.unready != nil {
			return nil, s.unready
		}
		if s.ready != nil && !s.ready() {
			return nil, syscall.ECONNREFUSED
		}
		return says(r, http.StatusOK, "ok"), nil
	}
	token := r.URL.Query().Get("continue")
	s.sent, s.at = append(s.sent, r.URL.Path+token), append(s.at, time.Now())
	if s.fault != nil {
		if answer, err := s.fault(len(s.sent), r); answer != nil || err != nil {
			return answer, err
		}
	}
	switch {
	case r.URL.Path == "/version":
		return says(r, http.StatusOK, `{"major":"1","minor":"36"}`), nil
	case r.URL.Path == "/api/v1":
		return says(r, http.StatusOK, `{"kind":"APIResourceList"}`), nil
	case token == "":
		return says(r, http.StatusOK, `{"metadata":{"resourceVersion":"7","continue":"2","remainingItemCount":5},"items":[`+tenObjects(0, 5)+`]}`), nil
	}
	return says(r, http.StatusOK, `{"metadata":{"resourceVersion":"7"},"items":[`+tenObjects(5, 10)+`]}`), nil
}

func says(r *http.Request, code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Request: r, Body: io.NopCloser(strings.NewReader(body))}
}

func tenObjects(from, to int) string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprintf(`{"metadata":{"name":"0||%d","uid":"u","resourceVersion":"1"}}`, i))
	}
	return strings.Join(all, ",")
}

func failure(r *http.Request, code int, reason string) *http.Response {
	return says(r, code, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the server said %d","reason":%q,"code":%d}`, code, reason, code))
}

// busy is how an API server says that it has no time, as text. The time to come back is left out if it is empty.
func busy(r *http.Request, code int, retryAfter string) *http.Response {
	answer := says(r, code, "Too many requests, please try again later.")
	answer.Header = http.Header{"Content-Type": {"text/plain"}}
	if retryAfter != "" {
		answer.Header.Set("Retry-After", retryAfter)
	}
	return answer
}

func clientOf(t *testing.T, transport http.RoundTripper) rest.Interface {
	t.Helper()
	config := &rest.Config{Host: "http://server", QPS: -1, ContentConfig: rest.ContentConfig{
		GroupVersion: &schema.GroupVersion{}, NegotiatedSerializer: serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion(),
	}}
	client, err := rest.RESTClientForConfigAndClient(config, &http.Client{Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func patient(t *testing.T, server http.RoundTripper) *Reader {
	t.Helper()
	return NewReader(clientOf(t, server), clock.RealClock{}).Patient()
}
