// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/egress"
)

const (
	// attemptTimeout is how long a service may take for one answer.
	attemptTimeout = 10 * time.Second
	// attempts is how often a request is sent that was answered with 429 or 5xx; retryPause is the time before the second
	// one, and maxPause the longest that a service may ask for here. What takes longer is left to who sends the message
	// again.
	attempts   = 3
	retryPause = 500 * time.Millisecond
	maxPause   = 10 * time.Second
	// maxAnswer is how much of an answer is read.
	maxAnswer = 64 << 10
	// maxRetryAfter is the longest that a service is left alone.
	maxRetryAfter = 24 * time.Hour
)

// Sender is what all channels reach their services by. It is safe for concurrent use.
type Sender struct {
	// Page is the address of the page, without a path, to which messages link. Empty means no links.
	Page string
	// direct connects to services; proxied to the proxy, which may be on this machine, as the environment says.
	direct, proxied *http.Transport
	proxy           func(*http.Request) (*url.URL, error)
	// guard says where the services may be.
	guard   egress.Guard
	dialer  net.Dialer
	tls     *tls.Config
	clock   clock.Clock
	timeout time.Duration
}

// NewSender returns a Sender that trusts the authorities; nil stands for the system's. proxy says by which proxy HTTP
// requests go, as in http.Transport. The guard says where the services may be.
func NewSender(
	authorities *x509.CertPool,
	proxy func(*http.Request) (*url.URL, error),
	guard egress.Guard,
	clk clock.Clock,
) *Sender {
	s := &Sender{
		dialer: net.Dialer{Timeout: attemptTimeout}, clock: clk, timeout: attemptTimeout, proxy: proxy, guard: guard,
		tls: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12},
	}
	s.direct = &http.Transport{
		DialContext:            s.dial,
		TLSClientConfig:        s.tls,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        attemptTimeout,
		TLSHandshakeTimeout:    attemptTimeout,
		MaxResponseHeaderBytes: maxAnswer,
	}
	s.proxied = s.direct.Clone()
	s.proxied.Proxy, s.proxied.DialContext = proxy, s.dialer.DialContext
	return s
}

// dial connects to a service.
func (s *Sender) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return s.guard.Dial(ctx, s.dialer, network, address)
}

// transport is the way to where a request goes. A connection that is limited to a namespace is used once: no other may
// use it.
func (c *call) transport(request *http.Request) (*http.Transport, error) {
	s := c.sender
	if s.proxy != nil {
		proxy, err := s.proxy(request)
		if err != nil {
			return nil, err
		}
		if proxy != nil {
			return s.proxied, c.guard.Proxied(request.Context(), request.URL.Hostname())
		}
	}
	if c.guard.Namespace == "" {
		return s.direct, nil
	}
	limited := s.direct.Clone()
	limited.DialContext, limited.DisableKeepAlives = c.dial, true
	return limited, nil
}

// dial connects to a service.
func (c *call) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return c.guard.Dial(ctx, c.sender.dialer, network, address)
}

// call is one delivery. To the services' libraries it is the transport of their HTTP client; it remembers how their
// last request went, because what they make of that may quote addresses and tokens.
type call struct {
	sender *Sender
	// guard is the sender's, or one that is limited to the namespace of the Secret.
	guard egress.Guard
	// failure is why the last request got no answer that the service meant. status is that of its answer.
	failure *Error
	status  int
}

func (c *call) client() *http.Client { return &http.Client{Transport: c} }

// RoundTrip sends a request, again if it may help, and returns the answer if it is a success or the service's refusal.
func (c *call) RoundTrip(request *http.Request) (*http.Response, error) {
	c.failure, c.status = nil, 0
	var body []byte
	if request.Body != nil {
		var err error
		body, err = io.ReadAll(request.Body)
		if err = errors.Join(err, request.Body.Close()); err != nil {
			c.failure = permanent("the message could not be put together")
			return nil, c.failure
		}
	}
	for attempt := 1; ; attempt++ {
		response, failure := c.attempt(request, body)
		if failure == nil {
			return response, nil
		}
		c.failure = failure
		if attempt == attempts || !failure.again || !c.pause(request.Context(), attempt, failure.RetryAfter) {
			return nil, failure
		}
	}
}

