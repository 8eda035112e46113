// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	prometheus "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/egress"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

const (
	// queryTimeout is how long a source may take for one query.
	queryTimeout = 10 * time.Second
	// maxAnswer is how long its answer may be, in bytes.
	maxAnswer = 1 << 20
)

// Metrics asks sources of metrics. It is safe for concurrent use.
type Metrics struct {
	client *http.Client
	tls    *tls.Config
	guard  egress.Guard
	// account is the one that the Cleaner names. Nil when it reads with the operator's rights.
	account *v1alpha1.ServiceAccountRef
	connect func(ctx context.Context, network, address string) (net.Conn, error)
}

// NewMetrics asks the Services of the cluster and the allowed hosts. It trusts the authorities; nil stands for the
// system's. apiServer is the API server's address, which is never asked for metrics.
func NewMetrics(authorities *x509.CertPool, allowed egress.Hosts, apiServer string) *Metrics {
	dialer := &net.Dialer{Timeout: queryTimeout}
	m := &Metrics{guard: egress.NewGuard(allowed, apiServer), connect: dialer.DialContext}
	m.tls = &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}
	m.client = m.newClient()
	return m
}

func (m *Metrics) newClient() *http.Client {
	// No proxy: it would look up the names itself. No connection is used twice: each one is looked at.
	return &http.Client{
		Timeout: queryTimeout,
		Transport: &http.Transport{
			DialContext: m.dial, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10,
			TLSClientConfig: m.tls,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// For asks for a Cleaner that names an account: only Services of one namespace, and the allowed hosts. Without an
// account it is the same.
func (m *Metrics) For(account *v1alpha1.ServiceAccountRef) *Metrics {
	if m == nil || account == nil {
		return m
	}
	limited := *m
	limited.account = account
	return &limited
}

// within asks Services of a namespace only. No connection is used twice, so that each client can have a dialer of its
// own.
func (m *Metrics) within(namespace string) *Metrics {
	limited := *m
	limited.guard.Namespace = namespace
	limited.client = limited.newClient()
	return &limited
}

// Ask asks a selector's queries, and writes down the results as JSON: a map with the map metrics. A query that finds no
// series is not in it. credentials are what the Secret holds that secretRef names. No error quotes an answer or a
// credential.
func (m *Metrics) Ask(
	ctx context.Context,
	spec *v1alpha1.ResourceSelector,
	credentials map[string][]byte,
) (object.JSON, error) {
	if err := errors.Join(checkMetrics(spec)...); err != nil {
		return nil, err
	}
	if err := m.Allow(spec); err != nil {
		return nil, err
	}
	at, err := endpoint(spec.MetricSource)
	if err != nil {
		return nil, err
	}
	login, err := authorization(spec.MetricSource.SecretRef, credentials)
	if err != nil {
		return nil, err
	}
	client := m.client
	if m.account != nil {
		client = m.within(m.namespace(spec)).client
	}
	results := map[string]float64{}
	for i, query := range spec.MetricQueries {
		result, found, err := m.ask(ctx, &source{client, at, login}, query.Query)
		if err != nil {
			return nil, fmt.Errorf("metricQueries[%d] (%s): asking %s: %w", i, query.Name, at.Host, err)
		}
		if found {
			results[query.Name] = result
		}
	}
	return WriteMetrics(results)
}

// WriteMetrics writes down results by the names of their queries as JSON: a map with the map metrics.
func WriteMetrics(results map[string]float64) (object.JSON, error) {
	all := make(map[string]json.Number, len(results))
	for name, result := range results {
		all[name] = written(result)
	}
	return json.Marshal(map[string]any{"metrics": all})
}

// authorization is the header that a source is asked with.
func authorization(ref *v1alpha1.SecretRef, credentials map[string][]byte) (string, error) {
	if ref == nil {
		return "", nil
	}
	of := func(key string) string { return strings.TrimRight(string(credentials[key]), "\r\n") } // as files end
	token, user, password := of("token"), of("username"), of("password")
	switch {
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "", fmt.Errorf(
			"metricSource.secretRef: the key token of Secret %s/%s holds what no token does, such as a space or a line break",
			ref.Namespace,
			ref.Name,
		)
	case token != "":
		return "Bearer " + token, nil
	case user == "" || password == "":
		return "", fmt.Errorf(
			"metricSource.secretRef: Secret %s/%s has neither the key token nor username and password",
			ref.Namespace,
			ref.Name,
		)
	}
	request := &http.Request{Header: http.Header{}}
	request.SetBasicAuth(user, password)
	return request.Header.Get("Authorization"), nil
}

func (m *Metrics) ask(ctx context.Context, from *source, query string) (result float64, found bool, err error) {
	value, warnings, _, err := prometheus.NewAPI(from).Query(ctx, query, time.Time{})
	var own *sourceError
	switch {
	case ctx.Err() != nil:
		return 0, false, context.Cause(ctx)
	case errors.As(err, &own):
		return 0, false, own
	case err != nil: // which may quote the answer
		return 0, false, errors.New("its answer is not one of Prometheus' API; check url and path")
	case len(warnings) > 0:
		return 0, false, errors.New(
			"it answered with warnings: the result may be incomplete; run the query in the web page of Prometheus to see them",
		)
	}
	return number(value)
}

// number is the number that a result is. Of an empty one, none is found.
func number(value model.Value) (result float64, found bool, err error) {
	switch value := value.(type) {
	case *model.Scalar:
		result = float64(value.Value)
	case model.Vector:
		switch {
		case len(value) == 0:
			return 0, false, nil
		case len(value) > 1:
			return 0, false, fmt.Errorf(
				"the result is %d series; write the query so that its result is one series, for example with sum(...)",
				len(value),
			)
		case value[0].Histogram != nil:
			return 0, false, errors.New(
				"the result is a histogram; write the query so that its result is a number, for example with histogram_quantile(...)",
			)
		}
		result = float64(value[0].Value)
	default:
		return 0, false, errors.New("the result is neither a number nor one series; write the query so that its result is one series")
	}
	if math.IsNaN(result) || math.IsInf(result, 0) {
		return 0, false, errors.New("the result is not a finite number (NaN or Inf); look for a division by zero in the query")
	}
	return result, true, nil
}

// written is a number that reads as one with a fraction, which CEL distinguishes from others.
func written(number float64) json.Number {
	text := strconv.FormatFloat(number, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return json.Number(text)
}

// source is the api.Client of one source.
type source struct {
	client *http.Client
	at     *url.URL
	login  string
}

var _ api.Client = (*source)(nil)

// URL implements api.Client.
func (s *source) URL(string, map[string]string) *url.URL {
	at := *s.at
	return &at
}

// Do implements api.Client. All errors of the request are *sourceErrors.
func (s *source) Do(ctx context.Context, request *http.Request) (*http.Response, []byte, error) {
	if request.Method != http.MethodGet {
		// The library tries POST first, which those who may only read are not let through with. This makes it ask by GET.
		return &http.Response{StatusCode: http.StatusMethodNotAllowed}, nil, nil
	}
	request = request.WithContext(ctx)
	request.Header.Set("User-Agent", "kubecleaner")
	if s.login != "" {
		request.Header.Set("Authorization", s.login)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, nil, unreachable(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := refusal(response.StatusCode); err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, nil, unreachable(err)
	case len(body) > maxAnswer:
		return nil, nil, &sourceError{
			fmt.Sprintf("its answer is longer than %d MiB; write the query so that its result is one series", maxAnswer>>20),
		}
	}
	if isPartial(body) {
		return nil, nil, &sourceError{"it answered with a part of the data (isPartial), because some of its storage cannot be reached"}
	}
	return response, body, nil
}

// isPartial reports whether an answer is that of a cluster of VictoriaMetrics of which a part is away. It has no
// warnings.
func isPartial(body []byte) bool {
	var answer struct{ IsPartial bool }
	return json.Unmarshal(body, &answer) == nil && answer.IsPartial
}
