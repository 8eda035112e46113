// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// page is kubectl cleaner dashboard, as a process, for one person.
type page struct {
	person string
	// address can be opened once.
	address string
	cmd     *exec.Cmd
}

// hasPage reports whether the plugin was built with its page, which needs Node.
func hasPage() bool {
	_, err := os.Stat(filepath.Join("web", "dist", "index.html"))
	return err == nil
}

// startPages serves the page to each person, if it is built.
func (s *stage) startPages(ctx context.Context) error {
	if !hasPage() {
		return nil
	}
	return errors.Join(
		s.startPage(ctx, "you, the administrator"),
		s.startPage(ctx, "ann, who may approve plans", "--as=ann"),
		s.startPage(ctx, "ben, who sees the namespace shop only", "--as=ben", "--namespace=shop"),
	)
}

func (s *stage) startPage(ctx context.Context, person string, flags ...string) error {
	cmd := exec.CommandContext(
		context.WithoutCancel(ctx),
		filepath.Join("bin", "kubectl-cleaner"),
		append([]string{"dashboard"}, flags...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.env.Kubeconfig)
	cmd.SysProcAttr = notForCtrlC()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the page: %w", err)
	}
	p := &page{person: person, cmd: cmd}
	s.pages = append(s.pages, p)
	// The control plane's own watchdog ends what is named in its directory, should the demo be killed.
	pid := filepath.Join(s.env.Dir, fmt.Sprintf("page-%d.pid", len(s.pages)))
	if err := os.WriteFile(pid, []byte(strconv.Itoa(cmd.Process.Pid)+"\n"), 0o600); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("starting the page: %w", err)
	}
	p.address = strings.TrimSpace(line)
	return nil
}

// stop ends the process.
func (p *page) stop() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// checkPages opens every page.
func (s *stage) checkPages(ctx context.Context) error {
	var errs []error
	for _, p := range s.pages {
		errs = append(errs, p.check(ctx))
	}
	return errors.Join(errs...)
}

// check opens the address as a browser does: it leads to the page, once.
func (p *page) check(ctx context.Context) error {
	for _, want := range []int{http.StatusSeeOther, http.StatusUnauthorized} {
		browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.address, http.NoBody)
		if err != nil {
			return err
		}
		response, err := browser.Do(request)
		if err != nil {
			return fmt.Errorf("opening the page: %w", err)
		}
		_ = response.Body.Close()
		if got := response.StatusCode; got != want {
			return fmt.Errorf("opening the page: the status is %d, want %d", got, want)
		}
	}
	return nil
}
