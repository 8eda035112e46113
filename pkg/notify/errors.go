// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"syscall"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/egress"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// Error says why a message was not delivered. What libraries and services say is never passed on, because it may quote
// the address, the token or the message: all words are ours. Only for an Event that the API server did not take are its
// own words passed on.
type Error struct {
	// Reason is a sentence, with the way out where there is one.
	Reason string
	// Permanent is true when it is of no use to send the message again as it is.
	Permanent bool
	// RetryAfter is for how long the service asked to be left alone. 0 when it did not say.
	RetryAfter time.Duration

	// again is true for what may have passed in a moment.
	again bool
	// unwritten are the objects whose Events are still to be written.
	unwritten []stage.Outcome
}

// Error implements error.
func (e *Error) Error() string { return e.Reason }

// permanent is an error that stays until somebody changes something.
func permanent(format string, args ...any) *Error {
	return &Error{Reason: fmt.Sprintf(format, args...), Permanent: true}
}

// passing is an error that may pass by itself.
func passing(format string, args ...any) *Error {
	return &Error{Reason: fmt.Sprintf(format, args...)}
}

// unreachable puts into words why there was no answer. timeout is what a request had.
func unreachable(ctx context.Context, err error, timeout time.Duration) *Error { //nolint:cyclop // a flat switch over errors
	var (
		dns        *net.DNSError
		untrusted  x509.UnknownAuthorityError
		otherName  x509.HostnameError
		invalid    x509.CertificateInvalidError
		unverified *tls.CertificateVerificationError
		plain      tls.RecordHeaderError
		timedOut   net.Error
		dial       *net.OpError
	)
	switch {
	case ctx.Err() != nil:
		return passing("the service had not answered when the time for the notification was over")
	case errors.Is(err, egress.ErrNotAHost):
		return permanent(
			"no notification is sent to this address: it is link-local, a cloud's metadata service, or not the address of a single host",
		)
	case errors.Is(err, egress.ErrPrivate):
		return permanent(
			"the address is private, and the Cleaner names a ServiceAccount: use a Service in the Secret's own namespace (NAME.NAMESPACE.svc), or name the host in the operator's flag --allowed-notification-hosts",
		)
	case errors.Is(err, egress.ErrOwnMachine):
		return permanent(
			"no notification is sent to this address: it is this machine's own or the API server's. If you mean it, name its host in the flag --allowed-notification-hosts of the operator and of kubectl cleaner notify test",
		)
	case errors.As(err, &dns) && dns.IsNotFound:
		return passing("the service's host is not known; check its name in the Secret, and the cluster's DNS")
	case errors.As(err, &dns):
		return passing("the service's host could not be looked up: the cluster's DNS did not answer")
	case errors.As(err, &untrusted):
		return passing(
			"the service's certificate is signed by an authority that is not trusted; if it is your own, give it to the operator with --notify-ca-file, which is read when it starts",
		)
	case errors.As(err, &otherName):
		return passing(
			"the service's certificate is for another host name; check the host in the Secret, or let the service have a certificate for it",
		)
	case errors.As(err, &invalid), errors.As(err, &unverified):
		return passing("the service's certificate is not valid, or not at this time")
	case errors.As(err, &plain):
		return passing("the service does not speak TLS; check whether the address is of https, and its port")
	case errors.As(err, &timedOut) && timedOut.Timeout():
		return passing("the service did not answer within %s", timeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		return passing("the service refused the connection")
	case errors.As(err, &dial) && dial.Op == "dial":
		return passing("the service cannot be reached; check its address, and the network policies of the cluster")
	}
	return passing("the connection to the service broke off")
}

// answered is an answer that is none of success. code is the service's own, if it gave one.
func answered(status int, code, hint string) *Error {
	text := fmt.Sprintf("the service answered %d %s", status, http.StatusText(status))
	if code = shortCode(code); code != "" {
		text += " (" + code + ")"
	}
	if hint != "" {
		text += "; " + hint
	}
	passes := status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout ||
		status == http.StatusTooEarly
	return &Error{Reason: text, Permanent: !passes}
}

// codes are what services distinguish errors by, such as channel_not_found or 50001.
var codes = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,48}$`)

// shortCode is the code, if it is one and not a text.
func shortCode(code string) string {
	if codes.MatchString(code) {
		return code
	}
	return ""
}
