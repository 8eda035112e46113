// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Failure is an answer that is no success.
type Failure struct {
	Status int
	Body   Error
}

func (f *Failure) Error() string { return f.Body.Error }

func failure(status int, format string, args ...any) error {
	return &Failure{status, Error{Error: fmt.Sprintf(format, args...)}}
}

func badRequest(format string, args ...any) error {
	return failure(http.StatusBadRequest, format, args...)
}

func forbidden(format string, args ...any) error {
	return failure(http.StatusForbidden, format, args...)
}

func notFound(format string, args ...any) error {
	return failure(http.StatusNotFound, format, args...)
}

// failureOf is the answer for an error: the API server's own status and words, and the missing right.
func failureOf(err error) *Failure {
	var f *Failure
	var failure *terminal.Failure
	var status apierrors.APIStatus
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &large):
		return &Failure{http.StatusRequestEntityTooLarge, Error{Error: "the request is larger than 1 MiB"}}
	case errors.Is(err, context.DeadlineExceeded):
		return &Failure{http.StatusGatewayTimeout, Error{Error: "it took too long"}}
	}
	f = &Failure{http.StatusInternalServerError, Error{Error: terminal.OneLine(err.Error())}}
	if errors.As(err, &failure) {
		f.Body.Hint, f.Status = failure.Hint, http.StatusUnprocessableEntity
	}
	if errors.As(err, &status) {
		f.Status = cmp.Or(int(status.Status().Code), http.StatusBadGateway)
		if f.Status == http.StatusForbidden {
			f.Body.Missing = missingIn(status.Status().Message)
		}
	}
	var network *url.Error
	if errors.As(err, &network) {
		f.Status = http.StatusBadGateway
	}
	return f
}

// denied is how the API server says which right is missing.
var denied = regexp.MustCompile(`cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)

func missingIn(message string) string {
	found := denied.FindStringSubmatch(message)
	if found == nil {
		return ""
	}
	return rightWords(found[1], found[3], found[2], found[4], "")
}

// rightWords is, for example, `patch cleaners.apps.projectsveltos.io "x"`.
func rightWords(verb, group, resource, namespace, name string) string {
	text := verb + " " + resource
	if group != "" {
		text += "." + group
	}
	if name != "" {
		text += fmt.Sprintf(" %q", name)
	}
	if namespace != "" {
		text += " in namespace " + namespace
	}
	return text
}

func (s *Server) sendError(w http.ResponseWriter, err error) {
	f := failureOf(err)
	if f.Status >= http.StatusInternalServerError {
		s.Log.Error(err, "Could not answer a request", "status", f.Status)
	}
	send(w, f.Status, f.Body)
}

// send answers with JSON. Browsers take it for nothing else.
func send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that is gone needs no answer
}

// read takes the body of a request.
func read(r *http.Request, into any) error {
	body, err := io.ReadAll(r.Body)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return failure(http.StatusRequestTimeout, "the request came too slowly")
	}
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		return badRequest("the body is not the JSON that is expected: %s", terminal.OneLine(err.Error()))
	}
	return nil
}

// checkNames refuses what cannot be the name of an object, wherever it stands.
func checkNames(r *http.Request) error {
	if name := r.PathValue("name"); name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		return badRequest("%q cannot be the name of an object", name)
	}
	query := r.URL.Query()
	if namespace := query.Get("namespace"); namespace != "" && len(validation.IsDNS1123Label(namespace)) > 0 {
		return badRequest("%q cannot be the name of a namespace", namespace)
	}
	for name, most := range map[string]int{"offset": 1 << 30, "limit": maxLimit} {
		if text := query.Get(name); text != "" {
			if n, err := strconv.Atoi(text); err != nil || n < 0 || n > most {
				return badRequest("%s=%s: it must be a number from 0 to %d", name, terminal.OneLine(text), most)
			}
		}
	}
	return nil
}

const (
	maxLimit     = 500
	defaultLimit = 50
)

// pageOf is the part of the items that the request asks for.
func pageOf[T any](r *http.Request, items []T) Page[T] {
	page := newPage[T](r)
	for _, item := range items {
		page.add(item)
	}
	return page
}

// newPage is the part that the request asks for, of what is added. checkNames has checked the numbers.
func newPage[T any](r *http.Request) Page[T] {
	offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	return Page[T]{Items: []T{}, Offset: offset, Limit: cmp.Or(limit, defaultLimit)}
}

// add counts an item, and keeps it if it is on the page.
func (p *Page[T]) add(item T) {
	if p.Total >= p.Offset && len(p.Items) < p.Limit {
		p.Items = append(p.Items, item)
	}
	p.Total++
}

// matches reports whether one of the texts holds q, whatever the case.
func matches(q string, texts ...string) bool {
	q = strings.ToLower(q)
	for _, text := range texts {
		if strings.Contains(strings.ToLower(text), q) {
			return true
		}
	}
	return false
}

// isOrAny reports whether the filter is empty or the text.
func isOrAny(filter, text string) bool { return filter == "" || strings.EqualFold(filter, text) }

func nowhere() genericiooptions.IOStreams {
	return genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}
}
