// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package terminal is what every command needs to talk to people: streams through which nothing passes that a terminal
// obeys, colours, tables, words, progress, and errors with a code and a way out. It knows no cluster and no Cleaners.
package terminal

import (
	"net/http"
	"time"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/expr/sandbox"
)

// Program is how users call the program.
const Program = "kubectl cleaner"

// Docs is where people read the pages of docs/, who have the plugin and not the repository.
const Docs = "https://github.com/kubecleaner/kubecleaner/blob/main/docs/"

// Options are what the commands need from outside.
type Options struct {
	// Version is the program's.
	Version string
	// Scripts says how the processes that run scripts are started.
	Scripts sandbox.Config
	// Cluster is how to reach the cluster, and as whom. Nil means that the kubeconfig and the flags say it.
	Cluster *rest.Config
	// Now is the time of day.
	Now func() time.Time
	// Clock measures waiting. Nil is the real one.
	Clock clock.WithTicker
	// HTTP reads files from the web. Nil is a plain client.
	HTTP *http.Client
	// Getenv reads the environment.
	Getenv func(string) string
}

// Session is one call of the program: what all commands have in common.
type Session struct {
	genericiooptions.IOStreams
	Options
	// Color says when to use colours: auto, always or never.
	Color string

	out, errOut *output
}

// New wraps the streams so that nothing passes which a terminal obeys.
func New(streams genericiooptions.IOStreams, options Options) *Session {
	out, errOut := newOutputs(streams.Out, streams.ErrOut)
	streams.Out, streams.ErrOut = out, errOut
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	options.Scripts.Clock = options.Clock
	return &Session{IOStreams: streams, Options: options, out: out, errOut: errOut}
}

// Width is how many columns the terminal of the standard output has, or 0 when it is no terminal.
func (s *Session) Width() int {
	if file, ok := fileOf(s.Out); ok {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil {
			return columns
		}
	}
	return 0
}

// WriteError is the first error of writing to the standard output.
func (s *Session) WriteError() error { return s.out.failed() }
