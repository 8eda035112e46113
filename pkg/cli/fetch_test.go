// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

// A Cleaner is read from the web over https, and over nothing else.
func TestFilesOfTheWeb(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/good.yaml":
			_, _ = w.Write([]byte(goodCleaner))
		case "/moved.yaml":
			http.Redirect(w, r, "/good.yaml", http.StatusFound)
		case "/lured.yaml":
			http.Redirect(w, r, plain.URL, http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	tests := []struct{ address, wantOut, wantErr string }{
		{server.URL + "/good.yaml", "Cleaner good (" + server.URL + "/good.yaml:2), action Scan", "1 Cleaner in 1 file: no problems"},
		{server.URL + "/moved.yaml", "Cleaner good", "no problems"},
		{server.URL + "/none.yaml", "", "error: reading " + server.URL + "/none.yaml: the server answers 404 Not Found   [E-FIL-001]"},
		{server.URL + "/lured.yaml", "", ": it is sent on too often, or to an address without https   [E-FIL-001]"},
		{plain.URL + "/a.yaml", "", "error: reading " + plain.URL + "/a.yaml: anybody on the way could change it; write https://, or download it first   [E-FIL-001]"},
	}
	for _, tt := range tests {
		var out, errOut bytes.Buffer
		options := terminal.Options{Scripts: sandbox.Config{Command: scriptChild}, Now: func() time.Time { return now }, HTTP: server.Client(), Getenv: func(string) string { return "" }}
		code := Execute(t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, options, []string{"lint", "-f", tt.address})
		if wantsError := tt.wantOut == ""; wantsError != (code == codes.ExitError) || !strings.Contains(out.String(), tt.wantOut) || !strings.Contains(errOut.String(), tt.wantErr) {
			t.Errorf("%s: exit code %d\n%s%s", tt.address, code, out.String(), errOut.String())
		}
	}
}
