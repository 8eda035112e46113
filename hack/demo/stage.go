// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/testenv"
)

// namespace is the operator's.
const namespace = "projectsveltos"

// stage is where the demo plays: a control plane, a manager, and the administrator's kubectl.
type stage struct {
	t       *terminal
	env     *testenv.Env
	client  client.Client
	manager *manager
	// pages are empty where the page is not built.
	pages []*page
	// managerFlags are the user's.
	managerFlags []string
	// runs are the names of the CleanerRuns that were asked for, by Cleaner.
	runs map[string]string
	// before is how the objects were before any Cleaner ran.
	before snapshot
}

// setUp starts the control plane, installs KubeCleaner and starts the manager.
func (s *stage) setUp(ctx context.Context) error {
	s.t.heading("A cluster to play in")
	err := s.t.progress("Starting etcd, kube-apiserver and kube-controller-manager on this machine", func() (err error) {
		// The CRDs are installed with the rest, as a user would.
		s.env, err = testenv.Start(ctx, testenv.Options{ControllerManager: true, CRDs: []string{}})
		return err
	})
	if err != nil {
		return err
	}
	return s.install(ctx)
}

func (s *stage) install(ctx context.Context) error {
	scheme := runtime.NewScheme()
	err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
	if err != nil {
		return err
	}
	if s.client, err = client.New(s.env.Config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	s.t.heading("KubeCleaner: its API, and what it may do")
	if err := s.kubectl(ctx, "apply -k hack/demo"); err != nil {
		return err
	}
	if _, err := s.quietly(ctx, "wait --for=condition=Established --timeout=60s crd --all"); err != nil {
		return err
	}
	s.t.say("")
	s.t.say(
		"There are no nodes here, so no Pod runs. The manager runs as a process of this machine, with the token of its",
	)
	s.t.say("ServiceAccount: it may do no more than in a cluster.")
	err = s.t.progress("Building bin/manager and bin/kubectl-cleaner", func() error { return build(ctx) })
	if err == nil {
		err = s.t.progress("Starting it", func() error { return s.startManager(ctx) })
	}
	if err != nil {
		return err
	}
	s.t.say("Its log: " + s.manager.logPath)
	s.t.say("Its metrics: " + s.manager.metrics)
	return nil
}

// tearDown ends every process and removes every file.
func (s *stage) tearDown() error {
	if s.env == nil {
		return nil
	}
	for _, p := range s.pages {
		p.stop()
	}
	return errors.Join(s.manager.stop(), s.env.Stop())
}

// kubectl shows a command line, runs it, and shows what it printed.
func (s *stage) kubectl(ctx context.Context, line string) error {
	s.t.command("kubectl " + line)
	out, err := s.quietly(ctx, line)
	s.t.output(out)
	return err
}

// quietly runs kubectl as the administrator. Quotes in the line are single ones, as a shell would read them.
func (s *stage) quietly(ctx context.Context, line string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(s.env.Assets, "kubectl"), split(line)...)
	plugins, err := filepath.Abs("bin") // where kubectl finds kubectl-cleaner
	if err != nil {
		return "", err
	}
	cmd.Env = append(
		os.Environ(),
		"KUBECONFIG="+s.env.Kubeconfig,
		"PATH="+plugins+string(os.PathListSeparator)+os.Getenv("PATH"),
	)
	cmd.SysProcAttr = notForCtrlC()
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err = cmd.Run()
	if ctx.Err() != nil {
		return out.String(), ctx.Err()
	}
	if err != nil {
		return out.String(), fmt.Errorf("kubectl %s: %w: %s", line, err, bytes.TrimSpace(complaint.Bytes()))
	}
	return out.String() + complaint.String(), nil // a warning is a part of what one sees
}

// split cuts a line at its spaces, but not within single quotes.
func split(line string) []string {
	var words []string
	var word strings.Builder
	quoted := false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted = !quoted
		case r == ' ' && !quoted:
			words = append(words, word.String())
			word.Reset()
		default:
			word.WriteRune(r)
		}
	}
	return append(words, word.String())
}
