// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/kubecleaner/kubecleaner/test/testenv"
)

// pageViews are what a browser asks for, and in how many milliseconds it must have it. RUN stands for the large run.
var pageViews = []struct {
	what, path string
	target     time.Duration
}{
	{"first content of Overview: document, script, style and numbers", "/api/v1/summary", time.Second},
	{"the same once more", "/api/v1/summary", time.Second},
	{"the first 50 of the Cleaners", "/api/v1/cleaners?limit=50", time.Second},
	{"those with a word in their name, from the 4,000th on", "/api/v1/cleaners?limit=50&q=idle&offset=4000", time.Second},
	{"the large run", "/api/v1/runs/RUN", time.Second},
	{"its first 100 objects", "/api/v1/runs/RUN/outcomes?limit=100", 0},
	{"100 of its objects, from the 90,000th on", "/api/v1/runs/RUN/outcomes?limit=100&offset=90000", 0},
	{"its objects with a word in their name", "/api/v1/runs/RUN/outcomes?limit=100&q=config-99", 0},
}

// pageAssets finds the files that the document names.
var pageAssets = regexp.MustCompile(`(?:src|href)="(/assets/[^"]+)"`)

// pageServer is manager dashboard, as a process of its own, and who looks at it.
type pageServer struct {
	cmd    *exec.Cmd
	url    string
	token  string
	log    *os.File
	client *http.Client
}

func startPage(ctx context.Context, binary string, env *testenv.Env, token string) (*pageServer, error) {
	server, err := url.Parse(env.Config.Host)
	if err != nil {
		return nil, err
	}
	ca := filepath.Join(env.Dir, "page-ca.crt")
	if err := os.WriteFile(ca, env.Config.CAData, 0o600); err != nil {
		return nil, err
	}
	address, err := testenv.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	p := &pageServer{url: "http://" + address, token: token, client: &http.Client{Timeout: time.Minute}}
	if p.log, err = os.Create(filepath.Join(env.Dir, "page.log")); err != nil {
		return nil, err
	}
	p.cmd = exec.CommandContext(ctx, binary, "dashboard", "--bind-address="+address, "--hosts=127.0.0.1",
		"--kubernetes-ca-file="+ca, "--insecure-behind-proxy", "--operator-namespace="+operatorNamespace)
	p.cmd.Env = []string{
		"KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port(),
	}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for start := time.Now(); time.Since(start) < managerPatience; {
		if _, err = p.read(ctx, "/readyz"); err == nil {
			return p, nil
		}
		if errPause := pause(ctx, 100*time.Millisecond); errPause != nil {
			err = errPause
			break
		}
	}
	return nil, errors.Join(fmt.Errorf("the page does not answer: %w", err), p.stop())
}

func (p *pageServer) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	return errors.Join(p.cmd.Wait(), p.log.Close())
}

// read is what a browser gets.
func (p *pageServer) read(ctx context.Context, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, http.NoBody)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+p.token)
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	response, err := p.client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.400s", path, response.Status, text)
	}
	return string(text), err
}

// document reads what a browser needs before it can ask for numbers.
func (p *pageServer) document(ctx context.Context) error {
	text, err := p.read(ctx, "/")
	if err != nil {
		return err
	}
	assets := pageAssets.FindAllStringSubmatch(text, -1)
	if len(assets) == 0 {
		return fmt.Errorf("the document names no script: %.400s", text)
	}
	for _, asset := range assets {
		if _, err := p.read(ctx, asset[1]); err != nil {
			return err
		}
	}
	_, err = p.read(ctx, "/api/v1/config")
	return err
}

// look asks for each view, and says how long it took and how much memory the server had at most.
func (p *pageServer) look(ctx context.Context, run string) ([][]string, error) {
	rows := [][]string{{"what", "measured", "target", "KB", "peak MB (<= 128)"}}
	for i, view := range pageViews {
		start := time.Now()
		if i == 0 {
			if err := p.document(ctx); err != nil {
				return nil, err
			}
		}
		text, err := p.read(ctx, strings.Replace(view.path, "RUN", run, 1))
		if err != nil {
			return nil, err
		}
		took := time.Since(start)
		memory, err := memoryOf(p.cmd.Process.Pid)
		if err != nil {
			return nil, err
		}
		target := ""
		if view.target > 0 {
			target = fmt.Sprintf("<= %d ms", view.target.Milliseconds())
		}
		rows = append(rows, []string{
			view.what, fmt.Sprintf("%d ms", took.Milliseconds()), target, fmt.Sprint(len(text) / 1000),
			fmt.Sprintf("%.0f", megabytes(memory.peak)),
		})
	}
	return rows, nil
}
