// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// everything is what the tests ask for.
var everything = query{
	kind: object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Resource: "configmaps", Namespaced: true},
	path: "/api/v1/configmaps",
}

// fakeServer answers lists in a bubble of synctest, where there can be no network. What the API server itself answers is tried in
// test/integration.
type fakeServer struct {
	// objects is how many there are, each of size bytes, and each is how long one takes.
	objects, size int
	each          time.Duration
	// status is what to refuse all with. The first cut answers break off in their middle, or all do. panics makes the client panic.
	status, cut       int
	cutAlways, panics bool

	mu    sync.Mutex
	begun []time.Time
}

func (s *fakeServer) reader(t *testing.T, account string) *Reader {
	t.Helper()
	config := &rest.Config{Host: "http://server", QPS: -1, ContentConfig: rest.ContentConfig{
		GroupVersion: &schema.GroupVersion{}, NegotiatedSerializer: serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion(),
	}}
	client, err := rest.RESTClientForConfigAndClient(config, &http.Client{Transport: asAccount{s, account}})
	if err != nil {
		t.Fatal(err)
	}
	r := NewReader(client, clock.RealClock{})
	large := true
	r.largePages = &large
	return r
}

type asAccount struct {
	server  *fakeServer
	account string
}

func (a asAccount) RoundTrip(r *http.Request) (*http.Response, error) {
	s := a.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = append(s.begun, time.Now())
	number := len(s.begun) - 1
	if s.panics && number > 0 {
		panic("the server's client panicked") //nolint:forbidigo // what is tried
	}
	answer := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: r}
	if s.status != 0 {
		answer.StatusCode = s.status
		answer.Body = io.NopCloser(strings.NewReader(`{"kind":"Status","status":"Failure","message":"no"}`))
		return answer, nil
	}
	cut := s.cutAlways || number > 0 && number <= s.cut
	answer.Body = io.NopCloser(&fakeList{server: s, ctx: r.Context(), account: a.account, request: number, cut: cut})
	return answer, nil
}

// fakeList is the text of a list that is being written. An object's name says in which request it was sent, and to whom.
type fakeList struct {
	server  *fakeServer
	ctx     context.Context
	account string
	request int
	cut     bool
	next    int
	text    []byte
	done    bool
}

func (l *fakeList) Read(p []byte) (int, error) {
	for len(l.text) == 0 {
		if err := l.write(); err != nil {
			return 0, err
		}
	}
	n := copy(p, l.text)
	l.text = l.text[n:]
	return n, nil
}

func (l *fakeList) write() error {
	s := l.server
	switch {
	case l.done:
		return io.EOF
	case l.next == 0:
		l.text = append(l.text, `{"metadata":{"resourceVersion":"7"},"items":[`...)
	}
	if s.each > 0 && l.next < s.objects {
		select {
		case <-time.After(s.each):
		case <-l.ctx.Done():
			return l.ctx.Err()
		}
	}
	switch {
	case l.cut && l.next == s.objects/2:
		return io.ErrUnexpectedEOF
	case l.next == s.objects:
		l.text = append(l.text, `]}`...)
		l.done = true
		return nil
	case l.next > 0:
		l.text = append(l.text, ',')
	}
	name := fmt.Sprintf("%d|%s|%d", l.request, l.account, l.next)
	l.text = fmt.Appendf(l.text, `{"metadata":{"name":%q,"uid":"u","resourceVersion":"1"},"data":"%s"}`, name, strings.Repeat("x", s.size))
	l.next++
	return nil
}

func (s *fakeServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.begun)
}
