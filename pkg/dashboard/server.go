// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"io/fs"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

// The modes of Config.Mode.
const (
	// ModeToken is a server in the cluster: each request carries its person's own token.
	ModeToken = "Token"
	// ModeLocal is a server on loopback, for the one person whose kubeconfig it has.
	ModeLocal = "Local"
)

// Options say whom a server serves, and with what.
type Options struct {
	// Mode is ModeToken or ModeLocal.
	Mode string
	// Cluster is how to reach the API server. With ModeToken only its address and authorities are used.
	Cluster *rest.Config
	// Hosts are the values of the header Host that are answered, with the port. Empty means any, for ModeToken: there the
	// cookie belongs to one host name, so a page of another one has no identity to steal.
	Hosts []string
	// Ticket is what a browser exchanges for its cookie, once. ModeLocal only.
	Ticket string
	// Namespace is where findings start, and OperatorNamespace where copies are.
	Namespace, OperatorNamespace string
	ReadOnly                     bool
	Version                      string
	// Scripts says how the processes that run scripts are started.
	Scripts sandbox.Config
	// Files are the built files of the client.
	Files fs.FS
	Now   func() time.Time
	Log   logr.Logger
}

// Server answers the page and its requests.
type Server struct {
	Options
	door  *door
	heavy chan struct{}
	scans *scans
}

// parallelHeavy is how many scans, previews, restores and large records are worked on at once: they are what takes
// memory.
const parallelHeavy = 2

// New returns a server.
func New(o Options) *Server {
	return &Server{Options: o, door: newDoor(o), heavy: make(chan struct{}, parallelHeavy), scans: &scans{now: o.Now}}
}

// enter waits until there is room for something that takes memory. The caller calls leave if there is no error.
func (s *Server) enter(ctx context.Context) error {
	select {
	case s.heavy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Server) leave() { <-s.heavy }

// answers is a handler that acts as a person and returns what to send, and the status.
type answers func(r *http.Request, p *person) (status int, body any, err error)

// Handler is the whole server.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("POST /logout", s.logout)
	mux.HandleFunc("GET /api/v1/config", s.config)
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		s.sendError(w, notFound("there is no %s %s", r.Method, r.URL.Path))
	})
	mux.HandleFunc("/{path...}", s.page)
	for route, handler := range s.routes() {
		mux.Handle(route, s.as(handler))
	}
	mux.Handle("GET /api/v1/events", s.streaming(events))
	mux.Handle("POST /api/v1/preview", s.streaming(s.preview))
	return s.guarded(mux)
}

func (s *Server) routes() map[string]answers {
	const api = "/api/v1/"
	return map[string]answers{
		"GET " + api + "health":                       health,
		"GET " + api + "whoami":                       s.whoami,
		"GET " + api + "access":                       s.access,
		"GET " + api + "summary":                      s.summary,
		"GET " + api + "cleaners":                     s.listCleaners,
		"POST " + api + "cleaners":                    s.createCleaner,
		"GET " + api + "cleaners/{name}":              s.cleaner,
		"PUT " + api + "cleaners/{name}":              s.updateCleaner,
		"POST " + api + "cleaners/{name}/trigger":     s.trigger,
		"POST " + api + "cleaners/{name}/suspend":     s.suspend(true),
		"POST " + api + "cleaners/{name}/resume":      s.suspend(false),
		"POST " + api + "cleaners/{name}/cancel":      s.cancel,
		"POST " + api + "cleaners/{name}/notify-test": s.notifyTest,
		"POST " + api + "trigger-all":                 s.triggerAll,
		"GET " + api + "runs":                         s.listRuns,
		"GET " + api + "runs/{name}":                  s.run,
		"GET " + api + "runs/{name}/outcomes":         s.outcomes,
		"GET " + api + "runs/{name}/diff":             s.diff,
		"GET " + api + "runs/{name}/restore":          s.restorePlan,
		"POST " + api + "runs/{name}/restore":         s.restore,
		"GET " + api + "runs/{name}/copy":             s.copy,
		"GET " + api + "plans":                        s.listPlans,
		"GET " + api + "plans/{name}":                 s.plan,
		"POST " + api + "plans/{name}/approve":        s.decide(v1alpha1.DecisionApprove),
		"POST " + api + "plans/{name}/reject":         s.decide(v1alpha1.DecisionReject),
		"GET " + api + "findings":                     s.findings,
		"GET " + api + "findings/cleaner":             s.findingsCleaner,
		"GET " + api + "why":                          s.why,
		"GET " + api + "doctor":                       s.doctor,
		"GET " + api + "library":                      library,
		"GET " + api + "library/{name}":               libraryItem,
		"GET " + api + "reports":                      s.listReports,
		"GET " + api + "reports/{name}":               s.report,
		"POST " + api + "reports/{name}/rollback":     s.rollback,
	}
}

func health(*http.Request, *person) (int, any, error) {
	return http.StatusOK, map[string]string{"status": "ok"}, nil
}
