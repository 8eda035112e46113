// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// The manager is the KubeCleaner operator: flags, wiring, start. Only here is the environment read, and only here does
// the process exit.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/go-logr/logr"
	_ "golang.org/x/crypto/x509roots/fallback" // the image has no file of authorities: without these, nothing could be sent by HTTPS
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

// version is set by the linker.
var version = ""

func main() {
	sandbox.Main() // a child that runs scripts goes no further
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(growthPercent)
	}
	ctx, args := ctrl.SetupSignalHandler(), os.Args[1:]
	if len(args) > 0 && args[0] == "dashboard" {
		os.Exit(startDashboard(ctx, args[1:], os.Getenv))
	}
	os.Exit(start(ctx, args))
}

func start(ctx context.Context, args []string) int {
	options, _, err := parseOptions(args, os.Getenv("NAMESPACE"), os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		return 2
	case options.version:
		fmt.Println("kubecleaner", versionString())
		return 0
	}
	logger := setUpLogs(options.logLevel, options.logFormat)
	for _, name := range options.ignored {
		logger.Info("Ignored a flag of k8s-cleaner that does nothing here", "flag", name)
	}
	for _, name := range options.deprecated {
		logger.Info("A flag has another name here: --max-parallel-runs; the name of k8s-cleaner works for now", "flag", name)
	}
	restConfig, err := config.GetConfig()
	if err != nil {
		logger.Error(err, "Could not find a cluster: set KUBECONFIG, or run in a Pod")
		return 1
	}
	memory := divide(options.maxParallelRuns, int64(options.maxScriptMemory))
	scripts := sandbox.New(sandbox.Config{Command: sandbox.Runner(), Clock: clock.RealClock{}, MaxMemory: memory.most()})
	defer scripts.Close()
	stopTracing, err := startTracing(ctx, options, logger)
	if err != nil {
		logger.Error(err, "Could not start")
		return 1
	}
	defer stopTracing()
	manager, err := newManager(ctx, restConfig, options, scripts, memory)
	if err == nil {
		logger.Info("Starting", "version", versionString(), "namespace", options.namespace, "dryRun", options.dryRun)
		err = manager.Start(ctx)
	}
	if err != nil {
		logger.Error(err, "Could not go on")
		return 1
	}
	logger.Info("Stopped")
	return 0
}

// setUpLogs returns the logger, with which the libraries log, too.
func setUpLogs(level, format string) logr.Logger {
	logger := newLogger(level, format)
	ctrl.SetLogger(logger)
	klog.SetLoggerWithOptions(logger, klog.ContextualLogger(true)) // else klog has levels of its own
	return logger
}

func newLogger(level, format string) logr.Logger {
	levels := map[string]slog.Level{"error": slog.LevelError, "info": slog.LevelInfo, "debug": slog.LevelDebug}
	handlerOptions := &slog.HandlerOptions{Level: levels[level]}
	if format == "text" {
		return logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, handlerOptions))
	}
	return logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, handlerOptions))
}

// versionString is what the linker set or, in a build by go install, the module's version.
func versionString() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
