// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/go-logr/logr"

	"github.com/kubecleaner/kubecleaner/test/testenv"
)

var env *testenv.Env

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, &env, testenv.Options{})) }

// TestTwoServersInOneBrowser is of somebody who looks at two clusters. Browsers send cookies to all ports of a host.
func TestTwoServersInOneBrowser(t *testing.T) {
	jar, err := cookiejar.New(nil)
	must(t, err)
	one, other := visitWith(t, env.Config, jar), visitWith(t, env.Config, jar)
	one.wants(http.StatusOK, http.MethodGet, "whoami", nil, nil)
	other.wants(http.StatusOK, http.MethodGet, "whoami", nil, nil)
}

// TestRoutesOfAnAdministrator reads each list as somebody who may, and as somebody who may nothing.
func TestRoutesOfAnAdministrator(t *testing.T) {
	nobody, err := env.AddUser("nobody")
	if err != nil {
		t.Fatal(err)
	}
	for name, config := range map[string]Options{"admin": {Cluster: env.Config}, "nobody": {Cluster: nobody.Config()}} {
		config.Mode, config.Ticket, config.Now, config.Log = ModeLocal, "once", time.Now, logr.Discard()
		config.Files, config.OperatorNamespace = fstest.MapFS{}, "projectsveltos"
		handler := New(config).Handler()
		enter := httptest.NewRecorder()
		handler.ServeHTTP(enter, httptest.NewRequest(http.MethodGet, "/?token=once", nil))
		for path, right := range map[string]string{
			"whoami": "", "access": "", "summary": "", "library": "", "health": "", "cleaners": "list cleaners.apps.projectsveltos.io",
			"runs":    "list cleanerruns.apps.projectsveltos.io",
			"reports": "list reports.apps.projectsveltos.io",
		} {
			r, w := httptest.NewRequest(http.MethodGet, "/api/v1/"+path, nil), httptest.NewRecorder()
			r.AddCookie(enter.Result().Cookies()[0])
			r.Header.Set(keyHeader, strings.TrimPrefix(enter.Header().Get("Location"), "/#key="))
			handler.ServeHTTP(w, r)
			if name == "admin" || right == "" {
				if w.Code != http.StatusOK {
					t.Errorf("%s %s: %d %s", name, path, w.Code, w.Body)
				}
			} else if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), `"missing":"`+right+`"`) {
				t.Errorf("%s %s: %d %s", name, path, w.Code, w.Body)
			}
		}
	}
}
