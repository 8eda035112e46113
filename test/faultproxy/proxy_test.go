// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// upstream stands for an API server that counts what it was asked, and answers with an object.
func upstream(t *testing.T) (*rest.Config, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path == "/login" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"user": %q, "as": %q, "sent": %q}`, r.Header.Get("Authorization"), r.Header.Get("Impersonate-User"), body)
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, BearerToken: "secret", TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, &asked
}

const object = "/api/v1/namespaces/a/configmaps/b"

// put sends a PUT through the proxy, and returns what a careful client gets.
func put(t *testing.T, p *Proxy) (map[string]string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, p.Config().Host+object, strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Impersonate-User", "somebody")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK || string(body) == "{}" || strings.Contains(string(body), `"status":"Failure"`) {
		return nil, fmt.Errorf("%s: %s", response.Status, body)
	}
	var answer map[string]string
	return answer, json.Unmarshal(body, &answer)
}

func TestPassesThroughWithTheTargetsIdentity(t *testing.T) {
	config, _ := upstream(t)
	answer, err := put(t, Start(t, config))
	if err != nil || answer["user"] != "Bearer secret" || answer["as"] != "somebody" || answer["sent"] != "hello" {
		t.Fatal(answer, err)
	}
}

// What each kind of fault does to a write: how often it is applied, and whether the client gets an answer that makes sense.
func TestKinds(t *testing.T) {
	twice := map[string]int64{"sent twice": 2}
	applied := map[string]bool{
		"cut after applying": true, "500 after applying": true, "504 after applying": true, "504 before applying": true, "cut in the body": true,
		"half a body": true, "delayed after applying": true, "slow body": true, "sent twice": true, "stale list": true,
		"redirect to itself": true, // by the GET that the client makes of it
	}
	if len(Kinds) < 25 {
		t.Errorf("there are %d kinds", len(Kinds))
	}
	for _, kind := range Kinds {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			config, asked := upstream(t)
			p := Start(t, config)
			p.Handle(func(c *Call) Fault {
				if c.Index == 0 {
					return kind.Fault
				}
				return nil
			})
			answer, err := put(t, p)
			p.Wait()
			if want := kind.Answer == Broken && !kind.Pages; want != (err != nil) && kind.Name != "redirect to itself" {
				t.Errorf("the client got %v %v", answer, err)
			}
			want := twice[kind.Name]
			if want == 0 && (applied[kind.Name] || kind.Pages) {
				want = 1
			}
			if asked.Load() != want {
				t.Errorf("it was applied %d times, want %d", asked.Load(), want)
			}
		})
	}
}

// What is still hanging at the end of a test ends with it.
func TestHangEndsWithTheTest(t *testing.T) {
	config, _ := upstream(t)
	ended := make(chan error, 1)
	began := time.Now()
	t.Run("hanging", func(t *testing.T) {
		p := Start(t, config)
		arrived := make(chan struct{})
		p.Handle(func(*Call) Fault { close(arrived); return Hang(time.Hour) })
		go func() {
			response, err := http.Get(p.Config().Host + object)
			if err == nil {
				_ = response.Body.Close()
			}
			ended <- err
		}()
		<-arrived
	})
	if err := <-ended; err == nil || time.Since(began) > time.Minute {
		t.Fatal("the request ended with", err, "after", time.Since(began))
	}
}

func TestCalls(t *testing.T) {
	for _, test := range []struct{ method, path, want string }{
		{"GET", "/api/v1/configmaps?limit=5", "list configmaps  / "},
		{"GET", "/api/v1/namespaces/a/configmaps?watch=true", "watch configmaps  a/ "},
		{"GET", "/api/v1/namespaces/a/configmaps/b", "get configmaps  a/b"},
		{"POST", "/api/v1/namespaces/a/secrets", "create secrets  a/ "},
		{"GET", "/api/v1/namespaces/a", "get namespaces  /a"},
		{"GET", "/api/v1/namespaces", "list namespaces  / "},
		{"PUT", "/api/v1/namespaces/a/finalize", "update namespaces finalize /a"},
		{"DELETE", "/apis/apps/v1/namespaces/a/deployments/b", "delete deployments  a/b"},
		{"DELETE", "/apis/apps/v1/namespaces/a/deployments", "deletecollection deployments  a/ "},
		{"PATCH", "/apis/apps.projectsveltos.io/v1alpha1/cleanerruns/c/status", "patch cleanerruns status /c"},
		{"GET", "/apis/apps/v1", "get   / "},
		{"GET", "/api/v1", "get   / "},
		{"GET", "/version", "get   / "},
	} {
		c := newCall(httptest.NewRequest(test.method, test.path, nil))
		got := fmt.Sprintf("%s %s %s %s/%s", c.Verb, c.Resource, c.Subresource, c.Namespace, c.Name)
		if strings.TrimSpace(got) != strings.TrimSpace(test.want) {
			t.Errorf("%s %s is %q, want %q", test.method, test.path, got, test.want)
		}
	}
}

func TestCallsAreCounted(t *testing.T) {
	config, _ := upstream(t)
	p := Start(t, config)
	var seen []string
	p.Handle(func(c *Call) Fault { seen = append(seen, fmt.Sprint(c.Index, c.Nth, " ", c.Verb)); return nil })
	for _, path := range []string{object, object, "/api/v1/configmaps?watch=1", "/version", object} {
		response, err := http.Get(p.Config().Host + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	if got := strings.Join(seen, ", "); got != "0 0 get, 1 1 get, 2 0 get, 3 2 get" {
		t.Fatal(got)
	}
}

func TestKubeconfig(t *testing.T) {
	config, _ := upstream(t)
	p := Start(t, config)
	loaded, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig(t))
	if err != nil || loaded.Host != p.Config().Host {
		t.Fatal(loaded, err)
	}
}
