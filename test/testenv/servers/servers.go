// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package servers starts a mail server and an S3 server on loopback for tests. They are the program of the module
// test/servers, so that what they need is never in the operator's go.mod. Go builds it once and caches it.
package servers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// program is the path of the program in Go's cache.
var program = sync.OnceValues(func() (string, error) {
	ctx := context.Background()
	main, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("looking for go.mod: %w", err)
	}
	dir := filepath.Join(filepath.Dir(string(main)), "test", "servers")
	if _, err := os.ReadDir(dir); err != nil { // tells go test's cache that results depend on it
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", "-n", "servers") // which builds it, and prints where it is
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	path, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = fmt.Errorf("%w\n%s", err, failed.Stderr)
		}
		return "", fmt.Errorf("building test/servers: %w", err)
	}
	return strings.TrimSpace(string(path)), nil
})

// start starts a server until the test ends, and returns its address.
func start(t *testing.T, server string, settings any) string {
	t.Helper()
	path, err := program()
	must(t, err)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), path, server) // functions of Cleanup may need it
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	must(t, err)
	output, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { // it ends when its input does, also when this process is killed
		if err := errors.Join(input.Close(), cmd.Wait()); err != nil {
			t.Errorf("the %s server: %v", server, err)
		}
	})
	must(t, json.NewEncoder(input).Encode(settings))
	address, err := bufio.NewReader(output).ReadString('\n')
	must(t, err)
	return strings.TrimSpace(address)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
