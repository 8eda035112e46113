// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/transport"
)

const (
	cookiePrefix = "kubecleaner"
	// maxToken is what fits into a cookie.
	maxToken = 3800
	// keyHeader is where the page of a local server has the key. A stream of events, for which browsers send no headers of
	// a page, has it in its address.
	keyHeader, eventsPath = "X-Kubecleaner-Key", "/api/v1/events"
)

// person is who looks. Everything is read and written through api.
type person struct {
	api *cluster.Client
	// key distinguishes people who share this server. It is a hash of what the request proved itself with.
	key string
	// pages are the places for pages of lists, which all people share.
	pages chan struct{}
}

// door knows which browser has exchanged the ticket of a local server.
type door struct {
	mutex  sync.Mutex
	ticket string // empty when it was used
	// cookie and key are empty as long as nobody came in. Browsers send the cookie to all ports of the host, also to those
	// of other people. The key goes to the page alone, which keeps it for its own origin.
	cookie, key string
}

func newDoor(o Options) *door { return &door{ticket: o.Ticket} }

// exchange takes the ticket, once, and returns the cookie's value and the key. Empty for a wrong one.
func (d *door) exchange(ticket string) (cookie, key string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.ticket == "" || !same(d.ticket, ticket) {
		return "", ""
	}
	d.ticket, d.cookie, d.key = "", rand.Text(), rand.Text()
	return d.cookie, d.key
}

// knows reports whether the browser is the one that came in.
func (d *door) knows(cookie string) bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.cookie != "" && same(d.cookie, cookie)
}

// lets reports whether it is the page in that browser.
func (d *door) lets(cookie, key string) bool {
	return d.knows(cookie) && same(d.key, key)
}

func pageKey(r *http.Request) string {
	if r.URL.Path == eventsPath {
		return r.URL.Query().Get("key")
	}
	return r.Header.Get(keyHeader)
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// secretOf is what the request proves itself with: the token of an auth proxy, or the cookie's value.
func (s *Server) secretOf(r *http.Request) string {
	if s.Mode == ModeToken {
		if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
			return strings.TrimSpace(token)
		}
	}
	cookie, err := r.Cookie(s.cookieName())
	if err != nil {
		return ""
	}
	return cookie.Value
}

// personOf is who makes the request. Who that is, and whether the token is any good, the API server says.
func (s *Server) personOf(r *http.Request) (*person, error) {
	secret := s.secretOf(r)
	if secret == "" || s.Mode == ModeLocal && !s.door.lets(secret, pageKey(r)) {
		return nil, s.loginNeeded()
	}
	return s.person(secret)
}

func (s *Server) loginNeeded() error {
	if s.Mode == ModeLocal {
		return &Failure{http.StatusUnauthorized, Error{
			Error: "this browser has not opened the address that kubectl cleaner dashboard printed",
			Hint:  "that address can be opened once; for another one, start kubectl cleaner dashboard again",
		}}
	}
	return &Failure{http.StatusUnauthorized, Error{Error: "you are not logged in", Hint: "log in with a token"}}
}

func (s *Server) person(secret string) (*person, error) {
	config := s.Cluster
	if s.Mode == ModeToken {
		config = rest.AnonymousClientConfig(s.Cluster) // nothing of this server's own identity
		config.BearerToken = secret
		config.Wrap(transport.RefuseRedirects) // the token would go along
	}
	api, err := cluster.New(terminal.New(nowhere(), terminal.Options{Version: s.Version}), config)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(secret))
	return &person{api, hex.EncodeToString(sum[:]), s.pages}, nil
}

// review asks the API server who the person is.
func (p *person) review(ctx context.Context) (authenticationv1.UserInfo, error) {
	var review authenticationv1.SelfSubjectReview
	const asked = `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`
	request := p.api.Raw.Post().AbsPath("/apis/authentication.k8s.io/v1/selfsubjectreviews").Body([]byte(asked))
	body, err := cluster.Send(ctx, request)
	if err == nil {
		err = json.Unmarshal(body, &review)
	}
	return review.Status.UserInfo, err
}

func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	var given Login
	if err := read(r, &given); err != nil {
		s.sendError(w, err)
		return
	}
	token := strings.TrimSpace(given.Token)
	switch {
	case s.Mode != ModeToken:
		s.sendError(w, s.loginNeeded())
		return
	case token == "" || len(token) > maxToken || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`",;\`, c) }):
		s.sendError(w, badRequest("this is no token: kubectl create token NAME prints one of a ServiceAccount"))
		return
	}
	p, err := s.person(token)
	if err == nil {
		_, err = p.review(r.Context())
	}
	if apierrors.IsUnauthorized(err) {
		err = &Failure{http.StatusUnauthorized, Error{
			Error: "the API server does not take this token: it may have expired, or be of another cluster",
		}}
	}
	if err != nil {
		s.sendError(w, err)
		return
	}
	s.setCookie(w, token)
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) logout(w http.ResponseWriter, _ *http.Request) {
	s.setCookie(w, "")
	w.WriteHeader(http.StatusNoContent)
}

// cookieName has the port of a local server in it: browsers send cookies to all ports of a host, and a person may look
// at two clusters. Browsers take the cookie of the others, for its prefix, from this very host only, and over
// TLS.
func (s *Server) cookieName() string {
	if s.Mode != ModeLocal {
		return "__Host-" + cookiePrefix
	}
	if len(s.Hosts) > 0 {
		if _, port, err := net.SplitHostPort(s.Hosts[0]); err == nil {
			return cookiePrefix + "-" + port
		}
	}
	return cookiePrefix
}

// setCookie sets the cookie, or removes it. It ends with the browser. A local server has no TLS, and its cookie is sent
// to this computer only; all others are Secure.
func (s *Server) setCookie(w http.ResponseWriter, value string) {
	cookie := &http.Cookie{
		Name: s.cookieName(), Value: value, Path: "/", HttpOnly: true, Secure: s.Mode != ModeLocal,
		SameSite: http.SameSiteStrictMode,
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}

func (s *Server) config(w http.ResponseWriter, r *http.Request) {
	_, err := s.personOf(r)
	send(w, http.StatusOK, Config{
		Mode: s.Mode, LoggedIn: err == nil, Version: s.Version, ReadOnly: s.ReadOnly, Namespace: s.Namespace,
	})
}

func (s *Server) whoami(r *http.Request, p *person) (int, any, error) {
	user, err := p.review(r.Context())
	if user.Groups == nil {
		user.Groups = []string{}
	}
	return http.StatusOK, WhoAmI{User: user.Username, Groups: user.Groups, Cluster: p.api.Config.Host}, err
}
