// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package faultproxy is a proxy in front of a test's API server that does to chosen requests what networks, gateways
// and busy servers do to them: it refuses, delays, cuts, repeats and garbles.
package faultproxy

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Proxy passes requests on with the identity of its target's config, whoever sends them. Impersonation works through
// it.
type Proxy struct {
	server *httptest.Server
	next   http.Handler
	target *rest.Config

	mu sync.Mutex
	// watch, if any, is called for changes that are passed on.
	watch func(c *Call, tampered bool)
	// idle is called when no request is being dealt with; busy is how many are.
	idle  *sync.Cond
	busy  int
	rule  func(*Call) Fault
	calls int
	nth   map[[2]string]int
}

// Start listens on loopback; it ends with the test.
func Start(t testing.TB, target *rest.Config) *Proxy {
	t.Helper()
	address, _, err := rest.DefaultServerUrlFor(target)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(target)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{target: target, nth: map[[2]string]int{}}
	p.idle = sync.NewCond(&p.mu)
	p.next = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(address) },
		Transport:     transport,
		FlushInterval: -1, // watches
		ErrorLog:      log.New(io.Discard, "", 0),
		// As if there were no proxy: the connection breaks.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {
			panic(http.ErrAbortHandler) //nolint:forbidigo // how a handler breaks its connection off
		},
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.server = httptest.NewUnstartedServer(p)
	p.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	p.server.Config.ConnContext = func(context.Context, net.Conn) context.Context { return ctx }
	p.server.Start()
	t.Cleanup(func() {
		cancel() // what hangs ends
		p.server.CloseClientConnections()
		p.server.Close()
	})
	return p
}

// Config is like the target, but through the proxy.
func (p *Proxy) Config() *rest.Config {
	return &rest.Config{Host: p.server.URL, QPS: p.target.QPS, Burst: p.target.Burst, Timeout: p.target.Timeout}
}

// Kubeconfig is the path of a file that says the same.
func (p *Proxy) Kubeconfig(t testing.TB) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: p.server.URL}
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Handle makes rule choose what happens to each request that comes from now on; with nil, and where rule returns nil,
// it passes through. rule is called concurrently. Watches always pass through, and are not counted.
func (p *Proxy) Handle(rule func(*Call) Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rule = rule
}

// Watch is called for each change of one object that is passed on to the API server: tampered is true when a fault
// passed it on, so that whoever sent it may not have got the answer.
func (p *Proxy) Watch(watch func(c *Call, tampered bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watch = watch
}

// passing is the API server for a call that is passed on.
func (p *Proxy) passing(call *Call, tampered bool) http.Handler {
	p.mu.Lock()
	watch := p.watch
	p.mu.Unlock()
	if watch == nil || !call.Changes() {
		return p.next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		watch(call, tampered)
		p.next.ServeHTTP(w, r)
	})
}

// Wait waits until every request that arrived has been dealt with, also one whose client has its answer already.
func (p *Proxy) Wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.busy > 0 {
		p.idle.Wait()
	}
}

// Calls is how many requests have arrived.
func (p *Proxy) Calls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls
}

// ServeHTTP passes a request on, or does to it what the rule says.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := newCall(r)
	if call.Verb == "watch" {
		p.next.ServeHTTP(w, r)
		return
	}
	rule := p.count(call)
	defer p.done()
	if rule != nil {
		if fault := rule(call); fault != nil {
			fault(w, r, p.passing(call, true))
			return
		}
	}
	p.passing(call, false).ServeHTTP(w, r)
}

func (p *Proxy) count(call *Call) func(*Call) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	kind := [2]string{call.Verb, call.Resource}
	call.Index, call.Nth = p.calls, p.nth[kind]
	p.calls++
	p.busy++
	p.nth[kind]++
	return p.rule
}

func (p *Proxy) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy--; p.busy == 0 {
		p.idle.Broadcast()
	}
}
