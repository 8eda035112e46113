// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
)

// through makes the site's commands go through a proxy, which hands on the requests to the API server that seen lets pass.
func (s *site) through(seen func(w http.ResponseWriter, r *http.Request) (passes bool)) {
	s.Helper()
	config := realCluster(s.T).Config
	target, err := url.Parse(config.Host)
	must(s.T, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport, err = rest.TransportFor(config)
	must(s.T, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if seen(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	s.Cleanup(server.Close)
	s.kubeconfig = filepath.Join(s.TempDir(), "kubeconfig")
	must(s.T, os.WriteFile(s.kubeconfig, []byte(fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a}}],
clusters: [{name: a, cluster: {server: %q}}]}`, server.URL)), 0o600))
}

// TestRunsComeInPages, also when the server does not know any more where the next page begins.
func TestRunsComeInPages(t *testing.T) {
	s := newSite(t)
	const all = 520
	labels := map[string]string{"of": s.namespace}
	t.Cleanup(func() {
		must(t, s.DeleteAllOf(context.Background(), &v1alpha1.CleanerRun{}, client.MatchingLabels(labels)))
	})
	var group errgroup.Group
	group.SetLimit(8)
	for i := range all {
		group.Go(func() error {
			return s.Create(t.Context(), &v1alpha1.CleanerRun{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("paged-%03d", i), Labels: labels},
				Spec:       v1alpha1.CleanerRunSpec{Cleaner: "paged", CleanerUID: "u", NominalTime: nominal, Trigger: v1alpha1.TriggerManual, Action: v1alpha1.ActionScan},
			})
		})
	}
	must(t, group.Wait())
	for name, expires := range map[string]bool{"all pages are there": false, "the second page has expired": true} {
		t.Run(name, func(t *testing.T) {
			s := *s
			s.T = t
			var mu sync.Mutex
			var limits []string
			s.through(func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/cleanerruns") {
					return true
				}
				mu.Lock()
				defer mu.Unlock()
				limits = append(limits, r.URL.Query().Get("limit"))
				if !expires || r.URL.Query().Get("continue") == "" {
					return true
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusGone)
				must(t, json.NewEncoder(w).Encode(metav1.Status{
					TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: http.StatusGone,
				}))
				return false
			})
			got := s.call(t.Context(), nil, "runs", "paged", "-o", "name")
			seen := map[string]bool{}
			for line := range strings.Lines(got.out) {
				seen[line] = true
			}
			if got.code != codes.ExitDone || len(seen) != all || strings.Count(got.out, "\n") != all {
				t.Errorf("exit %d with %d lines, %d of them different: %s", got.code, strings.Count(got.out, "\n"), len(seen), got.errOut)
			}
			want := "500 500"
			if expires {
				want += " " // all at once
			}
			if asked := strings.Join(limits, " "); asked != want {
				t.Errorf("the requests' limits were %q, want %q", asked, want)
			}
		})
	}
}

func TestNoRunsAreAnEmptyList(t *testing.T) {
	s := newSite(t)
	got := s.call(t.Context(), nil, "runs", s.cleaner().Name, "-o", "json")
	if got.code != codes.ExitDone || !strings.Contains(got.out, `"items": []`) {
		t.Errorf("exit %d: %s%s", got.code, got.out, got.errOut)
	}
}
