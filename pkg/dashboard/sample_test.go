// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"strings"
	"testing"
)

// TestSampleThatThePageMayNotSend: that the page may not reach a host says nothing of the operator, which has other flags.
func TestSampleThatThePageMayNotSend(t *testing.T) {
	const refused = "relay: did not arrive: name its host in the flag --allowed-notification-hosts"
	if got := sampleText(refused); !strings.HasPrefix(got, refused+"\n") || !strings.Contains(got, "does not have the operator's flags") {
		t.Errorf("got %q", got)
	}
	if got := sampleText("relay: arrived"); got != "relay: arrived" {
		t.Errorf("got %q", got)
	}
}
