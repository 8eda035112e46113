// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/egress"
)

const canary = "canary-of-a-token"

// names are what the cluster's DNS says. Names under flip answer with the second address from the second time on.
var names = map[string][]string{
	"api.example.com":                  {"10.0.0.1"},
	"kubernetes.default.svc":           {"10.96.0.1"},
	"kubernetes.evil.svc":              {"10.96.0.1"},
	"prometheus.mon.svc":               {"10.0.0.9"},
	"loop.evil.svc":                    {"127.0.0.1"},
	"loops.evil.svc":                   {"127.8.9.10"},
	"loop6.evil.svc":                   {"::1"},
	"mapped.evil.svc":                  {"::ffff:127.0.0.1"},
	"nat64.evil.svc":                   {"64:ff9b::7f00:1"},
	"compatible.evil.svc":              {"::7f00:1"},
	"cloud.evil.svc":                   {"169.254.169.254"},
	"mappedcloud.evil.svc":             {"::ffff:169.254.169.254"},
	"nat64cloud.evil.svc":              {"64:ff9b::a9fe:a9fe"},
	"link6.evil.svc":                   {"fe80::1"},
	"aws6.evil.svc":                    {"fd00:ec2::254"},
	"google6.evil.svc":                 {"fd20:ce::254"},
	"azure.evil.svc":                   {"168.63.129.16"},
	"alibaba.evil.svc":                 {"100.100.100.200"},
	"sixtofour.evil.svc":               {"2002:a9fe:a9fe::1"},
	"localnat64.evil.svc":              {"64:ff9b:1::a9fe:a9fe"},
	"zero.evil.svc":                    {"0.0.0.0"},
	"zero6.evil.svc":                   {"::"},
	"multi.evil.svc":                   {"224.0.0.1"},
	"multi6.evil.svc":                  {"ff02::1"},
	"server.evil.svc":                  {"10.0.0.1"},
	"mappedserver.evil.svc":            {"::ffff:10.0.0.1"},
	"first.evil.svc":                   {"10.0.0.9", "127.0.0.1"},
	"last.evil.svc":                    {"127.0.0.1", "10.0.0.9"},
	"metrics.example.com":              {"127.0.0.1"},
	"cloud.example.com":                {"169.254.169.254"},
	"none.evil.svc":                    {},
	"flip.evil.svc":                    {"10.0.0.9"},
	"pod.prometheus.mon.svc":           {"10.0.0.9"},
	"other.evil.svc":                   {"10.0.0.9"},
	"external.mon.svc":                 {"10.0.0.9"},
	"prometheus.mon.svc.cluster.local": {"10.0.0.9"},
}

// world is a network in which every connection is made to one server, and noted.
type world struct {
	*Metrics
	dialed []string
	asked  []*http.Request
}

func newWorld(t *testing.T, handler http.HandlerFunc, allowed ...string) *world {
	t.Helper()
	hosts := egress.Hosts{}
	for _, host := range allowed {
		hosts[host] = true
	}
	w := &world{Metrics: NewMetrics(nil, hosts, "https://api.example.com:6443")}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked = append(w.asked, r)
		handler(rw, r)
	}))
	t.Cleanup(server.Close)
	looked := 0
	lookup := func(_ context.Context, _, host string) ([]netip.Addr, error) {
		if host == "flip.evil.svc" {
			if looked++; looked > 1 {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
		}
		if ip, err := netip.ParseAddr(host); err == nil {
			return []netip.Addr{ip}, nil
		}
		var found []netip.Addr
		for _, text := range names[host] {
			found = append(found, netip.MustParseAddr(text))
		}
		if names[host] == nil {
			return nil, &net.DNSError{Name: host, IsNotFound: true}
		}
		return found, nil
	}
	w.guard = w.guard.WithLookup(lookup, map[string]string{"external.mon.svc": "victim.vault.svc.cluster.local."})
	w.connect = func(ctx context.Context, network, address string) (net.Conn, error) {
		w.dialed = append(w.dialed, address)
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	return w
}

func one(http.ResponseWriter, *http.Request) {}

func answer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
}

func asking(url string) *v1alpha1.ResourceSelector {
	return &v1alpha1.ResourceSelector{MetricSource: &v1alpha1.MetricSource{URL: url}, MetricQueries: []v1alpha1.MetricQuery{{Name: "cpu", Query: "up"}}}
}

