// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

const (
	maxBody = 1 << 20
	// scanIn bounds the work for one request, which may scan a large cluster, and writeIn how long a client may take to
	// read the answer, or one event of a stream.
	scanIn  = 10 * time.Minute
	writeIn = 30 * time.Second
)

// guarded lets only requests through that the page itself, or a program with the person's token, can have made.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "+
			"form-action 'self'; frame-ancestors 'none'")
		header.Set("X-Frame-Options", "DENY") // for browsers that do not know frame-ancestors
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		// Browsers would keep it in mind for everything else on localhost, where the page is by kubectl port-forward.
		if s.Mode != ModeLocal && nameOf(r.Host) != "localhost" {
			header.Set("Strict-Transport-Security", "max-age=31536000")
		}
		_ = http.NewResponseController(w).SetWriteDeadline(s.Now().Add(scanIn + writeIn))
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if err := s.refuse(r); err != nil {
			s.sendError(w, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse says why a request is not answered.
func (s *Server) refuse(r *http.Request) error {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	writes := r.Method != http.MethodGet && r.Method != http.MethodHead
	switch {
	case !s.answersFor(r.Host):
		return forbidden("this server does not answer for the host %q", r.Host)
	case origin != "" && !isOf(origin, r.Host):
		return forbidden("requests of pages of another origin are refused")
	case writes:
		return s.refuseWrite(r, site)
	case strings.HasPrefix(r.URL.Path, "/api/") && !slices.Contains([]string{"", "same-origin", "none"}, site):
		return forbidden("requests of pages of another site are refused")
	}
	return nil
}

// answersFor reports whether the host is one of ours.
func (s *Server) answersFor(host string) bool {
	name := nameOf(host)
	return len(s.Hosts) == 0 || slices.ContainsFunc(s.Hosts, func(own string) bool {
		return strings.EqualFold(own, host) || strings.EqualFold(own, name)
	})
}

// nameOf is the host without its port.
func nameOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// refuseWrite says why a write is not carried out.
func (s *Server) refuseWrite(r *http.Request, site string) error {
	changesNothing := []string{"/login", "/logout", "/api/v1/preview"}
	switch {
	case site != "same-origin":
		return forbidden("writes need the header Sec-Fetch-Site: same-origin, as browsers send it for the page itself")
	case !isJSON(r.Header.Get("Content-Type")):
		return &Failure{http.StatusUnsupportedMediaType, Error{Error: "writes need Content-Type: application/json"}}
	case s.ReadOnly && !slices.Contains(changesNothing, r.URL.Path):
		return forbidden("this server takes no writes")
	}
	return nil
}

func isOf(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host == host
}

func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == "application/json"
}

// as calls the handler as the person of the request.
func (s *Server) as(handler answers) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), scanIn)
		defer cancel()
		r = r.WithContext(ctx)
		p, err := s.personOf(r)
		if err == nil {
			err = checkNames(r)
		}
		if err != nil {
			s.sendError(w, err)
			return
		}
		status, body, err := handler(r, p)
		if err != nil {
			s.sendError(w, err)
			return
		}
		send(w, status, body)
	})
}

// page sends the client: a file of it, or index.html for every address that the client knows itself.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		s.sendError(w, notFound("there is no %s %s", r.Method, r.URL.Path))
		return
	}
	if ticket := r.URL.Query().Get("token"); ticket != "" && s.Mode == ModeLocal {
		s.enterBy(w, r, ticket)
		return
	}
	name := strings.TrimPrefix(path.Clean("/"+r.PathValue("path")), "/")
	content, err := fs.ReadFile(s.Files, name)
	if err != nil || strings.HasPrefix(path.Base(name), ".") {
		name = "index.html"
		content, err = fs.ReadFile(s.Files, name)
	}
	if err != nil {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusNotImplemented)
		_, _ = io.WriteString(w, "This program was built without its page. In its source, make web builds the page: "+
			"then build the program again.\n"+
			"The API below /api/v1/ works.\n")
		return
	}
	if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	if strings.HasPrefix(name, "assets/") { // their names change with their content
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_ = http.NewResponseController(w).SetWriteDeadline(s.Now().Add(writeIn))
	_, _ = w.Write(content)
}

// enterBy exchanges the ticket in the address for a cookie, and for the key, which is in the fragment and so is sent
// nowhere. Who has the cookie already may open the address again.
func (s *Server) enterBy(w http.ResponseWriter, r *http.Request, ticket string) {
	location := "/"
	switch cookie, key := s.door.exchange(ticket); {
	case cookie != "":
		s.setCookie(w, cookie)
		location = "/#key=" + key
	case !s.door.knows(s.secretOf(r)):
		s.sendError(w, s.loginNeeded())
		return
	}
	w.Header().Set("Location", location)
	w.WriteHeader(http.StatusSeeOther)
	_, _ = fmt.Fprintln(w, "the page is at /")
}
