// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

func vector(series ...string) string {
	return `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(series, ",") + `]}}`
}

func series(value string) string { return `{"metric":{"pod":"a"},"value":[1.5,"` + value + `"]}` }

func TestResults(t *testing.T) {
	const asking1 = "metricQueries[0] (cpu): asking prometheus.mon.svc: "
	for name, test := range map[string]struct{ body, want, err string }{
		"scalar":      {`{"status":"success","data":{"resultType":"scalar","result":[1,"0.25"]}}`, `{"cpu":0.25}`, ""},
		"one series":  {vector(series("7")), `{"cpu":7.0}`, ""},
		"large":       {vector(series("1e+21")), `{"cpu":1e+21}`, ""},
		"no series":   {vector(), `{}`, ""},
		"two series":  {vector(series("1"), series("2")), "", asking1 + "the result is 2 series; write the query so that its result is one series, for example with sum(...)"},
		"NaN":         {vector(series("NaN")), "", asking1 + "the result is not a finite number (NaN or Inf); look for a division by zero in the query"},
		"infinite":    {vector(series("+Inf")), "", asking1 + "the result is not a finite number (NaN or Inf); look for a division by zero in the query"},
		"a histogram": {vector(`{"metric":{},"histogram":[1,{"count":"1","sum":"1","buckets":[]}]}`), "", asking1 + "the result is a histogram; write the query so that its result is a number, for example with histogram_quantile(...)"},
		"matrix":      {`{"status":"success","data":{"resultType":"matrix","result":[]}}`, "", asking1 + "the result is neither a number nor one series; write the query so that its result is one series"},
		"a text":      {`{"status":"success","data":{"resultType":"string","result":[1,"canary"]}}`, "", asking1 + "its answer is not one of Prometheus' API; check url and path"},
		"warnings":    {strings.Replace(vector(), `"data"`, `"warnings":["canary"],"data"`, 1), "", asking1 + "it answered with warnings: the result may be incomplete; run the query in the web page of Prometheus to see them"},
		"a part":      {strings.Replace(vector(series("0")), `"data"`, `"isPartial":true,"data"`, 1), "", asking1 + "it answered with a part of the data (isPartial), because some of its storage cannot be reached"},
		"no part":     {strings.Replace(vector(series("7")), `"data"`, `"isPartial":false,"data"`, 1), `{"cpu":7.0}`, ""},
		"an error":    {`{"status":"error","errorType":"timeout","error":"canary"}`, "", asking1 + "its answer is not one of Prometheus' API; check url and path"},
		"a page":      {"<html>canary</html>", "", asking1 + "its answer is not one of Prometheus' API; check url and path"},
		"nothing":     {"", "", asking1 + "its answer is not one of Prometheus' API; check url and path"},
		"no data":     {`{"status":"success"}`, "", asking1 + "the result is neither a number nor one series; write the query so that its result is one series"},
		"too long":    {vector(series("1" + strings.Repeat("0", maxAnswer))), "", asking1 + "its answer is longer than 1 MiB; write the query so that its result is one series"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, answer(test.body))
			got, err := w.Ask(t.Context(), asking("http://prometheus.mon.svc"), nil)
			wantResult(t, string(got), err, test.want, test.err)
		})
	}
}

func wantResult(t *testing.T, got string, err error, want, wantErr string) {
	t.Helper()
	if wantErr != "" {
		if err == nil || err.Error() != wantErr {
			t.Fatalf("the result is %s, the error %v, want %s", got, err, wantErr)
		}
		return
	}
	if want = `{"metrics":` + want + `}`; err != nil || got != want {
		t.Fatalf("the result is %s, %v, want %s", got, err, want)
	}
}

// What a source says besides a result is never shown.
func TestRefusals(t *testing.T) {
	const asking1 = "metricQueries[0] (cpu): asking prometheus.mon.svc: "
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"400":       {status(400), "it answered 400 Bad Request; try the query in the web page of Prometheus"},
		"401":       {status(401), "it answered 401 Unauthorized; check the Secret that metricSource.secretRef names"},
		"403":       {status(403), "it answered 403 Forbidden; check the Secret that metricSource.secretRef names"},
		"404":       {status(404), "it answered 404 Not Found; check url and path"},
		"422":       {status(422), "it answered 422 Unprocessable Entity; try the query in the web page of Prometheus"},
		"500":       {status(500), "it answered 500 Internal Server Error"},
		"503":       {status(503), "it answered 503 Service Unavailable"},
		"elsewhere": {redirect("http://loop.evil.svc/canary", http.StatusFound), "it answered 302 Found: it redirects to another address, and redirects are not followed. Put the final address into url"},
		"itself":    {redirect("/canary", http.StatusTemporaryRedirect), "it answered 307 Temporary Redirect: it redirects to another address, and redirects are not followed. Put the final address into url"},
		"a bomb": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			zip := gzip.NewWriter(w)
			_, _ = zip.Write([]byte(strings.Repeat(" ", 8*maxAnswer)))
			_ = zip.Close()
		}, "its answer is longer than 1 MiB; write the query so that its result is one series"},
		"hung up":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "the connection broke off"}, //nolint:forbidigo // hangs up
		"not HTTP": {hijacked("canary\n"), "the connection broke off"},
		"cut short": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(vector()))
		}, "the connection broke off"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, test.handler)
			got, err := w.Ask(t.Context(), asking("http://prometheus.mon.svc"), nil)
			wantResult(t, string(got), err, "", asking1+test.want)
		})
	}
	t.Run("not TLS", func(t *testing.T) {
		got, err := newWorld(t, one).Ask(t.Context(), asking("https://prometheus.mon.svc"), nil)
		wantResult(t, string(got), err, "", asking1+"it does not speak TLS; check whether the url is one of https, and its port")
	})
}

func redirect(to string, code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, code) }
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(`{"status":"error","errorType":"bad_data","error":"canary"}`))
	}
}

func hijacked(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, _ = connection.Write([]byte(text))
			_ = connection.Close()
		}
	}
}

func TestASourceThatHangs(t *testing.T) {
	release := make(chan struct{})
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	w.client.Timeout = 50 * time.Millisecond
	_, err := w.Ask(t.Context(), asking("http://prometheus.mon.svc"), nil)
	if want := "metricQueries[0] (cpu): asking prometheus.mon.svc: it did not answer within 10s"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	w.client.Timeout = time.Minute
	stopped := errors.New("the run was stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(stopped)
	if _, err = w.Ask(ctx, asking("http://prometheus.mon.svc"), nil); !errors.Is(err, stopped) {
		t.Errorf("the error is %v, want %v", err, stopped)
	}
}

// The source is asked by GET, with the credentials and nothing else of the Secret.
func TestCredentials(t *testing.T) {
	for name, test := range map[string]struct {
		secret    map[string]string
		want, err string
	}{
		"token":       {map[string]string{"token": "abc\n", "username": "u", "password": "p"}, "Bearer abc", ""},
		"login":       {map[string]string{"username": "u", "password": "p\n"}, "Basic " + base64.StdEncoding.EncodeToString([]byte("u:p")), ""},
		"other keys":  {map[string]string{"TOKEN": canary, "apiKey": canary}, "", "metricSource.secretRef: Secret mon/s has neither the key token nor username and password"},
		"no password": {map[string]string{"username": canary}, "", "metricSource.secretRef: Secret mon/s has neither the key token nor username and password"},
		"two lines":   {map[string]string{"token": canary + "\r\nHost: evil.com"}, "", "metricSource.secretRef: the key token of Secret mon/s holds what no token does, such as a space or a line break"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, answer(vector(series("1"))))
			spec := asking("http://prometheus.mon.svc")
			spec.MetricSource.SecretRef = &v1alpha1.SecretRef{Namespace: "mon", Name: "s"}
			secret := map[string][]byte{}
			for key, value := range test.secret {
				secret[key] = []byte(value)
			}
			_, err := w.Ask(t.Context(), spec, secret)
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("the error is %v, want %s", err, test.err)
				}
				return
			}
			if err != nil || len(w.asked) != 1 {
				t.Fatalf("%d requests, %v", len(w.asked), err)
			}
			request := w.asked[0]
			if got := request.Header.Get("Authorization"); got != test.want || request.Method != http.MethodGet || request.URL.RawQuery != "query=up" {
				t.Errorf("it asks %s %s with %q, want %q", request.Method, request.URL, got, test.want)
			}
		})
	}
}

func TestCheckMetrics(t *testing.T) {
	spec := asking("ftp://prometheus.mon.svc")
	spec.MetricQueries = append(spec.MetricQueries, v1alpha1.MetricQuery{Name: "cpu", Query: "x"}, v1alpha1.MetricQuery{Name: "a"})
	spec.MetricSource.SecretRef = &v1alpha1.SecretRef{Name: "x"}
	want := []string{
		"metricSource.url must begin with http:// or https:// and a host, for example http://prometheus.monitoring.svc:9090",
		"metricSource.secretRef must name a Secret, by namespace and name",
		`metricQueries[1]: there is another query of the name "cpu"; give each one a name of its own`,
		"metricQueries[2] needs a name and a query",
	}
	if got := errors.Join(checkMetrics(spec)...).Error(); got != strings.Join(want, "\n") {
		t.Errorf("the problems are\n%s", got)
	}
	spec.MetricSource, spec.MetricQueries = nil, spec.MetricQueries[:1]
	if got := checkMetrics(spec); len(got) != 1 || !strings.HasPrefix(got[0].Error(), "metricQueries need a metricSource") {
		t.Errorf("the problems are %v", got)
	}
	spec = asking("http://prometheus.mon.svc")
	spec.MetricSource.Path = "query?x=y"
	if got := checkMetrics(spec); len(got) != 1 || got[0].Error() != "metricSource.path must not have a query (?) or a fragment (#): remove it" {
		t.Errorf("the problems are %v", got)
	}
}
