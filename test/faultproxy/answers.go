// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault does something to a request. next is the API server. A nil Fault passes through.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// hangUp breaks the connection off, politely or with a reset.
func hangUp(w http.ResponseWriter, reset bool) {
	hijacker, ok := w.(http.Hijacker)
	if !ok { // of a fault within a fault
		panic(http.ErrAbortHandler) //nolint:forbidigo // how a handler breaks its connection off
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) //nolint:forbidigo // how a handler breaks its connection off
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// status answers with an error as the API server writes it.
func status(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	statusAs(w, code, code, reason, message)
}

// statusAs says one code in the header and another in the body.
func statusAs(w http.ResponseWriter, header, code int, reason metav1.StatusReason, message string) {
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Reason: reason, Message: message, Code: int32(code),
	})
	if err != nil {
		panic(err) //nolint:forbidigo // a mistake of the proxy
	}
	text(w, header, "application/json", string(body))
}

func text(w http.ResponseWriter, code int, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	_, _ = w.Write([]byte(body))
}

// ask passes the request on and returns the answer, uncompressed.
func ask(r *http.Request, next http.Handler) *httptest.ResponseRecorder {
	r = r.Clone(r.Context())
	r.Header.Set("Accept-Encoding", "identity")
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, r)
	return answer
}

// send sends an answer, of whose body as much as length says arrives.
func send(w http.ResponseWriter, answer *httptest.ResponseRecorder, body []byte, length int) {
	for key, values := range answer.Header() {
		w.Header()[key] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(length))
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body)
}
