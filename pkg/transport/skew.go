// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// maxSkew is by how much the operator's clock may differ from the API server's before ages are not judged any more.
const maxSkew = time.Minute

// ClockSkew compares the operator's clock with the API server's, which sets creation timestamps, by the Date of the
// answers that the operator gets anyway. Ages, and the time until which copies are kept, are nothing to go by on a node
// whose clock is wrong.
type ClockSkew struct {
	// Clock is the operator's.
	Clock clock.PassiveClock
	// last is the least by which the clock was ahead (or, negative, behind) at the latest answer.
	last atomic.Int64
}

// Wrap is for the transports of the clients of the operator.
func (s *ClockSkew) Wrap(next http.RoundTripper) http.RoundTripper {
	return &skewTransport{skew: s, next: next}
}

// Check says what is wrong with the operator's clock. It is nil too while no answer had a Date: then nothing is known.
func (s *ClockSkew) Check() error {
	skew, direction := time.Duration(s.last.Load()), "ahead of"
	if skew < 0 {
		skew, direction = -skew, "behind"
	}
	if skew <= maxSkew {
		return nil
	}
	by := skew.Round(time.Second).String()
	if days := skew.Round(24*time.Hour) / (24 * time.Hour); days >= 2 {
		by = fmt.Sprintf("%d days", days)
	}
	return fmt.Errorf(
		"the operator's clock is %s %s the API server's: ages cannot be judged; set the node's clock",
		by,
		direction,
	)
}

// measure takes note of an answer to a request that was sent and answered at these times by the operator's clock. The
// server wrote the date in between, and it cut off the fraction of a second: only what cannot be explained by these
// counts as skew.
func (s *ClockSkew) measure(sent, answered, date time.Time) {
	ahead, behind := sent.Sub(date)-time.Second, answered.Sub(date)
	s.last.Store(int64(max(ahead, 0) + min(behind, 0)))
}

type skewTransport struct {
	skew *ClockSkew
	next http.RoundTripper
}

// WrappedRoundTripper lets client-go reach the connections behind.
func (t *skewTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t *skewTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	sent := t.skew.Clock.Now()
	response, err := t.next.RoundTrip(request)
	if err != nil || response.StatusCode >= http.StatusMultipleChoices && response.StatusCode != http.StatusNotModified ||
		!isServersOwn(request.URL.Path) {
		return response, err // a failure may be the answer of a proxy
	}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		t.skew.measure(sent, t.skew.Clock.Now(), date)
	}
	return response, nil
}

// isServersOwn reports whether the API server answers itself. Other groups may be those of aggregated API servers,
// which have clocks of their own.
func isServersOwn(path string) bool {
	_, group, found := strings.Cut(path, "/apis/")
	return !found || strings.HasPrefix(group, "coordination.k8s.io/") ||
		strings.HasPrefix(group, v1alpha1.GroupVersion.Group+"/")
}