const (
	noURL    = "metricSource.url is not a URL"
	noHost   = "metricSource.url must begin with http:// or https:// and a host"
	noLogin  = "metricSource.url must not hold a user or a password"
	noQuery  = "metricSource.url must not have a query"
	noPort   = "metricSource.url has the port"
	noName   = "is neither a host name nor an IP address"
	notNamed = "is none that metrics may be read from: name a Service of the cluster (NAME.NAMESPACE.svc), or let the operator's --allowed-metric-hosts name the host"
	notThere = "its name resolves to an address from which metrics are never read"
	notKnown = "its name is not known"
)

// T6: where metrics are not asked for, and what the user reads.
var hostile = map[string]string{
	// Not of the cluster.
	"http://example.com": notNamed, "https://example.com:443/x": notNamed, "http://localhost:9090": notNamed, "http://prometheus": notNamed,
	"http://prometheus.mon": notNamed, "http://svc": notNamed, "http://mon.svc": notNamed, "http://a.b.c.d.svc": notNamed,
	"http://prometheus.mon.svc.evil.com": notNamed, "http://prometheus.mon.svc.cluster.local.evil.com": notNamed,
	"http://prometheus-mon-svc": notNamed, "http://prometheus.mon.svcs": notNamed, "http://prometheus.mon.svc.cluster": notNamed,
	"http://svc.cluster.local": notNamed, "http://mon.svc.cluster.local": notNamed, "http://node.cluster.local": notNamed,
	"http://10-0-0-1.mon.pod.cluster.local": notNamed, "http://metadata.google.internal/computeMetadata/v1/": notNamed,
	// Addresses, however they are written.
	"http://127.0.0.1": notNamed, "http://169.254.169.254/latest/meta-data/": notNamed, "http://[::1]:9090": notNamed, "http://0.0.0.0": notNamed,
	"http://[::ffff:127.0.0.1]": notNamed, "http://[::ffff:a9fe:a9fe]": notNamed, "http://[fd00:ec2::254]": notNamed, "http://10.0.0.1:6443": notNamed,
	"http://2130706433": notNamed, "http://0x7f000001": notNamed, "http://0x7f.0.0.1": notNamed, "http://0177.0.0.1": notNamed, "http://127.1": notNamed,
	"http://127.0.0.1.nip.io": notNamed, "http://[fe80::1%25eth0]": noName, "http://127.0.0.1.": noName,
	// Not plainly a host.
	"": noHost, "prometheus.mon.svc:9090": noHost, "//prometheus.mon.svc": noHost, "http:prometheus.mon.svc": noHost, "http://": noHost, "http:///path": noHost,
	"file:///etc/passwd": noHost, "gopher://prometheus.mon.svc": noHost, "ftp://prometheus.mon.svc": noHost, "unix:///run/docker.sock": noHost, "http://:9090": noHost,
	"http://user@prometheus.mon.svc": noLogin, "http://prometheus.mon.svc@evil.com": noLogin, "http://user:secret@prometheus.mon.svc": noLogin,
	"http://prometheus.mon.svc:80@evil.com": noLogin, "http://@prometheus.mon.svc": noLogin, "http://evil.com%40prometheus.mon.svc": noURL,
	"http://evil.com#@prometheus.mon.svc": noQuery, "http://prometheus.mon.svc#": noQuery, "http://prometheus.mon.svc?x=y": noQuery, "http://prometheus.mon.svc/?": noQuery,
	"http://evil.com\\@prometheus.mon.svc": noURL, "http://prometheus.mon.svc\r\nHost: evil.com": noURL, "http://prometheus.mon.svc:9090\x00": noURL,
	"http://prometheus.mon.svc:99999": noPort, "http://prometheus.mon.svc:0": noPort, "http://prometheus.mon.svc:": noPort, "http://prometheus.mon.svc:-1": noURL, "http://prometheus.mon.svc:x": noURL,
	"http://prometheus..svc": noName, "http://.mon.svc": noName, "http://prometheus.mon.svc.": noName, "http://pro metheus.mon.svc": noURL, "http://*.mon.svc": noName, "http://prom_etheus.mon.svc": noName,
	// Unicode: full-width letters and dots, a soft hyphen, a Cyrillic letter, a circled one, the right-to-left mark.
	"http://ｐrometheus.mon.svc": noName, "http://prometheus。mon。svc": noName, "http://prome\u00adtheus.mon.svc": noName, "http://рrometheus.mon.svc": noName,
	"http://ⓔvil.mon.svc": noName, "http://\u202eprometheus.mon.svc": noName, "http://１２７.0.0.1": noName,
	// Names of the cluster that lead elsewhere.
	"http://loop.evil.svc": notThere, "http://loops.evil.svc": notThere, "http://loop6.evil.svc": notThere, "http://mapped.evil.svc": notThere, "http://nat64.evil.svc": notThere,
	"http://compatible.evil.svc": notThere, "http://cloud.evil.svc": notThere, "http://mappedcloud.evil.svc": notThere, "http://nat64cloud.evil.svc": notThere,
	"http://link6.evil.svc": notThere, "http://aws6.evil.svc": notThere, "http://google6.evil.svc": notThere, "http://azure.evil.svc": notThere, "http://alibaba.evil.svc": notThere,
	"http://sixtofour.evil.svc": notThere, "http://localnat64.evil.svc": notThere, "http://zero.evil.svc": notThere, "http://zero6.evil.svc": notThere, "http://multi.evil.svc": notThere, "http://multi6.evil.svc": notThere,
	"https://kubernetes.default.svc": notThere, "https://KUBERNETES.default.SVC:443/api": notThere, "https://kubernetes.evil.svc": notThere, "http://server.evil.svc:9090": notThere, "http://mappedserver.evil.svc": notThere,
	"http://first.evil.svc": notThere, "http://last.evil.svc": notThere, "http://none.evil.svc": notKnown, "http://nothing.evil.svc": notKnown,
	// A name that the flag allows is trusted with this machine, and with no more.
	"http://cloud.example.com": notThere,
}

