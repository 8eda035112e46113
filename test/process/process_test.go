// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package process tries the manager as what it is, a process of its own, on a real API server: how fast it is with many
// Cleaners, how it stops, and how one takes over from another.
package process

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/test/testenv"
)

const patience = 90 * time.Second

var (
	env    *testenv.Env
	binary string
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kubecleaner-process-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "manager")
	build := exec.Command("go", "build", "-trimpath", "-o", dir+"/", "../../cmd/manager", "../../cmd/script-runner")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as in the image
	if output, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the manager: %v\n%s", err, output)
		os.Exit(1)
	}
	ctrl.SetLogger(logr.Discard())
	code := testenv.Main(m, &env, testenv.Options{})
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// manager is a running manager.
type manager struct {
	cmd    *exec.Cmd
	health string
	log    *logBuffer
	exited chan error
}

// operatorNamespace is where the managers keep what they write down.
const operatorNamespace = "default"

// startManager starts a manager and waits until it is ready. It is ended with the test.
func startManager(t *testing.T, args ...string) *manager {
	t.Helper()
	m := launch(t, env.Kubeconfig, args...)
	eventually(t, "the manager is ready", func(context.Context) (bool, error) { return m.probe("/readyz") == http.StatusOK, nil })
	return m
}

// launch starts a manager that reaches the API server by a kubeconfig. It is ended with the test.
func launch(t *testing.T, kubeconfig string, args ...string) *manager {
	t.Helper()
	health := freeAddress(t)
	variables := []string{"KUBECONFIG=" + kubeconfig, "NAMESPACE=" + operatorNamespace, "HOME=" + t.TempDir()}
	for _, variable := range os.Environ() {
		if strings.HasPrefix(variable, "OTEL_") {
			variables = append(variables, variable)
		}
	}
	m := begin(t, variables, append([]string{"--health-addr=" + health, "--diagnostics-address=0"}, args...)...)
	m.health = health
	return m
}

// begin starts the program. It is ended with the test.
func begin(t *testing.T, variables []string, args ...string) *manager {
	t.Helper()
	m := &manager{log: &logBuffer{}, exited: make(chan error, 1)}
	m.cmd = exec.Command(binary, args...)
	m.cmd.Env, m.cmd.Stdout, m.cmd.Stderr = variables, m.log, m.log
	must(t, m.cmd.Start())
	go func() {
		m.exited <- m.cmd.Wait()
		close(m.exited)
	}()
	t.Cleanup(func() {
		_ = m.cmd.Process.Signal(syscall.SIGTERM) // releases the lease, for the next test's manager
		select {
		case <-m.exited:
		case <-time.After(patience):
			_ = m.cmd.Process.Kill()
		}
		if text := m.log.tail(8000); t.Failed() && text != "" {
			t.Logf("log of the manager:\n%s", text)
		}
	})
	return m
}

func (m *manager) probe(path string) int {
	response, err := http.Get("http://" + m.health + path)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// stop sends SIGTERM and waits for the end.
func (m *manager) stop(t *testing.T) {
	t.Helper()
	must(t, m.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-m.exited:
		must(t, err)
	case <-time.After(patience):
		t.Fatal("the manager did not stop")
	}
}

func newClient(t *testing.T) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	must(t, clientgoscheme.AddToScheme(scheme))
	must(t, v1alpha1.AddToScheme(scheme))
	c, err := client.NewWithWatch(env.Config, client.Options{Scheme: scheme})
	must(t, err)
	return c
}

// newNamespace creates a namespace with n ConfigMaps.
func newNamespace(t *testing.T, c client.Client, name string, n int) {
	t.Helper()
	must(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	for i := range n {
		must(t, c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: fmt.Sprintf("victim-%03d", i)}}))
	}
}

func eventually(t *testing.T, what string, condition wait.ConditionWithContextFunc) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true, condition); err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := testenv.FreeAddress(t.Context())
	must(t, err)
	return address
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// logBuffer keeps what a process prints.
type logBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.Write(p)
}

// reset forgets what was printed.
func (l *logBuffer) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buffer = bytes.Buffer{}
}

func (l *logBuffer) tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.buffer.String()
	return text[max(0, len(text)-n):]
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
