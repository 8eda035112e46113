// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/object/stage"
)

// flaky is an API server with one ConfigMap. Its first answers to a DELETE are the faults.
type flaky struct {
	faults []func(*http.Request) (*http.Response, error)
	// deletes is how many DELETEs came.
	deletes int
}

const aConfigMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"shop","name":"old","uid":"1","resourceVersion":"7"}}`

func (f *flaky) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case r.Method == http.MethodDelete:
		f.deletes++
		if f.deletes <= len(f.faults) {
			return f.faults[f.deletes-1](r)
		}
		return says(r, http.StatusOK, `{"kind":"Status","apiVersion":"v1","status":"Success","details":{"name":"old","kind":"configmaps","uid":"1"}}`), nil
	case r.URL.Path == "/readyz":
		return says(r, http.StatusOK, "ok"), nil
	}
	return says(r, http.StatusOK, aConfigMap), nil
}

func says(r *http.Request, code int, body string) *http.Response {
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

func refused(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED }

func busy(r *http.Request) (*http.Response, error) {
	answer := says(r, http.StatusTooManyRequests, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429}`)
	answer.Header.Set("Retry-After", "30")
	return answer, nil
}

// oneTime is a permit that holds until the first DELETE has come, and then says what it is made with.
type oneTime struct {
	server  *flaky
	why     string
	err     error
	renewed int
}

func (p *oneTime) IsValid() bool { return p.renewed > 0 || p.server.deletes == 0 }

func (p *oneTime) Renew(context.Context) (string, error) {
	p.renewed++
	return p.why, p.err
}

// A request that has to be sent again is not sent on a permit that is over.
func TestPermitIsRenewedBeforeARequestIsSentAgain(t *testing.T) {
	t.Parallel()
	boom := errors.New("nobody knows")
	kind := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Resource: "configmaps", Namespaced: true}
	o, err := object.New(kind, []byte(aConfigMap))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		fault   func(*http.Request) (*http.Response, error)
		permit  oneTime
		want    v1alpha1.OutcomeResult
		detail  string
		deletes int
	}{
		"the server was away, and it is as before": {refused, oneTime{}, v1alpha1.OutcomeDeleted, "", 2},
		"the server was away, and it is used":      {refused, oneTime{why: "a Pod uses it"}, v1alpha1.OutcomeChanged, "a Pod uses it", 1},
		"the server was away, and nobody knows":    {refused, oneTime{err: boom}, v1alpha1.OutcomeFailed, "connection refused", 1},
		"the server had no time, and it is used":   {busy, oneTime{why: "a Pod uses it"}, v1alpha1.OutcomeChanged, "a Pod uses it", 1},
		"the server had no time, and nobody knows": {busy, oneTime{err: boom}, v1alpha1.OutcomeFailed, "nobody knows", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &flaky{faults: []func(*http.Request) (*http.Response, error){c.fault}}
				config := &rest.Config{Host: "http://server", QPS: -1, ContentConfig: rest.ContentConfig{
					GroupVersion: &schema.GroupVersion{}, NegotiatedSerializer: serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion(),
				}}
				client, err := rest.RESTClientForConfigAndClient(config, &http.Client{Transport: server})
				if err != nil {
					t.Fatal(err)
				}
				permit := c.permit
				permit.server = server
				actor := NewActor(client).ForRun(clock.RealClock{}, func(error) bool { return false }).While(&permit)
				verdict := stage.Verdict{Candidate: stage.Candidate{Object: o}, Act: true}
				got := actor.Delete(t.Context(), verdict, nil, nil)
				said := fmt.Sprint(got.Detail, got.Err)
				if got.Result != c.want || !strings.Contains(said, c.detail) || server.deletes != c.deletes || permit.renewed != 1 {
					t.Errorf("%s: %s, after %d deletes and %d renewals", got.Result, said, server.deletes, permit.renewed)
				}
			})
		})
	}
}
