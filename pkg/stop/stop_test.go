// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package stop

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestReasonOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		annotations map[string]string
		want        string
	}{
		"none":             {nil, ""},
		"another":          {map[string]string{"cleaner/protect": "true"}, ""},
		"empty":            {map[string]string{"cleaner/stop": ""}, "all acting is stopped (no reason was given)"},
		"blank":            {map[string]string{"cleaner/stop": " \n\t"}, "all acting is stopped (no reason was given)"},
		"false is a value": {map[string]string{"cleaner/stop": "false"}, "all acting is stopped (false)"},
		"a reason":         {map[string]string{"cleaner/stop": "incident 7"}, "all acting is stopped (incident 7)"},
		"what is hostile":  {map[string]string{"cleaner/stop": "a\x1b[31m\nb\u202ec"}, "all acting is stopped (a [31m b c)"},
		"what is long":     {map[string]string{"cleaner/stop": strings.Repeat("x", 1<<16)}, "all acting is stopped (" + strings.Repeat("x", 253) + "…)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := reasonOf(&metav1.ObjectMeta{Annotations: test.annotations}); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestWhileActing: whoever acts is stopped before anybody can see the change, and so is whoever begins to act while acting is off or while
// nobody knows.
func TestWhileActing(t *testing.T) {
	t.Parallel()
	s := &Switch{Changes: make(chan struct{}, 1), asked: make(chan struct{}), fault: errors.New("not read yet"), acting: map[int]context.CancelCauseFunc{}}
	wantCause := func(ctx context.Context, want string) {
		t.Helper()
		got := ""
		if cause := context.Cause(ctx); cause != nil {
			got = cause.Error()
		}
		if got != want {
			t.Errorf("stopped by %q, want %q", got, want)
		}
	}
	begin := func() context.Context {
		ctx, end := s.WhileActing(t.Context())
		t.Cleanup(end)
		return ctx
	}
	wantCause(begin(), "not read yet")
	s.set("", nil)
	acts := begin()
	ended, end := s.WhileActing(t.Context())
	end()
	wantCause(acts, "")
	s.failed(errors.New("the watch broke")) // what is known holds
	wantCause(acts, "")
	s.set("stopped", nil)
	wantCause(acts, "stopped")
	wantCause(begin(), "stopped")
	if !errors.Is(context.Cause(ended), context.Canceled) {
		t.Errorf("what had ended was stopped by %v", context.Cause(ended))
	}
	s.set("", nil)
	acts = begin()
	wantCause(acts, "")
	s.set("", errors.New("it does not exist"))
	wantCause(acts, "it does not exist")
	s.failed(errors.New("forbidden"))
	if err := s.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("Wait returned %v", err)
	}
}