// attempt sends the request once and reads the answer.
func (c *call) attempt(request *http.Request, body []byte) (*http.Response, *Error) {
	ctx, cancel := context.WithTimeout(request.Context(), c.sender.timeout)
	defer cancel()
	one := request.Clone(ctx)
	one.Body, one.ContentLength, one.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	one.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	transport, err := c.transport(one)
	if err != nil {
		return nil, unreachable(request.Context(), err, c.sender.timeout)
	}
	response, err := transport.RoundTrip(one)
	if err != nil {
		return nil, unreachable(request.Context(), err, c.sender.timeout)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, unreachable(request.Context(), err, c.sender.timeout)
	}
	response.Body, c.status = io.NopCloser(bytes.NewReader(answer)), response.StatusCode
	switch failure := answered(response.StatusCode, "", ""); {
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return nil, permanent(
			"the service answered %d: it redirects to another address, and redirects are not followed. Put the final address into the Secret",
			response.StatusCode,
		)
	case response.StatusCode >= 300 && !failure.Permanent:
		failure.RetryAfter = c.retryAfter(response.Header.Get("Retry-After"), answer)
		failure.again = response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests
		return nil, failure
	}
	return response, nil
}

// retryAfter is for how long the service asks to be left alone: in seconds or as a time in the header or, as Telegram
// and Discord have it, in the answer.
func (c *call) retryAfter(header string, answer []byte) time.Duration {
	seconds, err := strconv.ParseFloat(header, 64)
	if at, dateErr := http.ParseTime(header); dateErr == nil {
		seconds, err = at.Sub(c.sender.clock.Now()).Seconds(), nil
	}
	if err != nil {
		var body struct {
			RetryAfter float64 `json:"retry_after"`
			Parameters struct {
				RetryAfter float64 `json:"retry_after"`
			} `json:"parameters"`
		}
		if json.Unmarshal(answer, &body) == nil {
			seconds = cmp.Or(body.RetryAfter, body.Parameters.RetryAfter)
		}
	}
	if !(seconds > 0) { // NaN too
		return 0
	}
	return time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
}

// pause waits before the next attempt, a little longer each time and never for all senders alike. It returns false when
// there is no time for that.
func (c *call) pause(ctx context.Context, attempt int, asked time.Duration) bool {
	pause := retryPause << (attempt - 1)
	pause = max(asked, pause/2) + rand.N(pause)
	if deadline, ok := ctx.Deadline(); pause > maxPause || ok && c.sender.clock.Now().Add(pause).After(deadline) {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-c.sender.clock.After(pause):
		return true
	}
}

// explain is the error of a library's call in our words. hint is the way out of a refusal.
func (c *call) explain(hint string) *Error {
	switch {
	case c.failure != nil:
		return c.failure
	case c.status >= 400:
		return answered(c.status, "", hint)
	default:
		return passing("the service's answer could not be understood")
	}
}

// post sends a request of our own, and returns the answer.
func (c *call) post(
	ctx context.Context,
	address, contentType string,
	body []byte,
	header http.Header,
) (answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, permanent("the address of the service is not a URL")
	}
	for name, of := range header {
		request.Header[name] = of
	}
	request.Header.Set("Content-Type", contentType)
	if request.Header.Get("User-Agent") == "" {
		request.Header.Set("User-Agent", "kubecleaner")
	}
	response, err := c.client().Do(request)
	if err != nil {
		return nil, c.explain("")
	}
	defer func() { _ = response.Body.Close() }()
	return io.ReadAll(response.Body)
}
