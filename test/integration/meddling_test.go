// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// beforeFirst does something before the operator's first request of the method to a path with the suffix goes on. Other
// such requests wait for it.
func (b *bench) beforeFirst(method, suffix string, do func()) {
	var once sync.Once
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == method && strings.HasSuffix(r.URL.Path, suffix) {
			once.Do(do)
		}
		return nil, nil
	})
}

// refusing lets the operator's requests of the method to paths with the suffix fail.
func (b *bench) refusing(method, suffix, why string) {
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method == method && strings.HasSuffix(r.URL.Path, suffix) {
			return nil, errors.New(why)
		}
		return nil, nil
	})
}

// stopped starts do, and returns when its first request of the method to a path with the suffix is about to be sent: there it
// stays, as if the machine stood still, until resume is called. resume waits for the end of do.
func (b *bench) stopped(method, suffix string, do func()) (resume func()) {
	b.t.Helper()
	there, release, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	b.beforeFirst(method, suffix, func() { close(there); <-release })
	go func() { defer close(done); do() }()
	resume = sync.OnceFunc(func() { close(release); <-done })
	b.t.Cleanup(resume)
	select {
	case <-there:
	case <-done:
		b.t.Fatal("it ended without that request")
	}
	return resume
}

// sent is a request that the operator sent.
type sent struct {
	path, query, contentType string
	body                     map[string]any
}

// record remembers the bodies of the operator's requests of the method to paths that contain the part.
func (b *bench) record(method, part string) func() []sent {
	var mu sync.Mutex
	var all []sent
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method != method || !strings.Contains(r.URL.Path, part) {
			return nil, nil
		}
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		request := sent{path: r.URL.Path, query: r.URL.RawQuery, contentType: r.Header.Get("Content-Type")}
		if err := json.Unmarshal(raw, &request.body); err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, request)
		return nil, nil
	})
	return func() []sent {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// answering lets the API server answer the operator's list requests to paths with the suffix, and change alter each answer.
// page counts the requests, from 1.
func (b *bench) answering(suffix string, change func(page int, r *http.Request, body []byte) *http.Response) {
	b.t.Helper()
	web, err := rest.HTTPClientFor(env.Config)
	must(b.t, err)
	var mu sync.Mutex
	page := 0
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, suffix) {
			return nil, nil
		}
		mu.Lock()
		defer mu.Unlock()
		page++
		response, err := web.Transport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			return answer(r, response.StatusCode, body), err
		}
		return change(page, r, body), nil
	})
}

// answer is a JSON answer of the API server.
func answer(r *http.Request, code int, body []byte) *http.Response {
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// refusal is an answer with an error of the API server's.
func refusal(t *testing.T, r *http.Request, status *apierrors.StatusError) *http.Response {
	whole := status.ErrStatus
	whole.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	body, err := json.Marshal(whole)
	if err != nil {
		t.Error(err)
	}
	return answer(r, int(status.ErrStatus.Code), body)
}

// cutOff is the beginning of an answer whose connection broke.
func cutOff(r *http.Request, body []byte) *http.Response {
	response := answer(r, http.StatusOK, nil)
	response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:len(body)/2]), broken{}))
	response.ContentLength = int64(len(body))
	return response
}

// broken is a connection that broke.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// paths are those of the operator's requests of the method that the test is about: not of its own records and their kinds.
func (l *requestLog) paths(method string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var paths []string
	for _, entry := range l.entries {
		m, path, _ := strings.Cut(entry, " ")
		if m == method && path != schemaPath && !strings.HasPrefix(path, "/apis/apps.projectsveltos.io/") && strings.Count(path, "/") > 2 {
			paths = append(paths, path)
		}
	}
	return paths
}

// wantUntouched fails the test if the operator changed or deleted anything but its own records.
func (b *bench) wantUntouched() {
	b.t.Helper()
	for _, method := range []string{http.MethodDelete, http.MethodPatch, http.MethodPut} {
		if paths := b.requests.paths(method); len(paths) > 0 {
			b.t.Fatalf("the operator sent %s to %v", method, paths)
		}
	}
}
