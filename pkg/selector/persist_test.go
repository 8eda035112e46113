// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/inputs"
	"github.com/kubecleaner/kubecleaner/pkg/object"
	"github.com/kubecleaner/kubecleaner/pkg/selector/broadcast"
)

// everyRead is each way to read, with what it sends when nothing fails.
var everyRead = map[string]func(ctx context.Context, r *Reader) error{
	"a list": func(ctx context.Context, r *Reader) error {
		s, err := read(ctx, r, everything)
		if err == nil && !s.isWhole(10) {
			return fmt.Errorf("it saw %q", s.names)
		}
		return err
	},
	"a count": func(ctx context.Context, r *Reader) error {
		n, err := r.Count(ctx, everything.kind, Scope{Cluster: true})
		if err == nil && n != 10 {
			return fmt.Errorf("it counted %d", n)
		}
		return err
	},
	"a namespace": func(ctx context.Context, r *Reader) error {
		_, err := r.get(ctx, "/api/v1/namespaces/n")
		return err
	},
	"the metadata of an owner": func(ctx context.Context, r *Reader) error {
		_, err := r.metadataOf(ctx, "/api/v1/namespaces/n/pods/p")
		return err
	},
	"a log": func(ctx context.Context, r *Reader) error {
		pod := object.Object{Kind: object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: "pods", Namespaced: true}, Namespace: "n", Name: "p"}
		_, err := r.logTail(ctx, pod, inputs.Log{Container: "c"}, 10)
		return err
	},
	"what a group serves": func(ctx context.Context, r *Reader) error {
		_, err := r.served(ctx, schema.GroupVersion{Version: "v1"})
		return err
	},
}

// The API server is away for ten seconds at any of the requests of a reading, which then goes on where it was.
func TestReadingWaitsForTheServer(t *testing.T) {
	for name, reading := range everyRead {
		undisturbed := &pagedServer{}
		if err := reading(t.Context(), patient(t, undisturbed)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for n := range undisturbed.sent {
			t.Run(fmt.Sprintf("%s, request %d", name, n+1), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server, away := &pagedServer{}, time.Time{}
					isAway := func() bool { return !away.IsZero() && time.Since(away) < 10*time.Second }
					server.ready = func() bool { return !isAway() }
					server.fault = func(request int, _ *http.Request) (*http.Response, error) {
						if request == n+1 {
							away = time.Now()
						}
						if isAway() {
							return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
						}
						return nil, nil
					}
					if err := reading(t.Context(), patient(t, server)); err != nil {
						t.Fatal(err)
					}
					want := slices.Insert(slices.Clone(undisturbed.sent), n, undisturbed.sent[n])
					if !slices.Equal(server.sent, want) {
						t.Errorf("the requests were %q, want %q", server.sent, want)
					}
					if took := time.Since(away); took > 10*time.Second+2*longestPause {
						t.Errorf("it took %s", took)
					}
					if server.asks < 4 || server.asks > 12 { // 0.2, 0.4, 0.8, 1.6, 3.2, 5 s, each up to half as much more
						t.Errorf("it was asked %d times whether it is there", server.asks)
					}
				})
			})
		}
	}
}

