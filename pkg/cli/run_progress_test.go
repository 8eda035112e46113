// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// screen tells when a text has been written to it.
type screen struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wants string
	shown chan struct{}
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.text.Write(p)
	if s.wants != "" && strings.Contains(s.text.String(), s.wants) {
		s.wants = ""
		close(s.shown)
	}
	return n, err
}

// inProgress writes a record that says how far its run has come.
func inProgress(o *operator) {
	record := &v1alpha1.CleanerRun{ObjectMeta: metav1.ObjectMeta{Name: o.runName()}, Spec: v1alpha1.CleanerRunSpec{
		Cleaner: o.cleaner.Name, CleanerUID: o.cleaner.UID, NominalTime: nominal, Trigger: v1alpha1.TriggerManual, Action: v1alpha1.ActionDelete,
	}}
	must(o.T, o.Create(context.Background(), record))
	o.Cleanup(func() { _ = o.Delete(context.Background(), record) })
	record.Status.Phase = v1alpha1.RunExecuting
	record.Status.Progress = &v1alpha1.RunProgress{Phase: v1alpha1.ProgressActing, Done: 120, Total: ptr.To(int64(300)), Rate: 16, UpdateTime: nominal}
	must(o.T, o.Status().Update(context.Background(), record))
}

// The progress of the record is shown while the run goes on, and who stops waiting is told how to stop the run.
func TestRunShowsProgress(t *testing.T) {
	s := newSite(t)
	c := s.cleaner()
	ctx, cancel := context.WithCancel(t.Context())
	errOut := &screen{wants: "deleting · 120 of 300 objects · 16/s · 11s left\n", shown: make(chan struct{})}
	s.answer(c, func(o *operator) {
		o.status(func(c *v1alpha1.Cleaner) {
			taken(c, o.runName())
		})
	}, inProgress)
	go func() {
		defer cancel() // Ctrl-C
		select {
		case <-errOut.shown:
		case <-time.After(2 * time.Minute):
		}
	}()
	options := terminal.Options{Version: "v1.2.3", Now: time.Now, Clock: stepping(t, 20*time.Millisecond), Getenv: func(string) string { return "" }}
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &bytes.Buffer{}, ErrOut: errOut}
	code := Execute(ctx, streams, options, []string{"run", c.Name, "--yes", "--wait", "--progress=plain", "--kubeconfig", s.kubeconfig})
	got := s.plain(s.short(errOut.text.String()))
	want := "note: the run unused-NS-SECONDS goes on; to follow it: kubectl get cleanerrun unused-NS-SECONDS -o wide --watch; to stop it before its next object: kubectl cleaner cancel unused-NS-SECONDS\nerror: interrupted\n"
	if code != codes.ExitInterrupted || !strings.Contains(got, "deleting · 120 of 300 objects") || !strings.HasSuffix(got, want) {
		t.Errorf("exit code %d, want %q at the end of:\n%s", code, want, got)
	}
}
