// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"

	"github.com/kubecleaner/kubecleaner/pkg/egress"
)

// sourceError says why a source gave no result. All words are ours: what a source or a library says may quote the
// answer.
type sourceError struct {
	reason string
}

func (e *sourceError) Error() string { return e.reason }

// unreachable puts into words why there was no answer.
func unreachable(err error) *sourceError { //nolint:cyclop // a flat switch over errors
	var (
		dns        *net.DNSError
		untrusted  x509.UnknownAuthorityError
		unverified *tls.CertificateVerificationError
		plain      tls.RecordHeaderError
		timedOut   net.Error
	)
	reason := "the connection broke off"
	switch {
	case errors.Is(err, egress.ErrOwnMachine):
		reason = "its name resolves to an address from which metrics are never read: this machine, or the API server; if it is meant, name the host in the operator's --allowed-metric-hosts"
	case errors.Is(err, egress.ErrNotAHost):
		reason = "its name resolves to an address from which metrics are never read, whatever the operator's flags say: it is link-local, a cloud's metadata service, or not the address of a single host"
	case errors.Is(err, egress.ErrPrivate):
		reason = "its name resolves to a private address that does not belong to a Service in the namespace; if it is meant, name the host in the operator's --allowed-metric-hosts"
	case errors.As(err, &dns) && dns.IsNotFound:
		reason = "its name is not known; check url. Outside of the cluster, Services have no names"
	case errors.As(err, &dns):
		reason = "its name could not be looked up: the cluster's DNS did not answer"
	case errors.As(err, &untrusted):
		reason = "its certificate is signed by an authority that is not trusted; if it is your own, give it to the operator with --notify-ca-file"
	case errors.As(err, &unverified):
		reason = "its certificate is not valid, not at this time, or for another host name"
	case errors.As(err, &plain), errors.Is(err, http.ErrSchemeMismatch):
		reason = "it does not speak TLS; check whether the url is one of https, and its port"
	case errors.As(err, &timedOut) && timedOut.Timeout():
		reason = fmt.Sprintf("it did not answer within %s", queryTimeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		reason = "it refused the connection"
	}
	return &sourceError{reason}
}

// refusal is an answer that is none of success.
func refusal(status int) error {
	hint := ""
	switch {
	case status >= 200 && status < 300:
		return nil
	case status >= 300 && status < 400:
		hint = ": it redirects to another address, and redirects are not followed. Put the final address into url"
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity:
		hint = "; try the query in the web page of Prometheus"
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		hint = "; check the Secret that metricSource.secretRef names"
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		hint = "; check url and path"
	}
	return &sourceError{fmt.Sprintf("it answered %d %s%s", status, http.StatusText(status), hint)}
}