// An API server that is there, and does not answer one request, is asked a few times more: it is soon known what is wrong.
func TestReadingIsTriedAFewTimesOnly(t *testing.T) {
	for name, fault := range map[string]func(r *http.Request) (*http.Response, error){
		"500": func(r *http.Request) (*http.Response, error) { return failure(r, 500, "InternalError"), nil },
		"503": func(r *http.Request) (*http.Response, error) { return failure(r, 503, "ServiceUnavailable"), nil },
		"unready": func(r *http.Request) (*http.Response, error) {
			answer := says(r, 429, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"storage is (re)initializing: conversion webhook for x failed","reason":"TooManyRequests","code":429}`)
			return answer, nil
		},
		"reset":  func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNRESET },
		"closed": func(*http.Request) (*http.Response, error) { return nil, io.EOF },
	} {
		for what, reading := range everyRead {
			for faults := range maxTries + 1 {
				t.Run(fmt.Sprintf("%s, %s %d times", what, name, faults), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						left := faults
						server := &pagedServer{fault: func(_ int, r *http.Request) (*http.Response, error) {
							if r.URL.Path == "/version" || left == 0 {
								return nil, nil
							}
							left--
							return fault(r)
						}}
						began := time.Now()
						err := reading(t.Context(), patient(t, server))
						switch {
						case faults < maxTries && err != nil:
							t.Errorf("it gave up: %v", err)
						case faults == maxTries && (err == nil || !strings.Contains(err.Error(), fmt.Sprintf("(tried %d times during ", maxTries))):
							t.Errorf("the error is %v", err)
						}
						if took := time.Since(began); took > 5*time.Second {
							t.Errorf("it took %s", took)
						}
					})
				})
			}
		}
	}
}

// A page that takes the server too long is asked for in smaller pages at once, and the smallest a few times.
func TestListThatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var limits []string
		server := &pagedServer{fault: func(_ int, r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/version" {
				return nil, nil
			}
			limits = append(limits, r.URL.Query().Get("limit"))
			return failure(r, 504, "Timeout"), nil
		}}
		_, err := read(t.Context(), patient(t, server), everything)
		if err == nil || !strings.Contains(err.Error(), "(tried 5 times during ") {
			t.Errorf("the error is %v", err)
		}
		if want := []string{"20000", "10000", "5000", "2500", "1250", "625", "500", "500", "500", "500", "500"}; !slices.Equal(limits, want) {
			t.Errorf("the limits were %q, want %q", limits, want)
		}
	})
}

// What the API server has decided is not asked again.
func TestReadingDoesNotInsist(t *testing.T) {
	for _, code := range []int{400, 401, 403, 404, 405, 406, 409, 422} {
		for name, reading := range everyRead {
			server := &pagedServer{fault: func(_ int, r *http.Request) (*http.Response, error) {
				if r.URL.Path == "/version" {
					return nil, nil
				}
				return failure(r, code, ""), nil
			}}
			err := reading(t.Context(), patient(t, server))
			sent := slices.DeleteFunc(server.sent, func(path string) bool { return path == "/version" })
			if err == nil || len(sent) != 1 || server.asks > 0 {
				t.Errorf("%s, %d: %d requests, %v", name, code, len(sent), err)
			}
		}
	}
}

// A list that was away for so long that the server has forgotten its place begins anew, and has each object once.
func TestListBeginsAnewWhenItsPlaceIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &pagedServer{fault: func(n int, r *http.Request) (*http.Response, error) {
			switch n {
			case 3: // the second page
				return nil, syscall.ECONNREFUSED
			case 4:
				return failure(r, 410, "Expired"), nil
			}
			return nil, nil
		}}
		s, err := read(t.Context(), patient(t, server), everything)
		if err != nil || !s.isWhole(10) || s.restarts != 2 {
			t.Errorf("%+v: %v", s, err)
		}
	})
}

// An API server that has no time is asked again when it says, however often, but at least every 30 seconds.
func TestReadingWaitsForABusyServer(t *testing.T) {
	for name, test := range map[string]struct {
		code       int
		retryAfter string
		min, max   time.Duration
	}{
		"429":                     {429, "7", 7 * time.Second, 10500 * time.Millisecond},
		"429 without a time":      {429, "", firstPause, longestPause * 3 / 2},
		"429 with a long time":    {429, "3600", longestWait, longestWait},
		"503 with a time to wait": {503, "7", 7 * time.Second, 10500 * time.Millisecond},
	} {
		for what, reading := range everyRead {
			t.Run(what+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					left := 20
					var refused []time.Time
					server := &pagedServer{fault: func(_ int, r *http.Request) (*http.Response, error) {
						if r.URL.Path == "/version" || left == 0 {
							return nil, nil
						}
						left--
						refused = append(refused, time.Now())
						return busy(r, test.code, test.retryAfter), nil
					}}
					if err := reading(t.Context(), patient(t, server)); err != nil {
						t.Fatal(err)
					}
					for i, at := range refused[1:] {
						if pause := at.Sub(refused[i]); pause < test.min || pause > test.max {
							t.Errorf("pause %d was %s, want %s to %s", i, pause, test.min, test.max)
						}
					}
				})
			})
		}
	}
}

// An API server that never has time is asked until the run's time is over, and the error says so.
func TestDeadlineWhileTheServerIsBusy(t *testing.T) {
	over := errors.New("the time is over")
	for name, reading := range everyRead {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Minute-10*time.Second, over)
				defer cancel()
				server := &pagedServer{fault: func(_ int, r *http.Request) (*http.Response, error) {
					if r.URL.Path == "/version" {
						return nil, nil
					}
					return busy(r, http.StatusTooManyRequests, "40"), nil
				}}
				err := reading(ctx, patient(t, server))
				if !errors.Is(err, over) || !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), "too many requests") ||
					!strings.HasSuffix(err.Error(), " (tried 20 times during 9m50s)") {
					t.Errorf("the error is %v", err)
				}
			})
		})
	}
}

// Only an answer to come back later is not counted: what fails between such answers is.
func TestOtherFailuresAreCountedWhileTheServerIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &pagedServer{fault: func(n int, r *http.Request) (*http.Response, error) {
			if n%2 == 1 {
				return busy(r, http.StatusTooManyRequests, "1"), nil
			}
			return failure(r, http.StatusInternalServerError, "InternalError"), nil
		}}
		_, err := patient(t, server).get(t.Context(), "/api/v1")
		if want := fmt.Sprintf("(tried %d times during ", 2*maxTries); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	})
}

// When the run's time is over, the error says both that and what the trouble was, also of a list that is read for several.
func TestDeadlineWhileTheServerIsAway(t *testing.T) {
	over := errors.New("the time is over")
	for _, runs := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, over)
			defer cancel()
			server := &pagedServer{fault: func(_ int, r *http.Request) (*http.Response, error) {
				if r.URL.Path == "/version" {
					return nil, nil
				}
				return nil, syscall.ECONNREFUSED
			}, ready: func() bool { return false }}
			lists := broadcast.New(clock.RealClock{})
			for _, result := range atOnce(t, lists, runs, func(int) (*seen, error) { return read(ctx, patient(t, server).Sharing(lists, ""), everything) }) {
				tried := &TriedError{}
				if err := result.err; !errors.Is(err, over) || !errors.Is(err, syscall.ECONNREFUSED) || !errors.As(err, &tried) ||
					!strings.Contains(err.Error(), "connection refused (tried once during 1m0s)") && runs == 1 {
					t.Errorf("%d runs: the error is %v", runs, err)
				}
			}
		})
	}
}

// A certificate that is not the API server's does not mean that the API server is away: it is soon known what is wrong.
func TestWrongCertificateIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wrong := &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
		began, server := time.Now(), &pagedServer{fault: func(int, *http.Request) (*http.Response, error) { return nil, wrong }}
		server.unready = wrong
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := patient(t, server).get(ctx, "/api/v1/namespaces/n")
		if !errors.As(err, new(*tls.CertificateVerificationError)) || !strings.Contains(err.Error(), "(tried 5 times during ") {
			t.Errorf("the error is %v", err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// Whoever is not a run learns at once that the API server is away: a user who looks, and what finds a Cleaner valid.
func TestOnlyRunsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, refused := time.Now(), func(int, *http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED }
		for name, reading := range everyRead {
			if err := reading(t.Context(), NewReader(clientOf(t, &pagedServer{fault: refused}), clock.RealClock{})); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %s", took)
		}
	})
}

// The same with connections: some are refused, and some are reset.
func TestReadingOverBrokenConnections(t *testing.T) {
	t.Parallel()
	var dials, requests atomic.Int64
	memory := &pagedServer{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" && requests.Add(1)%2 == 1 {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.(*net.TCPConn).SetLinger(0)
				_ = conn.Close()
			}
			return
		}
		answer, err := memory.RoundTrip(r)
		if err == nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.Copy(w, answer.Body)
		}
	}))
	t.Cleanup(server.Close)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	dialer := &net.Dialer{}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		if dials.Add(1) <= 3 {
			return dialer.DialContext(ctx, network, closed.Addr().String())
		}
		return dialer.DialContext(ctx, network, server.Listener.Addr().String())
	}}
	t.Cleanup(transport.CloseIdleConnections)
	if err := everyRead["a list"](t.Context(), patient(t, transport)); err != nil {
		t.Fatal(err)
	}
	if dials.Load() <= 3 || requests.Load() != 6 { // /version and two pages, each twice
		t.Errorf("%d connections, %d requests", dials.Load(), requests.Load())
	}
}
