// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// leaseHolder is who leads.
type leaseHolder struct{ holder string }

func (l *leaseHolder) read(ctx context.Context, c client.Client) error {
	var lease coordinationv1.Lease
	err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "kubecleaner-leader"}, &lease)
	l.holder = ptr.Deref(lease.Spec.HolderIdentity, "")
	return err
}

func TestMetricsAreServedToThoseWhoMayReadThem(t *testing.T) {
	c := newClient(t)
	address := freeAddress(t)
	m := startManager(t, "--diagnostics-address="+address)
	eventually(t, "metrics are served", func(context.Context) (bool, error) { // they may be a moment later than readiness
		connection, err := net.Dial("tcp", address)
		if err == nil {
			err = connection.Close()
		}
		return err == nil, nil
	})
	if code, _ := scrape(t, address, ""); code != http.StatusUnauthorized {
		t.Fatalf("without a token the answer is %d, want 401", code)
	}
	if code, _ := scrape(t, address, token(t, c, "nobody", false)); code != http.StatusForbidden {
		t.Fatalf("without rights the answer is %d, want 403", code)
	}
	code, body := scrape(t, address, token(t, c, "scraper", true))
	if code != http.StatusOK || !strings.Contains(body, "go_goroutines") || !strings.Contains(body, "kubecleaner_build_info{") {
		t.Fatalf("with rights the answer is %d: %.200s", code, body)
	}
	if code := m.probe("/healthz"); code != http.StatusOK {
		t.Fatalf("/healthz answers %d", code)
	}
}

// Prometheus can verify the operator's certificate when it is given one.
func TestMetricsCertificateCanBeVerified(t *testing.T) {
	const host = "kubecleaner-metrics.projectsveltos.svc"
	dir := t.TempDir()
	authorities := writeCertificate(t, dir, host)
	verifies := func(flags ...string) error {
		address := freeAddress(t)
		m := startManager(t, append(flags, "--leader-elect=false", "--diagnostics-address="+address)...)
		var refused error
		eventually(t, "metrics are served", func(context.Context) (bool, error) {
			connection, err := tls.Dial("tcp", address, &tls.Config{RootCAs: authorities, ServerName: host, MinVersion: tls.VersionTLS12})
			if err == nil {
				return true, connection.Close()
			}
			unverified := (*tls.CertificateVerificationError)(nil)
			if errors.As(err, &unverified) {
				refused = err
			}
			return refused != nil, nil
		})
		m.stop(t)
		return refused
	}
	if err := verifies("--diagnostics-cert-dir=" + dir); err != nil {
		t.Errorf("the certificate is refused: %v", err)
	}
	if verifies("--diagnostics-cert-dir="+t.TempDir()) == nil { // the Secret is optional
		t.Error("the operator's own certificate is taken for ours")
	}
}

// writeCertificate writes a new certificate for the host, and its key, and returns who signed it: itself.
func writeCertificate(t *testing.T, dir, host string) (authorities *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: serial, DNSNames: []string{host}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	private, err := x509.MarshalECPrivateKey(key)
	must(t, err)
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	must(t, os.WriteFile(filepath.Join(dir, "tls.crt"), public, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "tls.key"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}), 0o600))
	authorities = x509.NewCertPool()
	authorities.AppendCertsFromPEM(public)
	return authorities
}

// token makes a ServiceAccount, with the right to read metrics or without, and a token for it.
func token(t *testing.T, c client.Client, name string, mayRead bool) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	must(t, c.Create(t.Context(), account))
	if mayRead {
		must(t, c.Create(t.Context(), &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
		}))
		must(t, c.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: name}},
		}))
	}
	request := &authenticationv1.TokenRequest{}
	must(t, c.SubResource("token").Create(t.Context(), account, request))
	return request.Status.Token
}

func scrape(t *testing.T, address, token string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/metrics", nil)
	must(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	// The certificate is made anew at each start: there is no --diagnostics-cert-dir.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(body)
}
