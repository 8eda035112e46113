package testenv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// reapScript waits until its input ends, which it does when the parent closes it or dies in whatever way, then ends
// every process that wrote its number into the directory, and removes the directory.
const reapScript = `cat >/dev/null
for f in "$1"/*.pid; do [ -e "$f" ] && kill -9 "$(cat "$f")"; done 2>/dev/null
rm -rf "$1" || { sleep 1; rm -rf "$1"; }`

// wrapScript writes the process's number where the reaper looks. envtest runs the binaries once more with --help to
// learn which flags old versions had; ours are new, so the answer is empty.
const wrapScript = `#!/bin/sh
[ "$1" != --help ] || exit 0
echo $$ >'%[1]s/%[3]s.pid'
exec '%[2]s/%[3]s' "$@" >>'%[1]s/%[3]s.log' 2>&1
`

type reaper struct {
	cmd   *exec.Cmd
	input io.Closer
}

func startReaper(dir string) (*reaper, error) {
	cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", reapScript, "reaper", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the parent: the reaper must see its end
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the reaper: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the reaper: %w", err)
	}
	return &reaper{cmd: cmd, input: input}, nil
}

func (r *reaper) reap() error {
	if err := errors.Join(r.input.Close(), r.cmd.Wait()); err != nil {
		return fmt.Errorf("ending the control plane: %w", err)
	}
	return nil
}

// wrap writes a script that starts a binary under the reaper's eyes, and returns its path.
func wrap(dir, assets, name string) (string, error) {
	path := filepath.Join(dir, name+".sh")
	return path, os.WriteFile(path, fmt.Appendf(nil, wrapScript, dir, assets, name), 0o700)
}

// spawn starts a process that only the reaper ends.
func spawn(path string, args ...string) error {
	cmd := exec.CommandContext(context.Background(), path, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", filepath.Base(path), err)
	}
	go func() { _ = cmd.Wait() }() // it is killed, which Wait reports as an error
	return nil
}

// logTails returns the end of each process's log: the only thing that shows why one did not start.
func logTails(dir string) []byte {
	var out bytes.Buffer
	logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	for _, path := range logs {
		text, _ := os.ReadFile(path)
		fmt.Fprintf(&out, "--- %s\n%s\n", filepath.Base(path), text[max(0, len(text)-2000):])
	}
	return out.Bytes()
}

// findAssets returns the directory of the binaries: KUBEBUILDER_ASSETS if it is complete, else what build.sh made.
func findAssets(ctx context.Context) (string, error) {
	root, err := repositoryRoot()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(root, buildScript), "--lookup")
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf(
			"%s: run `make test`, which builds it, or `make controlplane` once",
			bytes.TrimSpace(complaint.Bytes()),
		)
	}
	return string(bytes.TrimSpace(out)), nil
}

const buildScript = "test/controlplane/build.sh"

func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for start := dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, buildScript)); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside the KubeCleaner repository", start)
		}
	}
}
