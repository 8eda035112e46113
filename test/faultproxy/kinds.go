// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package faultproxy

import (
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Answer is what the client of a fault gets.
type Answer string

const (
	// Broken is an error, no answer, or one that cannot be read. The request may have been applied.
	Broken Answer = "Broken"
	// True is what the API server said, but late, twice or in pieces.
	True Answer = "True"
	// False is a well-formed answer that is not so. No client can notice.
	False Answer = "False"
)

// Kind is a fault with a name.
type Kind struct {
	Name   string
	Fault  Fault
	Answer Answer
	// Lists is true for what happens to lists only, and Pages for what happens to their further pages only.
	Lists, Pages bool
	// Busy is true for an answer to come back later. A run waits for that until its deadline.
	Busy bool
}

// Concerns reports whether the fault does anything to the call.
func (k Kind) Concerns(c *Call) bool {
	return !k.Lists && !k.Pages || c.Verb == "list" && (k.Lists || c.Request.URL.Query().Get("continue") != "")
}

const (
	moment   = 300 * time.Millisecond
	html     = "<!doctype html><html><body><h1>Sign in</h1></body></html>"
	notFound = "404 page not found\n"
)

// Kinds are all the faults, with times that are short.
var Kinds = []Kind{
	{Name: "closed before sending", Fault: Close, Answer: Broken},
	{Name: "reset", Fault: Reset, Answer: Broken},
	{Name: "hangs", Fault: Hang(moment), Answer: Broken},
	{Name: "401", Fault: Refuse(http.StatusUnauthorized, metav1.StatusReasonUnauthorized), Answer: Broken},
	{Name: "403", Fault: Refuse(http.StatusForbidden, metav1.StatusReasonForbidden), Answer: Broken},
	{
		Name:   "404 of an aggregated API that is down",
		Fault:  Page(http.StatusNotFound, "text/plain; charset=utf-8", notFound),
		Answer: Broken,
	},
	{Name: "404 without details", Fault: Refuse(http.StatusNotFound, metav1.StatusReasonNotFound), Answer: Broken},
	{Name: "409", Fault: Refuse(http.StatusConflict, metav1.StatusReasonConflict), Answer: Broken},
	{Name: "409 already exists", Fault: Refuse(http.StatusConflict, metav1.StatusReasonAlreadyExists), Answer: Broken},
	{Name: "410", Fault: Refuse(http.StatusGone, metav1.StatusReasonExpired), Answer: Broken},
	{
		Name:   "429",
		Fault:  Refuse(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests),
		Answer: Broken,
		Busy:   true,
	},
	{
		Name:   "429 with Retry-After",
		Fault:  RefuseFor(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, time.Second),
		Answer: Broken,
		Busy:   true,
	},
	{Name: "500", Fault: Refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError), Answer: Broken},
	{
		Name:   "502 of a gateway",
		Fault:  Page(http.StatusBadGateway, "text/html", "<html><body>502 Bad Gateway</body></html>"),
		Answer: Broken,
	},
	{Name: "503", Fault: Refuse(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable), Answer: Broken},
	{
		Name:   "503 with Retry-After",
		Fault:  RefuseFor(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, time.Second),
		Answer: Broken,
		Busy:   true,
	},
	{Name: "504", Fault: Refuse(http.StatusGatewayTimeout, metav1.StatusReasonTimeout), Answer: Broken},
	{Name: "cut before applying", Fault: CutBefore, Answer: Broken},
	{Name: "cut after applying", Fault: CutAfter, Answer: Broken},
	{
		Name:   "500 after applying",
		Fault:  FailAfter(http.StatusInternalServerError, metav1.StatusReasonInternalError),
		Answer: Broken,
	},
	{Name: "504 after applying", Fault: FailAfter(http.StatusGatewayTimeout, metav1.StatusReasonTimeout), Answer: Broken},
	{Name: "504 before applying", Fault: ApplyLater(moment), Answer: Broken},
	{Name: "cut in the body", Fault: CutBody, Answer: Broken},
	{Name: "half a body", Fault: ShortBody, Answer: Broken},
	{Name: "empty body", Fault: Page(http.StatusOK, "application/json", ""), Answer: Broken},
	{Name: "empty object", Fault: Page(http.StatusOK, "application/json", "{}"), Answer: Broken},
	{Name: "garbage", Fault: Page(http.StatusOK, "application/json", `{"kind":"Se`+"\x00\xff"), Answer: Broken},
	{Name: "login page", Fault: Page(http.StatusOK, "text/html", html), Answer: Broken},
	{Name: "failure in a success", Fault: FailureInSuccess, Answer: Broken},
	{Name: "redirect to a login page", Fault: Redirect(http.StatusFound, "/login"), Answer: Broken},
	{Name: "redirect to itself", Fault: RedirectHere, Answer: Broken},
	{Name: "delayed after applying", Fault: Delay(moment), Answer: True},
	{Name: "slow body", Fault: SlowBody(moment), Answer: True},
	{Name: "sent twice", Fault: Duplicate, Answer: True},
	{Name: "stale list", Fault: Stale(100), Answer: False, Lists: true},
	{Name: "410 in mid-pages", Fault: ExpirePage(), Answer: Broken, Pages: true},
	{Name: "another resource version in mid-pages", Fault: OtherVersion(), Answer: Broken, Pages: true},
	{Name: "repeated page", Fault: RepeatPage(), Answer: Broken, Pages: true},
	{Name: "skipped page", Fault: SkipPage(), Answer: False, Pages: true},
	{Name: "empty page", Fault: EmptyPage(), Answer: False, Pages: true},
}
