// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// kubectl-cleaner is a plugin of kubectl: kubectl cleaner checks and tests Cleaners.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubecleaner/kubecleaner/pkg/cli"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

// version is set by the linker.
var version = ""

// growthPercent is by how much the heap grows before it is collected, as in the manager.
const growthPercent = 50

func main() {
	sandbox.Main() // a child that runs scripts goes no further
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(growthPercent)
	}
	os.Exit(start(os.Args[1:]))
}

func start(args []string) int {
	log.SetLogger(logr.Discard()) // libraries would print a stack trace else
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	return cli.Execute(ctx, streams, terminal.Options{Version: versionString(), Now: time.Now, Getenv: os.Getenv}, args)
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