func TestHostileURLs(t *testing.T) {
	if len(hostile) < 60 {
		t.Fatalf("there are only %d", len(hostile))
	}
	for address, want := range hostile {
		t.Run(address, func(t *testing.T) {
			w := newWorld(t, one, "cloud.example.com")
			spec := asking(address)
			spec.MetricSource.SecretRef = &v1alpha1.SecretRef{Namespace: "evil", Name: "s"}
			if namespace := "mon"; strings.Contains(address, ".mon.") {
				spec.MetricSource.SecretRef.Namespace = namespace
			}
			if strings.Contains(strings.ToLower(address), ".default.") {
				spec.MetricSource.SecretRef.Namespace = "default"
			}
			result, err := w.Ask(t.Context(), spec, map[string][]byte{"token": []byte(canary)})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("the result is %s, the error %v, want %s", result, err, want)
			}
			if len(w.dialed) > 0 || strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), "secret@") {
				t.Errorf("it connected to %v and says %v", w.dialed, err)
			}
		})
	}
}

// What is allowed is asked at the address that was looked at, and nowhere else.
func TestFriendlyURLs(t *testing.T) {
	for address, want := range map[string]string{
		"http://prometheus.mon.svc":                           "10.0.0.9:80 /api/v1/query",
		"http://prometheus.mon.svc:9090":                      "10.0.0.9:9090 /api/v1/query",
		"http://Prometheus.MON.svc:9090/":                     "10.0.0.9:9090 /api/v1/query",
		"http://prometheus.mon.svc.cluster.local:9090/thanos": "10.0.0.9:9090 /thanos/api/v1/query",
		"http://pod.prometheus.mon.svc:9090/a/../b":           "10.0.0.9:9090 /b/api/v1/query",
		"http://flip.evil.svc":                                "10.0.0.9:80 /api/v1/query", // a name that is rebound has no second chance
		"http://metrics.example.com:9090":                     "127.0.0.1:9090 /api/v1/query",
		"http://127.0.0.1:9090":                               "127.0.0.1:9090 /api/v1/query",
		"http://[::ffff:127.0.0.1]:9090":                      "[::ffff:127.0.0.1]:9090 /api/v1/query",
		"http://10.0.0.1:9090":                                "10.0.0.1:9090 /api/v1/query",
	} {
		t.Run(address, func(t *testing.T) {
			w := newWorld(t, answer(`{"status":"success","data":{"resultType":"scalar","result":[1,"3"]}}`), "metrics.example.com", "127.0.0.1", "10.0.0.1")
			got, err := w.Ask(t.Context(), asking(address), nil)
			if err != nil || string(got) != `{"metrics":{"cpu":3.0}}` {
				t.Fatalf("the result is %s, %v", got, err)
			}
			if where := strings.Join(w.dialed, " ") + " " + w.asked[0].URL.Path; where != want {
				t.Errorf("it asked %s, want %s", where, want)
			}
		})
	}
}

