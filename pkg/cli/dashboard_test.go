// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/dashboard"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// page is one that nobody has to build.
var page = fstest.MapFS{"index.html": {Data: []byte("the page")}}

// serve is kubectl cleaner dashboard with these files as the page.
func serve(ctx context.Context, streams genericiooptions.IOStreams, options terminal.Options, files fs.FS, args ...string) int {
	s := terminal.New(streams, options)
	cmd := dashboard.WithFiles(s, func() (fs.FS, error) { return files, nil })
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	return s.Conclude(ctx, cmd.ExecuteContext(ctx))
}

// TestDashboardWithoutThePage: a build by Go alone has none, and prints no address that leads to nothing.
func TestDashboardWithoutThePage(t *testing.T) {
	t.Parallel()
	var out, errOut strings.Builder
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	code := serve(t.Context(), streams, terminal.Options{Now: time.Now, Getenv: os.Getenv}, fstest.MapFS{".gitkeep": {}})
	const want = "error: this program was built without the page: a Go build alone does not make it\n" +
		"hint: use the program of a release, or build it in a clone of the repository, with Node 20: make web build   [E-PAG-001]\n"
	if code != codes.ExitError || out.String() != "" || errOut.String() != want {
		t.Errorf("exit %d: %q, %q", code, out.String(), errOut.String())
	}
}

// TestDashboard opens the address that the command prints, asks who one is, and ends the command.
func TestDashboard(t *testing.T) {
	s := newSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: in, ErrOut: io.Discard}
		ended <- serve(ctx, streams, terminal.Options{Now: time.Now, Getenv: os.Getenv}, page, "--kubeconfig", s.kubeconfig)
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	address := strings.TrimSpace(line)
	if !regexp.MustCompile(`^http://127\.0\.0\.1:\d+/\?token=[A-Z2-7]{26}$`).MatchString(address) {
		t.Fatalf("it printed %q", line)
	}
	jar, err := cookiejar.New(nil)
	must(t, err)
	mine, others := &http.Client{Jar: jar}, &http.Client{}
	key := ""
	get := func(client *http.Client, url string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		must(t, err)
		request.Header.Set("X-Kubecleaner-Key", key)
		response, err := client.Do(request)
		must(t, err)
		if found, ok := strings.CutPrefix(response.Request.URL.Fragment, "key="); ok {
			key = found
		}
		body, err := io.ReadAll(response.Body)
		must(t, err)
		must(t, response.Body.Close())
		return response.StatusCode, string(body)
	}
	if status, answer := get(mine, address); status != http.StatusOK || answer != "the page" {
		t.Errorf("the address leads to %d %s", status, answer)
	}
	origin, _, _ := strings.Cut(address, "/?")
	if status, answer := get(mine, origin+"/api/v1/whoami"); status != http.StatusOK || !strings.Contains(answer, `"user":"admin"`) {
		t.Errorf("I am %d %s", status, answer)
	}
	for _, url := range []string{address, origin + "/api/v1/whoami"} {
		if status, answer := get(others, url); status != http.StatusUnauthorized {
			t.Errorf("another browser gets of %s: %d %s", url, status, answer)
		}
	}
	cancel()
	if code := <-ended; code != codes.ExitDone {
		t.Errorf("it ended with %d", code)
	}
}

// TestDashboardWithoutACluster: the page starts, and says in one line why it is empty.
func TestDashboardWithoutACluster(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "config")
	writeFile(t, kubeconfig, "{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: \"https://127.0.0.1:1\"}}], contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a}]}")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	errOut, in := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: in}
		ended <- serve(ctx, streams, terminal.Options{Now: time.Now, Getenv: func(string) string { return "" }}, page, "--kubeconfig", kubeconfig)
	}()
	line, err := bufio.NewReader(errOut).ReadString('\n')
	must(t, err)
	const want = "note: the API server does not answer, and the page shows nothing until it does: Get \"https://127.0.0.1:1/version\": dial tcp 127.0.0.1:1: connect: connection refused\n"
	if line != want {
		t.Errorf("it says %q, want %q", line, want)
	}
	cancel()
	if code := <-ended; code != codes.ExitDone {
		t.Errorf("it ended with %d", code)
	}
}
