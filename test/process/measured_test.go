// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// measured records how long something took beside its target: in the test's log, and at the end of the file MEASURED, which .ci/run
// prints.
func measured(t *testing.T, what string, took, target time.Duration) {
	t.Helper()
	line := fmt.Sprintf("%s after %d ms; target: %d ms", what, took.Milliseconds(), target.Milliseconds())
	t.Log(line)
	name := os.Getenv("MEASURED")
	if name == "" {
		return
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	must(t, err)
	_, err = fmt.Fprintln(file, line)
	must(t, err)
	must(t, file.Close())
}
