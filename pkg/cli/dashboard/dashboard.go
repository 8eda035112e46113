// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dashboard is kubectl cleaner dashboard: the page, on this computer, with your own kubeconfig.
package dashboard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/dashboard"
	"github.com/kubecleaner/kubecleaner/web"
)

type options struct {
	*terminal.Session
	cluster.Connection
	port                         int
	namespace, operatorNamespace string
	files                        func() (fs.FS, error)
}

// Command is what users call.
func Command(s *terminal.Session) *cobra.Command { return WithFiles(s, web.Files) }

// WithFiles is Command with another page than the one that the program was built with.
func WithFiles(s *terminal.Session, files func() (fs.FS, error)) *cobra.Command {
	o := &options{Session: s, files: files}
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Show Cleaners, plans, runs and findings on a page in the browser",
		Long: "Serves the page on this computer, and prints its address, which can be opened once. The page reads and writes with your own\n" +
			"rights. Nobody else can reach it. Ctrl-C ends it.",
		Example: "  kubectl cleaner dashboard\n  kubectl cleaner dashboard --port 8080 -n shop",
		Args:    terminal.None,
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().IntVar(&o.port, "port", 0, "the port on this computer; 0 means any free one")
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "", "the namespace whose findings are shown first (default: the whole cluster)")
	cluster.BindAllNamespaces(cmd.Flags(), "show the findings of the whole cluster first, which is the default")
	cluster.InOperatorNamespace(cmd.Flags(), &o.operatorNamespace)
	o.Bind(cmd.Flags())
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

func (o *options) run(ctx context.Context) error {
	files, err := o.page()
	if err != nil {
		return err
	}
	config, err := o.Config()
	if err != nil {
		return err
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.port)))
	if err != nil {
		return terminal.Fail(
			codes.PortUnusable,
			fmt.Errorf("cannot listen on port %d of this computer: %w", o.port, err),
			"give another one with --port; --port 0 takes one that is free",
		)
	}
	operator := cluster.OperatorNamespace(o.operatorNamespace)
	address, ticket := listener.Addr().String(), rand.Text()
	_, port, _ := net.SplitHostPort(address)
	server := dashboard.NewHTTP(dashboard.New(dashboard.Options{
		Mode: dashboard.ModeLocal, Cluster: config, Hosts: []string{address, "localhost:" + port}, Ticket: ticket,
		Namespace: o.namespace, OperatorNamespace: operator, Version: o.Version, Scripts: o.Scripts, Files: files,
		Now: o.Now, Log: logr.Discard(),
	}).Handler())
	o.reportAway(ctx, config)
	fmt.Fprintf(o.Out, "http://%s/?token=%s\n", address, ticket)
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// page returns the files of the page. Without them, the browser would show an error only.
func (o *options) page() (fs.FS, error) {
	files, err := o.files()
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return nil, terminal.Fail(
			codes.PageMissing,
			errors.New("this program was built without the page: a Go build alone does not make it"),
			"use the program of a release, or build it in a clone of the repository, with Node 20: make web build",
		)
	}
	return files, nil
}

// maxAsking bounds the question whether the API server is there: a page without it is of use once it is back.
const maxAsking = 3 * time.Second

// reportAway says that the API server does not answer: the page shows nothing until it does.
func (o *options) reportAway(ctx context.Context, config *rest.Config) {
	asking, cancel := context.WithTimeout(ctx, maxAsking)
	defer cancel()
	api, err := cluster.New(o.Session, config)
	if err == nil {
		_, err = cluster.Send(asking, api.Raw.Get().AbsPath("/version"))
	}
	var answered apierrors.APIStatus
	if err != nil && !errors.As(err, &answered) {
		o.Note("the API server does not answer, and the page shows nothing until it does: %s", terminal.OneLine(err.Error()))
	}
}
