// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Close closes the connection before the request is read.
func Close(w http.ResponseWriter, _ *http.Request, _ http.Handler) { hangUp(w, false) }

// Reset is Close with a reset.
func Reset(w http.ResponseWriter, _ *http.Request, _ http.Handler) { hangUp(w, true) }

// Hang does not answer, and closes the connection after a while.
func Hang(d time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is it noticed when the client goes away
		pause(r.Context(), d)
		hangUp(w, false)
	}
}

// pause waits, until the client goes away or the test ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Refuse answers with an error of the API server's.
func Refuse(code int, reason metav1.StatusReason) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		status(w, code, reason, "the fault proxy says "+strconv.Itoa(code))
	}
}

// RefuseFor is Refuse with a Retry-After.
func RefuseFor(code int, reason metav1.StatusReason, after time.Duration) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Retry-After", strconv.Itoa(int(after.Seconds())))
		status(w, code, reason, "the fault proxy says "+strconv.Itoa(code))
	}
}

// Page answers with something that is not the API server's: a gateway's error, a login page.
func Page(code int, contentType, body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { text(w, code, contentType, body) }
}

// FailureInSuccess says 200 in the header and failure in the body.
func FailureInSuccess(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	statusAs(
		w,
		http.StatusOK,
		http.StatusInternalServerError,
		metav1.StatusReasonInternalError,
		"the fault proxy says failure",
	)
}

// CutBefore reads the request, begins an answer and closes the connection. Nothing was applied.
func CutBefore(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body)
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler) //nolint:forbidigo // how a handler breaks its connection off
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) //nolint:forbidigo // how a handler breaks its connection off
	}
	_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Ty"))
	_ = conn.Close()
}

// CutAfter applies the request, swallows the answer and closes the connection.
func CutAfter(w http.ResponseWriter, r *http.Request, next http.Handler) {
	ask(applied(r), next)
	hangUp(w, false)
}

// FailAfter applies the request and answers with an error.
func FailAfter(code int, reason metav1.StatusReason) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		ask(applied(r), next)
		Refuse(code, reason)(w, r, next)
	}
}

// ApplyLater answers with an error at once, and applies the request after a while.
func ApplyLater(d time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) //nolint:forbidigo // how a handler breaks its connection off
		}
		w.Header().Set("Connection", "close") // the next request must not wait for this one
		status(w, http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "the fault proxy says 504")
		_ = http.NewResponseController(w).Flush()
		pause(context.WithoutCancel(r.Context()), d)
		late := applied(r)
		late.Body = io.NopCloser(bytes.NewReader(body))
		ask(late, next)
	}
}

// applied is the request as the API server gets it, also when the client goes away meanwhile.
func applied(r *http.Request) *http.Request {
	return r.Clone(context.WithoutCancel(r.Context()))
}

// Delay answers truly, but late.
func Delay(d time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := ask(applied(r), next)
		pause(r.Context(), d)
		send(w, answer, answer.Body.Bytes(), answer.Body.Len())
	}
}

// Duplicate sends the request twice, and answers what the API server said to the second.
func Duplicate(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) //nolint:forbidigo // how a handler breaks its connection off
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	ask(applied(r), next)
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := ask(applied(r), next)
	send(w, answer, answer.Body.Bytes(), answer.Body.Len())
}

// CutBody breaks the connection in the middle of the answer.
func CutBody(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answer := ask(applied(r), next)
	send(w, answer, answer.Body.Bytes()[:answer.Body.Len()/2], answer.Body.Len()+1)
	panic(http.ErrAbortHandler) //nolint:forbidigo // how a handler breaks its connection off
}

// ShortBody sends half of the answer as if it were all.
func ShortBody(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answer := ask(applied(r), next)
	half := answer.Body.Bytes()[:answer.Body.Len()/2]
	send(w, answer, half, len(half))
}

// SlowBody sends the answer in pieces, with breaks that last so long in all.
func SlowBody(d time.Duration) Fault {
	const pieces = 5
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := ask(applied(r), next)
		body := answer.Body.Bytes()
		send(w, answer, nil, len(body))
		for len(body) > 0 {
			n := min(len(body), answer.Body.Len()/pieces+1)
			_, _ = w.Write(body[:n])
			_ = http.NewResponseController(w).Flush()
			body = body[n:]
			pause(r.Context(), d/pieces)
		}
	}
}

// Redirect sends the client somewhere else.
func Redirect(code int, location string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) { http.Redirect(w, r, location, code) }
}

// RedirectHere sends the client to the same path, as a gateway does that wants https. Most clients come back with a
// GET.
func RedirectHere(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	http.Redirect(w, r, r.URL.String(), http.StatusMovedPermanently)
}
