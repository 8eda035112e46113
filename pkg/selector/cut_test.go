// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// An answer that breaks off is asked for again in smaller pages, over HTTP/2 as well, which has other words for it.
func TestListOverHTTP2IsReadAgainInSmallerPages(t *testing.T) {
	for broken, want := range map[int][]string{
		0: {"20000"}, 1: {"20000", "10000"}, 2: {"20000", "10000", "5000"},
		8:  {"20000", "10000", "5000", "2500", "1250", "625", "500", "500", "500"},
		99: {"20000", "10000", "5000", "2500", "1250", "625", "500", "500", "500"},
	} {
		t.Run(fmt.Sprint(broken), func(t *testing.T) {
			var mu sync.Mutex
			var limits []string
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				limits = append(limits, r.URL.Query().Get("limit"))
				cut := len(limits) <= broken
				mu.Unlock()
				if r.ProtoMajor != 2 {
					t.Errorf("the protocol is %s", r.Proto)
				}
				_, _ = w.Write([]byte(`{"metadata":{"resourceVersion":"7"},"items":[` + strings.Repeat(`{"metadata":{"name":"0||0","uid":"u","resourceVersion":"1"}},`, 100)))
				if cut {
					_ = http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler) //nolint:forbidigo // how a handler breaks its connection off
				}
				_, _ = w.Write([]byte(`{"metadata":{"name":"0||0","uid":"u","resourceVersion":"1"}}]}`))
			}))
			server.EnableHTTP2 = true
			server.StartTLS()
			t.Cleanup(server.Close)
			config := &rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{
				GroupVersion: &schema.GroupVersion{}, NegotiatedSerializer: serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion(),
			}}
			client, err := rest.RESTClientForConfigAndClient(config, server.Client())
			if err != nil {
				t.Fatal(err)
			}
			reader := NewReader(client, clock.RealClock{})
			large := true
			reader.largePages = &large
			s, err := read(t.Context(), reader, everything)
			switch {
			case broken < len(want) && (err != nil || len(s.names) != 101):
				t.Errorf("%d objects: %v", len(s.names), err)
			case broken >= len(want) && (err == nil || !strings.Contains(err.Error(), "listing ConfigMap (/api/v1/configmaps): ")):
				t.Errorf("the error is %v", err)
			}
			if !slices.Equal(limits, want) {
				t.Errorf("the limits were %q, want %q", limits, want)
			}
		})
	}
}
