// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/cert"
)

func TestDashboardOptions(t *testing.T) {
	const public, key = "--tls-cert-file=/tls/tls.crt", "--tls-private-key-file=/tls/tls.key"
	for name, c := range map[string]struct {
		args  []string
		hosts []string
		want  string // in the error
	}{
		"with a certificate":   {args: []string{public, key, "--hosts=Page.example.com,localhost"}, hosts: []string{"localhost", "page.example.com"}},
		"behind a proxy":       {args: []string{"--insecure-behind-proxy", "--hosts=page.example.com"}, hosts: []string{"page.example.com"}},
		"any host":             {args: []string{public, key, "--hosts=*"}},
		"underscores":          {args: []string{"--insecure_behind_proxy", "-hosts", "a.example.com"}, hosts: []string{"a.example.com"}},
		"nothing":              {want: "there is no certificate; set --tls-cert-file"},
		"no host":              {args: []string{public, key}, want: "--hosts is not set; write the names"},
		"an empty host":        {args: []string{public, key, "--hosts="}, want: "--hosts is not set; write the names"},
		"half a certificate":   {args: []string{public, "--hosts=*"}, want: "--tls-cert-file and --tls-private-key-file belong together"},
		"TLS and none":         {args: []string{public, key, "--insecure-behind-proxy", "--hosts=*"}, want: "--insecure-behind-proxy serves without TLS"},
		"a host with a port":   {args: []string{public, key, "--hosts=a:1"}, want: `the host "a:1" is neither`},
		"any host and another": {args: []string{public, key, "--hosts=*,a"}, want: `the host "*" is neither`},
		"no port":              {args: []string{public, key, "--hosts=*", "--bind-address=8443"}, want: `--bind-address is "8443"`},
		"no namespace":         {args: []string{public, key, "--hosts=*", "--operator-namespace=A"}, want: `--operator-namespace is "A"`},
		"log":                  {args: []string{public, key, "--hosts=*", "--log-level=x"}, want: `--log-level is "x"`},
		"a flag of the other":  {args: []string{"--dry-run"}, want: "there is no flag --dry-run"},
	} {
		t.Run(name, func(t *testing.T) {
			o, _, err := parseDashboard(c.args, "mine", io.Discard)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("the error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.hosts, o.hosts.list()); diff != "" || o.operatorNamespace != "mine" {
				t.Errorf("the operator's namespace is %s; %s", o.operatorNamespace, diff)
			}
		})
	}
}

// TestDashboardTakesNoRights: of the cluster, it has an address and authorities, also where a token lies about.
func TestDashboardTakesNoRights(t *testing.T) {
	o := &dashboardOptions{kubernetesCAFile: filepath.Join(t.TempDir(), "ca.crt")}
	variables := map[string]string{"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443", "KUBECONFIG": "/config"}
	get := func(name string) string { return variables[name] }
	if _, err := o.apiServer(get); err == nil || !strings.Contains(err.Error(), "--kubernetes-ca-file") {
		t.Errorf("without authorities, the error is %v", err)
	}
	text, _, err := cert.GenerateSelfSignedCertKey("kubernetes", nil, nil)
	if err == nil {
		err = os.WriteFile(o.kubernetesCAFile, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	config, err := o.apiServer(get)
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://[fd00::1]:443" || config.CAFile != o.kubernetesCAFile || config.Insecure {
		t.Errorf("the API server is %s, with %s", config.Host, config.CAFile)
	}
	if config.BearerToken+config.BearerTokenFile+config.CertFile+config.Username != "" || config.AuthProvider != nil || config.ExecProvider != nil {
		t.Errorf("it has rights of its own: %s", config)
	}
	if _, err := o.apiServer(func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), "use kubectl cleaner dashboard") {
		t.Errorf("outside of a Pod, the error is %v", err)
	}
}
