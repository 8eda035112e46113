// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	startTimeout = time.Minute
	stopTimeout  = 10 * time.Second
	binary       = "bin/manager"
)

// manager is the operator, as a process.
type manager struct {
	logPath string
	// metrics is the address of its metrics.
	metrics string
	cmd     *exec.Cmd
	ended   chan struct{} // closed when the process is gone
	result  error         // how it ended; set before ended is closed
}

// build uses the flags that the demo itself is built with, so that all share what was compiled already.
func build(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", "bin/", "./cmd/manager", "./cmd/kubectl-cleaner")
	cmd.SysProcAttr = notForCtrlC()
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as in the image
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("building the manager and the plugin: %w\n%s", err, out)
	}
	return nil
}

// startManager starts the manager as its ServiceAccount, and returns when it is ready.
func (s *stage) startManager(ctx context.Context) error {
	token, err := s.quietly(ctx, "create token kubecleaner-manager --duration=24h --namespace="+namespace)
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(s.env.Dir, "manager.kubeconfig")
	if err := s.writeKubeconfig(kubeconfig, strings.TrimSpace(token)); err != nil {
		return err
	}
	health, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	metrics, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	m := &manager{
		metrics: "http://" + metrics + "/metrics",
		logPath: filepath.Join(s.env.Dir, "manager.log"),
		ended:   make(chan struct{}),
	}
	log, err := os.Create(m.logPath)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	// It outlives the context, which Ctrl-C ends: stop lets it finish.
	flags := append(
		[]string{
			"--log-format=text",
			"--health-addr=" + health,
			"--diagnostics-address=" + metrics,
			"--insecure-diagnostics",
		},
		s.managerFlags...)
	m.cmd = exec.CommandContext(context.WithoutCancel(ctx), binary, flags...)
	m.cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "NAMESPACE="+namespace)
	m.cmd.Stdout, m.cmd.Stderr = log, log
	m.cmd.SysProcAttr = notForCtrlC()
	if err := m.cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", binary, err)
	}
	s.manager = m
	go func() { m.result = m.cmd.Wait(); close(m.ended) }()
	// The control plane's own watchdog ends what is named in its directory, should the demo be killed.
	pid := filepath.Join(s.env.Dir, "manager.pid")
	if err := os.WriteFile(pid, []byte(strconv.Itoa(m.cmd.Process.Pid)+"\n"), 0o600); err != nil {
		return err
	}
	return m.waitReady(ctx, "http://"+health+"/readyz")
}

func (s *stage) writeKubeconfig(path, token string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["demo"] = &clientcmdapi.Cluster{
		Server:                   s.env.Config.Host,
		CertificateAuthorityData: s.env.Config.CAData,
	}
	if !strings.Contains(config.Clusters["demo"].Server, "://") {
		config.Clusters["demo"].Server = "https://" + s.env.Config.Host
	}
	config.AuthInfos["manager"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["demo"] = &clientcmdapi.Context{Cluster: "demo", AuthInfo: "manager"}
	config.CurrentContext = "demo"
	return clientcmd.WriteToFile(*config, path)
}

// notForCtrlC keeps a terminal's Ctrl-C from a child: the demo gets it, and ends its children in its own order.
func notForCtrlC() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// freeAddress is a loopback address that nothing listens on.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func (m *manager) waitReady(ctx context.Context, url string) error {
	err := wait.PollUntilContextTimeout(
		ctx,
		100*time.Millisecond,
		startTimeout,
		true,
		func(ctx context.Context) (bool, error) {
			select {
			case <-m.ended:
				return false, fmt.Errorf("it ended: %w", errors.Join(m.result, errors.New(m.logTail())))
			default:
			}
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
			if err != nil {
				return false, err
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				return false, nil //nolint:nilerr // it does not listen yet
			}
			return response.StatusCode == http.StatusOK, response.Body.Close()
		},
	)
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", binary, err)
	}
	return nil
}

// stop lets the manager finish what it has in hand. It is an error when it does not end by itself, or not well.
func (m *manager) stop() error {
	if m == nil {
		return nil
	}
	select {
	case <-m.ended:
		return errors.Join(fmt.Errorf("%s had ended before it was told to", binary), m.result)
	default:
	}
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-m.ended:
		return m.result
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("%s did not end within %s", binary, stopTimeout), m.cmd.Process.Kill())
	}
}

// logTail is the end of the log.
func (m *manager) logTail() string {
	if m == nil {
		return ""
	}
	text, err := os.ReadFile(m.logPath)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}
