// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/kubecleaner/kubecleaner/test/testenv"
)

// managerPatience is how long a manager has to look at all Cleaners, or to stop.
const managerPatience = 5 * time.Minute

// managed is a manager, as a process of its own, with default flags.
type managed struct {
	cmd     *exec.Cmd
	metrics string
	started time.Time
	log     *os.File
}

// buildManager builds it as the image has it.
func buildManager(ctx context.Context, dir string) (string, error) {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", dir+"/",
		"github.com/kubecleaner/kubecleaner/cmd/manager", "github.com/kubecleaner/kubecleaner/cmd/script-runner")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the manager: %w\n%s", err, output)
	}
	return filepath.Join(dir, "manager"), nil
}

func startManager(ctx context.Context, binary string, env *testenv.Env) (*managed, error) {
	address, err := testenv.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	m := &managed{metrics: "http://" + address + "/metrics"}
	if m.log, err = os.Create(filepath.Join(env.Dir, "manager.log")); err != nil {
		return nil, err
	}
	m.cmd = exec.CommandContext(
		ctx,
		binary,
		"--health-addr=127.0.0.1:0",
		"--insecure-diagnostics",
		"--diagnostics-address="+address,
	)
	m.cmd.Env = []string{"KUBECONFIG=" + env.Kubeconfig, "NAMESPACE=default", "HOME=" + env.Dir}
	m.cmd.Stdout, m.cmd.Stderr = m.log, m.log
	m.started = time.Now()
	return m, m.cmd.Start()
}

// stop sends SIGTERM, so that the lease is released, and waits for the end.
func (m *managed) stop() error {
	_ = m.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(managerPatience, func() { _ = m.cmd.Process.Kill() })
	defer kill.Stop()
	err := m.cmd.Wait()
	return errors.Join(err, m.log.Close())
}

// reconciled waits until so many Cleaners were reconciled, and returns how long that took from the start of the
// process.
func (m *managed) reconciled(ctx context.Context, n int) (time.Duration, error) {
	for time.Since(m.started) < managerPatience {
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return 0, err
		}
		text, err := m.read(ctx)
		if err != nil {
			continue // it has not come so far
		}
		if reconciles(text) >= n {
			return time.Since(m.started), nil
		}
	}
	return 0, fmt.Errorf("after %s the manager has not reconciled %d Cleaners:\n%s", managerPatience, n, m.logged())
}

// logged is the end of its log.
func (m *managed) logged() []byte {
	text, _ := os.ReadFile(m.log.Name())
	return text[max(0, len(text)-4000):]
}

// read reads the metrics.
func (m *managed) read(ctx context.Context) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.metrics, http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// reconciles counts the Cleaners that were reconciled, by a metric that each gets at its end.
func reconciles(metrics string) int {
	return strings.Count(metrics, "\nkubecleaner_next_run_timestamp_seconds{")
}
