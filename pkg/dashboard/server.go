// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
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
	// Hosts are the host names that are answered for (header Host): with a port, or without one for every port. Empty
	// means any, for ModeToken: there the cookie belongs to one host name, so a page of another one has no identity to
	// steal.
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
	// Ending, when it is closed, ends the streams, which would go on for as long as the browser does. Nil means never.
	Ending <-chan struct{}
	Now    func() time.Time
	Log    logr.Logger
}

// Server answers the page and its requests.
type Server struct {
	Options
	door  *door
	scans *scans
	heavy chan struct{}
	// pages are the places for pages of lists.
	pages chan struct{}
	// waiting are the people who wait for heavy or have it, streamed those with streams of events, and samples those who
	// send sample notifications.
	waiting, streamed, samples *crowd
}

// New returns a server.
func New(o Options) *Server {
	return &Server{
		Options: o, door: newDoor(o), scans: &scans{now: o.Now}, heavy: make(chan struct{}, parallelHeavy),
		pages:   make(chan struct{}, parallelPages),
		waiting: newCrowd(heavyOfOne, heavyOfAll), streamed: newCrowd(streamsOfOne, streamsOfAll),
		samples: newCrowd(samplesOfOne, samplesOfAll),
	}
}

// answers is a handler that acts as a person and returns what to send, and the status.
type answers func(r *http.Request, p *person) (status int, body any, err error)

// Handler is the whole server.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
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
	return withHealth(s.guarded(mux))
}

// withHealth answers probes, before anything else looks at the request: they name the Pod's address as the host. That
// the server answers is all that they learn.
func withHealth(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && (r.URL.Path == "/healthz" || r.URL.Path == "/readyz") {
			_, _ = w.Write([]byte("ok"))
			return
		}
		next.ServeHTTP(w, r)
	})
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
		"GET " + api + "channels":                     listChannels,
		"POST " + api + "trigger-all":                 s.triggerAll,
		"GET " + api + "runs":                         s.listRuns,
		"GET " + api + "runs/{name}":                  s.run,
		"GET " + api + "runs/{name}/outcomes":         s.outcomes,
		"GET " + api + "runs/{name}/diff":             s.diff,
		"GET " + api + "runs/{name}/restore":          s.restorePlan,
		"POST " + api + "runs/{name}/restore":         s.restore,
		"GET " + api + "runs/{name}/copy":             s.copy,
		"GET " + api + "activity":                     activity,
		"GET " + api + "plans":                        s.listPlans,
		"GET " + api + "plans/{name}":                 s.plan,
		"POST " + api + "plans/{name}/approve":        s.decide(v1alpha1.DecisionApprove),
		"POST " + api + "plans/{name}/reject":         s.decide(v1alpha1.DecisionReject),
		"GET " + api + "findings":                     s.findings,
		"GET " + api + "findings/cleaner":             s.findingsCleaner,
		"GET " + api + "why":                          s.why,
		"GET " + api + "loss":                         loss,
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
