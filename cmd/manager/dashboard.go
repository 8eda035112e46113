// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/net/netutil"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"

	"github.com/kubecleaner/kubecleaner/pkg/dashboard"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
	"github.com/kubecleaner/kubecleaner/web"
)

const (
	// pageConnections is how many connections the page's server holds. A browser needs one.
	pageConnections = 512
	// pageScriptMemory is how much memory the scripts of a preview may use, in bytes. Two previews are worked on at once.
	pageScriptMemory = 128 << 20
	// pageEndsIn is how long requests may go on when the server ends. The Pod's grace period is longer.
	pageEndsIn = 20 * time.Second
)

// startDashboard is the command dashboard: the page for the people of a cluster. It has no rights of its own: all that
// it knows of the cluster is the API server's address, and whom to take for the API server.
func startDashboard(ctx context.Context, args []string, getenv func(string) string) int {
	o, _, err := parseDashboard(args, getenv("NAMESPACE"), os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		return 2
	}
	logger := setUpLogs(o.logLevel, o.logFormat)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.bindAddress)
	if err == nil {
		err = o.serve(ctx, listener, getenv, logger)
	}
	if err != nil {
		logger.Error(err, "Could not go on")
		return 1
	}
	logger.Info("Stopped")
	return 0
}

// serve answers until the context ends.
func (o *dashboardOptions) serve(ctx context.Context, listener net.Listener, getenv func(string) string,
	logger logr.Logger,
) error {
	server, err := o.server(ctx, getenv, logger)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	go func() { _ = newSlimming(slim).Start(ctx) }()
	ended := make(chan error, 1)
	go func() {
		listener := netutil.LimitListener(listener, pageConnections)
		if server.TLSConfig == nil {
			ended <- server.Serve(listener)
			return
		}
		ended <- server.ServeTLS(listener, "", "")
	}()
	logger.Info("Serving the dashboard", "version", versionString(), "address", listener.Addr().String(),
		"hosts", o.hosts.String(), "tls", server.TLSConfig != nil, "readOnly", o.readOnly)
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), pageEndsIn)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		logger.Info("Requests were cut off", "error", err.Error())
		return server.Close()
	}
	return nil
}

// server is what answers. With a certificate, it has a TLSConfig.
func (o *dashboardOptions) server(ctx context.Context, getenv func(string) string, logger logr.Logger) (*http.Server,
	error,
) {
	apiServer, err := o.apiServer(getenv)
	if err != nil {
		return nil, err
	}
	files, err := web.Files()
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(files, "index.html"); err != nil {
		logger.Info("The dashboard's web page is not in this program, which was built without Node: only the API works. Build it with make web")
	}
	server := dashboard.NewHTTP(dashboard.New(dashboard.Options{
		Mode: dashboard.ModeToken, Cluster: apiServer, Hosts: o.hosts.list(), OperatorNamespace: o.operatorNamespace,
		ReadOnly: o.readOnly, Version: versionString(), Files: files, Ending: ctx.Done(), Now: time.Now, Log: logger,
		Scripts: sandbox.Config{Command: sandbox.Runner(), MaxMemory: pageScriptMemory},
	}).Handler())
	// What clients do wrong, such as a connection without TLS, is of no interest to the operator's log.
	server.ErrorLog = slog.NewLogLogger(logr.ToSlogHandler(logger), slog.LevelDebug)
	if o.insecureBehindProxy {
		return server, nil
	}
	watcher, err := certwatcher.New(o.tlsCertFile, o.tlsPrivateKeyFile)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate (--tls-cert-file, --tls-private-key-file): %w", err)
	}
	go func() {
		if err := watcher.Start(ctx); err != nil {
			logger.Error(err, "Could not watch the certificate: a new one is not used before a restart")
		}
	}()
	server.TLSConfig = &tls.Config{GetCertificate: watcher.GetCertificate, MinVersion: tls.VersionTLS12}
	return server, nil
}

// apiServer is the address of the API server as Pods get it, and the file with its authorities. There is no token.
func (o *dashboardOptions) apiServer(getenv func(string) string) (*rest.Config, error) {
	host, port := getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, errors.New("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this command is for a Pod; on your computer, use kubectl cleaner dashboard")
	}
	if _, err := cert.NewPool(o.kubernetesCAFile); err != nil {
		return nil, fmt.Errorf("reading the API server's authorities (--kubernetes-ca-file): %w", err)
	}
	return &rest.Config{
		Host:            "https://" + net.JoinHostPort(host, port),
		TLSClientConfig: rest.TLSClientConfig{CAFile: o.kubernetesCAFile},
	}, nil
}
