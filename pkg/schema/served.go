// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

const (
	// fresh is how long an answer is good for. Of many runs that begin at once, one asks.
	fresh = time.Second
	// timeout bounds one request, tries is how often it is made when the API server is not well, with pauses that grow.
	timeout = 10 * time.Second
	tries   = 3
	// publishTries is how often it is made when the document is not there: the API server publishes it some seconds after
	// the CustomResourceDefinitions were installed.
	publishTries = 8
	// busyTries is how often it is made when the API server says that it has no time, as client-go does.
	busyTries  = 10
	firstPause = 200 * time.Millisecond
	// maxDocument bounds what is read. The document has about 150 KiB.
	maxDocument = 16 << 20
	// maxNamed is how many fields a message names.
	maxNamed = 8
)

// errNotPublished says that the API server has no such document, or not yet.
var errNotPublished = fmt.Errorf("GET %s: 404 Not Found", documentPath)

// errBusy says that the API server has no time.
var errBusy = fmt.Errorf("GET %s: 429 Too Many Requests", documentPath)

// documentPath is that of the OpenAPI v3 document of our API.
var documentPath = "/openapi/v3/apis/" + v1alpha1.GroupVersion.String()

// WayOut is what to do about CustomResourceDefinitions that lack fields.
const WayOut = "Apply the CustomResourceDefinitions of this version of KubeCleaner (kubectl apply --server-side --force-conflicts -k config/crd; with Helm: crds.install=true), and let nothing else install those of Cleaners"

// Served asks the API server which schemas it serves. It is safe for concurrent use.
type Served struct {
	client *http.Client
	url    string
	ours   map[string]*Schema
	clock  clock.PassiveClock
	pause  time.Duration

	// turn is held by who asks the API server; it guards what follows.
	turn chan struct{}
	// asked is when lacks was last known to be so, and etag the document's that it was found from.
	asked time.Time
	etag  string
	lacks string
}

// NewServed returns a Served for the API server of a configuration, which it asks by a client that was made for it.
func NewServed(config *rest.Config, client *http.Client, clk clock.PassiveClock) (*Served, error) {
	ours, err := Ours()
	if err != nil {
		return nil, err
	}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's address: %w", err)
	}
	return &Served{
		client: client,
		url:    server.JoinPath(documentPath).String(),
		ours:   ours,
		clock:  clk,
		pause:  firstPause,
		turn:   make(chan struct{}, 1),
	}, nil
}

// Check says what the schemas lack that the API server serves, with the way out: nothing may run then, and no Cleaner
// be written, because what is written is what the API server kept. An error means that nobody knows: the API server
// could not be asked.
func (s *Served) Check(ctx context.Context) (lacks string, err error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	if age := s.clock.Since(s.asked); age >= 0 && age < fresh && !s.asked.IsZero() {
		return s.lacks, nil
	}
	err = s.persist(ctx)
	if errors.Is(err, errNotPublished) && ctx.Err() == nil {
		s.asked, s.etag, s.lacks, err = s.clock.Now(), "", unreadWords(http.StatusNotFound), nil
	}
	if err != nil {
		s.asked = time.Time{}
		return "", fmt.Errorf("finding out whether the API server keeps all fields of Cleaners: %w", err)
	}
	return s.lacks, nil
}

// persist asks a few times, until there is an answer.
func (s *Served) persist(ctx context.Context) error {
	for n := 1; ; n++ {
		err := s.ask(ctx)
		most := tries
		switch {
		case errors.Is(err, errNotPublished):
			most = publishTries
		case errors.Is(err, errBusy):
			most = busyTries
		}
		if err == nil || n >= most {
			return err
		}
		select {
		case <-time.After(s.pause * time.Duration(n)):
		case <-ctx.Done():
			return err
		}
	}
}

// ask reads the document, unless it is the one that was read last.
func (s *Served) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	if s.etag != "" {
		request.Header.Set("If-None-Match", s.etag)
	}
	asked := s.clock.Now()
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	switch code := response.StatusCode; {
	case code == http.StatusNotModified && s.etag != "":
	case code == http.StatusOK:
		found, err := s.read(response.Body)
		if err != nil {
			return err
		}
		s.etag, s.lacks = response.Header.Get("Etag"), lacksWords(found)
	case code == http.StatusNotFound:
		return errNotPublished
	case mayPass(code):
		return passing(code)
	default: // it will not pass by itself
		s.etag, s.lacks = "", unreadWords(code)
	}
	s.asked = asked
	return nil
}

// read finds what a document lacks.
func (s *Served) read(document io.Reader) ([]string, error) {
	body, err := io.ReadAll(io.LimitReader(document, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxDocument {
		return nil, errors.New("the answer is too large: is there something between the operator and the API server?")
	}
	found, err := compare(s.ours, body)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", documentPath, err)
	}
	return found, nil
}

// mayPass reports whether an answer says nothing of what was asked for.
func mayPass(code int) bool {
	return code < http.StatusBadRequest || code >= http.StatusInternalServerError || code == http.StatusTooManyRequests ||
		code == http.StatusRequestTimeout
}

func passing(code int) error {
	if code == http.StatusTooManyRequests {
		return errBusy
	}
	return fmt.Errorf("GET %s: %d %s", documentPath, code, http.StatusText(code))
}

// lacksWords says which fields are missing.
func lacksWords(found []string) string {
	if len(found) == 0 {
		return ""
	}
	named := strings.Join(found[:min(maxNamed, len(found))], ", ")
	if more := len(found) - maxNamed; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf(
		"The CustomResourceDefinitions in the cluster lack fields of this version of KubeCleaner: %s. The API server drops them. A Cleaner could then match more objects than its author wants, so nothing runs. %s.",
		named,
		WayOut,
	)
}

// unread is how it begins when nobody knows what the schemas lack, because they may not be read.
const unread = "The API server does not show which fields of Cleaners it keeps"

// IsUnread reports whether what Check says is only that the schemas may not be read.
func IsUnread(lacks string) bool { return strings.HasPrefix(lacks, unread) }

func unreadWords(code int) string {
	return fmt.Sprintf(
		unread+" (GET %s: %d %s): nothing runs. Let the operator's ServiceAccount read that, by the ClusterRole system:discovery, and see that the CustomResourceDefinitions are installed.",
		documentPath,
		code,
		http.StatusText(code),
	)
}
