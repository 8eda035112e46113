// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// The demo shows the main job on a control plane of its own, as a user of the plugin sees it: scan, preview, run and
// restore, with one Cleaner that scans, one that deletes, one that changes and one that waits for a person, carried out
// by the real manager with the rights it is shipped with. It stays up until Ctrl-C; with ONESHOT=1 it checks every
// outcome and ends by itself.
// Arguments are flags for the manager: demo -- --log-level=debug.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	oneshot := flag.Bool("oneshot", isSet(os.Getenv("ONESHOT")), "check every outcome, and end (also: ONESHOT=1)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the demo at once
	ctrl.SetLogger(logr.Discard())
	err := demo(ctx, *oneshot, flag.Args(), newTerminal(os.Stdout))
	switch {
	case err == nil:
		return
	case errors.Is(err, context.Canceled):
		os.Exit(130)
	}
	fmt.Fprintf(os.Stderr, "\nThe demo failed: %v\n", err)
	os.Exit(1)
}

func isSet(value string) bool { return value != "" && value != "0" && value != "false" }

// demo plays everything, and clears away after itself whatever happens.
func demo(ctx context.Context, oneshot bool, managerFlags []string, t *terminal) error {
	if _, err := os.Stat(filepath.Join("config", "samples")); err != nil {
		return errors.New("config/samples is not here: run `make demo` at the root of the repository")
	}
	s := &stage{t: t, managerFlags: managerFlags, runs: map[string]string{}}
	err := s.perform(ctx, oneshot)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = ctx.Err() // whatever Ctrl-C cut short
	default:
		t.say("\nIt failed. The end of the manager's log:")
		t.output(s.manager.logTail())
	}
	t.say("")
	return errors.Join(err, t.progress("Stopping the manager and the control plane", s.tearDown))
}

func (s *stage) perform(ctx context.Context, oneshot bool) error {
	s.t.title("KubeCleaner: find what is stale in a cluster; report it, delete it or change it, on a schedule.")
	for _, part := range []func(context.Context) error{s.setUp, s.play, s.startPages} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	if oneshot {
		return errors.Join(s.check(ctx), s.checkPages(ctx))
	}
	s.lookAround()
	<-ctx.Done()
	return nil
}

// lookAround says what to try while everything is up.
func (s *stage) lookAround() {
	s.t.heading("Look around in your browser")
	if len(s.pages) == 0 {
		s.t.say("The page is not built: end the demo, and call make web demo. It needs Node 20.")
	} else {
		s.t.say("Each address can be opened once, all of them in one browser:")
	}
	for _, p := range s.pages {
		s.t.say(p.address + "    as " + p.person)
	}
	s.t.heading("Look around, in another terminal")
	s.t.command("export KUBECONFIG=" + s.env.Kubeconfig)
	if _, err := exec.LookPath("kubectl"); err != nil {
		s.t.command("export PATH=" + s.env.Assets + ":$PATH    # kubectl")
	}
	s.t.command("export PATH=$PWD/bin:$PATH    # kubectl cleaner")
	if len(s.pages) > 0 {
		s.t.command("kubectl cleaner dashboard --as ann    # the page again, as ann; without --as, as you")
	}
	for _, line := range []string{
		"kubectl get cleaners",
		"kubectl cleaner runs",
		"kubectl cleaner scan -A",
		"kubectl cleaner why ConfigMap/shop/old-banner",
		"kubectl explain cleaner.spec.resourcePolicySet",
		"kubectl annotate configmap old-banner -n shop cleaner/ttl=1s    # then let it be deleted, and bring it back:",
		"kubectl cleaner run expired-configmaps --wait",
		"kubectl cleaner restore ConfigMap/shop/old-banner",
		"curl -s " + s.manager.metrics + " | grep ^kubecleaner_",
		"tail -f " + s.manager.logPath,
	} {
		s.t.command(line)
	}
	s.t.say("")
	s.t.say("All of it stays up until you press Ctrl-C, and is then gone.")
}