// A Secret goes to the Services of its own namespace, and to hosts that the flag names.
func TestSecretsStayWhereTheyBelong(t *testing.T) {
	const want = `metricSource.secretRef: Secret vault/s is not sent to a Service of another namespace (mon): put a Secret into that namespace, or let the operator's --allowed-metric-hosts name the host "prometheus.mon.svc"`
	spec := asking("http://prometheus.mon.svc")
	spec.MetricSource.SecretRef = &v1alpha1.SecretRef{Namespace: "vault", Name: "s"}
	login := map[string][]byte{"token": []byte(canary)}
	w := newWorld(t, answer(`{"status":"success","data":{"resultType":"scalar","result":[1,"3"]}}`))
	if _, err := w.Ask(t.Context(), spec, login); err == nil || err.Error() != want || len(w.asked) > 0 {
		t.Errorf("the error is %v, want %s", err, want)
	}
	w = newWorld(t, answer(`{"status":"success","data":{"resultType":"scalar","result":[1,"3"]}}`), "prometheus.mon.svc")
	if _, err := w.Ask(t.Context(), spec, login); err != nil || w.asked[0].Header.Get("Authorization") != "Bearer "+canary {
		t.Errorf("with the flag, the error is %v", err)
	}
}

// A Cleaner that names an account asks Services of the Secret's or the account's namespace, and hosts that the flag names.
func TestAccountsAskTheirOwnServices(t *testing.T) {
	account := &v1alpha1.ServiceAccountRef{Namespace: "mon", Name: "cleaner"}
	answers := answer(`{"status":"success","data":{"resultType":"scalar","result":[1,"3"]}}`)
	secret := func(namespace string) *v1alpha1.SecretRef {
		return &v1alpha1.SecretRef{Namespace: namespace, Name: "s"}
	}
	const want = "metricSource.url: a Cleaner that names a ServiceAccount reads metrics from Services of the account's namespace (mon) only, not from evil: " +
		`let the operator's --allowed-metric-hosts name the host "other.evil.svc"`
	for name, test := range map[string]struct {
		url     string
		secret  *v1alpha1.SecretRef
		allowed string
		want    string
	}{
		"its own Service":         {"http://prometheus.mon.svc", nil, "", ""},
		"another one":             {"http://other.evil.svc", nil, "", want},
		"another one, by Secret":  {"http://other.evil.svc", secret("evil"), "", ""},
		"another one, by flag":    {"http://other.evil.svc", nil, "other.evil.svc", ""},
		"an ExternalName":         {"http://external.mon.svc", nil, "", "its name resolves to a private address that does not belong to a Service in the namespace"},
		"an ExternalName by flag": {"http://external.mon.svc", nil, "external.mon.svc", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, answers, test.allowed)
			_, err := w.For(account).Ask(t.Context(), func() *v1alpha1.ResourceSelector {
				spec := asking(test.url)
				spec.MetricSource.SecretRef = test.secret
				return spec
			}(), map[string][]byte{"token": []byte(canary)})
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
			if (len(w.dialed) > 0) != (test.want == "") {
				t.Errorf("it connected to %v", w.dialed)
			}
			if _, err := w.Ask(t.Context(), asking(test.url), nil); err != nil { // with the operator's rights
				t.Errorf("without an account: %v", err)
			}
		})
	}
}

// A Service is looked for by its whole name: with the search domains of a Pod, its short name may lead to a Pod in a namespace svc.
func TestServicesAreLookedUpByTheirWholeNames(t *testing.T) {
	t.Parallel()
	for whole, want := range map[string]string{"found": "10.0.0.1:9090", "unknown": "10.0.0.2:9090", "broken": ""} {
		t.Run(whole, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, answer(`{"status":"success","data":{"resultType":"scalar","result":[1,"3"]}}`))
			lookup := func(_ context.Context, _, host string) ([]netip.Addr, error) {
				switch {
				case host == "api.example.com":
					return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
				case host == "prometheus.mon.svc":
					return []netip.Addr{netip.MustParseAddr("10.0.0.2")}, nil
				case host != "prometheus.mon.svc.cluster.local.", whole == "unknown":
					return nil, &net.DNSError{Name: host, IsNotFound: true}
				case whole == "broken":
					return nil, &net.DNSError{Name: host, IsTemporary: true}
				}
				return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
			}
			w.guard = w.guard.WithLookup(lookup, nil)
			connection, err := w.dial(t.Context(), "tcp", "prometheus.mon.svc:9090")
			if err == nil {
				_ = connection.Close()
			}
			if got := strings.Join(w.dialed, " "); got != want {
				t.Errorf("it connected to %q (%v), want %q", got, err, want)
			}
		})
	}
}
