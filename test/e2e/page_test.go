// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"
)

// page turns the page of the chart on, and looks at it as a person with the rights to view one namespace.
func page(t *testing.T) {
	public, key, err := cert.GenerateSelfSignedCertKey("localhost", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string][]byte{"tls.crt": public, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	do(t, "", kubectl("-n", operator, "create", "secret", "tls", "kubecleaner-dashboard-tls",
		"--cert", filepath.Join(dir, "tls.crt"), "--key", filepath.Join(dir, "tls.key"))...)
	do(t, "", helm("upgrade", "kubecleaner", "../../charts/kubecleaner", "--reuse-values", "--set", "dashboard.enabled=true")...)
	do(t, "", kubectl("-n", operator, "rollout", "status", "deployment/kubecleaner-dashboard", "--timeout=120s")...)
	do(t, "", kubectl("-n", team, "create", "serviceaccount", "jane")...)
	do(t, "", kubectl("-n", team, "create", "rolebinding", "jane", "--clusterrole=view", "--serviceaccount="+team+":jane")...)
	token := strings.TrimSpace(do(t, "", kubectl("-n", team, "create", "token", "jane")...))

	url := forward(t, "service/kubecleaner-dashboard")
	browser := newBrowser(public)
	for _, asked := range []struct {
		path, token string
		status      int
		want        string
	}{
		{"/api/v1/whoami", "", http.StatusUnauthorized, "you are not logged in"},
		{"/api/v1/whoami", token, http.StatusOK, "system:serviceaccount:" + team + ":jane"},
		{"/api/v1/findings?kind=ConfigMap&namespace=" + team, token, http.StatusOK, "left-over"},
		{"/api/v1/cleaners", token, http.StatusForbidden, "list cleaners.apps.projectsveltos.io"},
	} {
		status, answer := ask(t, browser, url+asked.path, asked.token)
		if status != asked.status || !strings.Contains(answer, asked.want) {
			t.Errorf("%s: %d %.500s", asked.path, status, answer)
		}
	}
}

var forwarding = regexp.MustCompile(`Forwarding from 127\.0\.0\.1:(\d+)`)

// forward runs kubectl port-forward, and returns the address that leads to the port 443 of the target.
func forward(t *testing.T, target string) string {
	t.Helper()
	args := kubectl("-n", operator, "port-forward", target, ":443")
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	found := forwarding.FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("kubectl port-forward printed %q: %v", line, err)
	}
	return "https://localhost:" + found[1]
}

// newBrowser trusts one certificate.
func newBrowser(certificate []byte) *http.Client {
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(certificate)
	return &http.Client{
		Timeout:   time.Minute,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}},
	}
}

func ask(t *testing.T, browser *http.Client, url, token string) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}
