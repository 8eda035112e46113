// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/egress"
	"github.com/kubecleaner/kubecleaner/pkg/object/apiserver"
)

// defaultPath is where Prometheus answers instant queries.
const defaultPath = "api/v1/query"

// checkMetrics says what is wrong with a selector's metricSource and metricQueries, as far as that shows without
// asking, each with its field.
func checkMetrics(spec *v1alpha1.ResourceSelector) []error {
	var errs []error
	if spec.MetricSource != nil {
		if _, err := endpoint(spec.MetricSource); err != nil {
			errs = append(errs, fmt.Errorf("metricSource.%w", err))
		}
		if ref := spec.MetricSource.SecretRef; ref != nil && (ref.Name == "" || ref.Namespace == "") {
			errs = append(errs, errors.New("metricSource.secretRef must name a Secret, by namespace and name"))
		} else if ref != nil {
			errs = append(errs, checkSecret(*ref)...)
		}
	} else if spec.WantsMetrics() {
		errs = append(
			errs,
			errors.New("metricQueries need a metricSource; add it, for example {url: http://prometheus.monitoring.svc:9090}"),
		)
	}
	return append(errs, checkQueries(spec.MetricQueries)...)
}

func checkQueries(queries []v1alpha1.MetricQuery) []error {
	var errs []error
	known := map[string]bool{}
	for i, query := range queries {
		switch {
		case query.Name == "" || strings.TrimSpace(query.Query) == "":
			errs = append(errs, fmt.Errorf("metricQueries[%d] needs a name and a query", i))
		case known[query.Name]:
			errs = append(
				errs,
				fmt.Errorf(
					"metricQueries[%d]: there is another query of the name %q; give each one a name of its own",
					i,
					query.Name,
				),
			)
		}
		known[query.Name] = true
	}
	return errs
}

func checkSecret(ref v1alpha1.SecretRef) []error {
	var errs []error
	for _, of := range []struct{ field, text string }{{"namespace", ref.Namespace}, {"name", ref.Name}} {
		if err := apiserver.CheckSegment(of.text); err != nil {
			errs = append(errs, fmt.Errorf("metricSource.secretRef.%s: %w", of.field, err))
		}
	}
	return errs
}

// endpoint is where a source answers queries. What is not plainly a host and a path is refused, so that nobody can read
// it in another way than it is asked.
func endpoint(source *v1alpha1.MetricSource) (*url.URL, error) {
	at, err := url.Parse(source.URL)
	switch {
	case err != nil:
		return nil, errors.New(
			"url is not a URL; write for example http://prometheus.monitoring.svc:9090",
		) // the error quotes it
	case at.Scheme != "http" && at.Scheme != "https", at.Opaque != "", at.Hostname() == "":
		return nil, errors.New(
			"url must begin with http:// or https:// and a host, for example http://prometheus.monitoring.svc:9090",
		)
	case at.User != nil:
		return nil, errors.New("url must not hold a user or a password; put them into a Secret, which secretRef names")
	case at.RawQuery != "", at.ForceQuery, strings.Contains(source.URL, "#"):
		return nil, errors.New("url must not have a query (?) or a fragment (#): remove it")
	case strings.ContainsAny(source.Path, "?#"):
		return nil, errors.New("path must not have a query (?) or a fragment (#): remove it")
	}
	if port := at.Port(); (port != "" || strings.HasSuffix(at.Host, ":")) && !isPort(port) {
		return nil, fmt.Errorf("url has the port %q, which is no number from 1 to 65535", port)
	}
	if _, err := hostName(at.Hostname()); err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	at.Host = strings.ToLower(at.Host)
	return at.JoinPath(cmp.Or(source.Path, defaultPath)), nil
}

func isPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 1 && n <= 65535
}

// hostName is a host as it is compared: an IP address, or a name in small letters.
func hostName(host string) (string, error) {
	if ip, err := netip.ParseAddr(host); err == nil && ip.Zone() == "" {
		return ip.Unmap().String(), nil
	}
	name := strings.ToLower(host)
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return "", fmt.Errorf("the host %q is neither a host name nor an IP address", host)
	}
	return name, nil
}

// Allow says why a selector's source is not one that may be asked.
func (m *Metrics) Allow(spec *v1alpha1.ResourceSelector) error {
	if spec.MetricSource == nil {
		return nil
	}
	at, err := endpoint(spec.MetricSource)
	if err != nil {
		return fmt.Errorf("metricSource.%w", err)
	}
	host, err := hostName(at.Hostname())
	if err != nil {
		return fmt.Errorf("metricSource.url: %w", err)
	}
	namespace := egress.ServiceNamespace(host)
	switch ref := spec.MetricSource.SecretRef; {
	case m.guard.Allowed[host]:
	case namespace == "":
		return fmt.Errorf(
			"metricSource.url: the host %q is none that metrics may be read from: name a Service of the cluster (NAME.NAMESPACE.svc), or let the operator's --allowed-metric-hosts name the host",
			host,
		)
	case ref != nil && ref.Namespace != namespace:
		return fmt.Errorf(
			"metricSource.secretRef: Secret %s/%s is not sent to a Service of another namespace (%s): put a Secret into that namespace, or let the operator's --allowed-metric-hosts name the host %q",
			ref.Namespace,
			ref.Name,
			namespace,
			host,
		)
	case m.account != nil && namespace != m.namespace(spec):
		return fmt.Errorf(
			"metricSource.url: a Cleaner that names a ServiceAccount reads metrics from Services of the account's namespace (%s) only, not from %s: let the operator's --allowed-metric-hosts name the host %q",
			m.account.Namespace,
			namespace,
			host,
		)
	}
	return nil
}

// namespace is the one whose Services a Cleaner that names an account may ask: that of the Secret, which the account
// must be allowed to read, or the account's own.
func (m *Metrics) namespace(spec *v1alpha1.ResourceSelector) string {
	if ref := spec.MetricSource.SecretRef; ref != nil {
		return ref.Namespace
	}
	return m.account.Namespace
}
