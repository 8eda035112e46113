// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// Where you may not ask the API server, it is not promised that it accepts what the operator sends.
func TestWhatYouMayNotAsk(t *testing.T) {
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	session := &terminal.Session{IOStreams: streams, Options: terminal.Options{Getenv: func(string) string { return "" }}}
	l := &live{}
	(&asking{job: &job{options: &options{Session: session}}, forbidden: "configmaps is forbidden"}).reportForbidden(l)
	const want = "note: whether the API server would do all this is not known, because you may not: configmaps is forbidden\n"
	if errOut.String() != want || !l.unsure || l.forbidden != "" {
		t.Errorf("%+v, %s", l, errOut)
	}
}
