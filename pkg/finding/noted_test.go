// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// What is kept of commands is charged, and a long text is not kept.
func TestCommandsAreCharged(t *testing.T) {
	t.Parallel()
	n, want := newNotes(), 3*64+int64(len("kubectlscaleweb"))
	n.command([]string{"kubectl", "scale", "web", strings.Repeat("a", 300)})
	if n.bytes != want || len(n.commanded) != 3 {
		t.Errorf("%d bytes for %v", n.bytes, n.commanded)
	}
	if n.command([]string{"scale", "web"}); n.bytes != want {
		t.Errorf("what is known was charged again: %d bytes", n.bytes)
	}
}

// A container that is not looked at names no Job, however its text is written.
func TestMayWait(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`kubectl wait job/migrate`: true, `K8S-WAIT-FOR JOB migrate`: true, `\u006aob/migrate`: true, `j\u006fb`: true,
		`pod-wr -lapp=migrate`: true, `jo\nb`: false, `sh -c serve --listen=:8080`: false, ``: false,
	} {
		for _, container := range []string{
			`{"args":[%q]}`, `{"env":[{"name":"A","value":%q}]}`, `{"lifecycle":{"preStop":{"exec":{"command":[%q]}}}}`,
		} {
			c := object.JSON(strings.ReplaceAll(fmt.Sprintf(container, "TEXT"), "TEXT", text))
			n, o := newNotes(), &object.Parts{Object: object.Object{Namespace: "a"}}
			n.waitsFor(o, append(textsOf(c), envOf(c)...), variablesOf(c))
			if got := mayWait(c); got != want || len(n.waited) > 0 && !got {
				t.Errorf("%s: %t, want %t; noted: %v", c, got, want, n.waited)
			}
		}
	}
}
