// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrClosed is returned by calls on a closed Pool or Session.
var ErrClosed = errors.New("the scripts' processes are closed")

// BudgetKind says what a script used up.
type BudgetKind string

// What a script can use up.
const (
	// BudgetTime is the time for one object, or for one aggregated call.
	BudgetTime BudgetKind = "time"
	// BudgetMemory is the memory of one child.
	BudgetMemory BudgetKind = "memory"
	// BudgetCrash is a script that ended its process in another way.
	BudgetCrash BudgetKind = "crash"
	// BudgetKilled is a process that somebody else ended, perhaps the kernel for want of memory: the script may be
	// innocent.
	BudgetKilled BudgetKind = "killed"
	// BudgetObjects is the number of objects that an aggregated script can be given.
	BudgetObjects BudgetKind = "objects"
	// BudgetPatience is how many objects of one session may use up their time or memory.
	BudgetPatience BudgetKind = "patience"
)

// BudgetError says that a script used up what it may use.
type BudgetError struct {
	Kind BudgetKind
	// Msg names the limit and the way out.
	Msg string
}

// Error is the message.
func (e *BudgetError) Error() string { return e.Msg }

// OutgrownError says that what a session has is not enough for what was asked of it, and that another session may have
// more. It is no fault of the script: a run that has touched nothing begins anew with more.
type OutgrownError struct {
	// Memory is what the session had, in bytes.
	Memory int64
	// Data says that it is the data of Secrets that was lacking. Later aggregates of the script have it.
	Data bool
}

// Error is for those who do not begin anew.
func (e *OutgrownError) Error() string {
	if e.Data {
		return "reads the data of Secrets in a way that cannot be seen in its source; the next run has that data"
	}
	return "needs more memory than the " + inMiB(e.Memory) + " that the scripts of this run may use; its next run has more"
}

// maxExhausted is how many objects of one session may use up their time or memory, before the session judges no more:
// with many such objects a run would never end.
const maxExhausted = 5

func outOfPatience(last error) *BudgetError {
	return &BudgetError{
		BudgetPatience,
		fmt.Sprintf("%d objects used up their time or memory, so no more were judged; the last one: %v",
			maxExhausted, last),
	}
}

// death is how a child ended.
type death struct {
	kind BudgetKind
	// named says that the child said which object it was at, so that the kind is certain and no other object is to blame.
	named bool
	// detail is what is known of a crash.
	detail string
}

// Error is for logs only: budget makes the error that users see.
func (d *death) Error() string { return "the process that runs scripts ended: " + string(d.kind) }

// budget is the error for the script that caused a death.
func (d *death) budget(memory int64, limit time.Duration) *BudgetError {
	switch d.kind {
	case BudgetMemory:
		return &BudgetError{
			d.kind,
			fmt.Sprintf(
				"used more than %s of memory: look for a table or a text that grows without end, or keep less in the script",
				inMiB(memory),
			),
		}
	case BudgetTime:
		return &BudgetError{
			d.kind,
			fmt.Sprintf(
				"took longer than %s, in a single step that could not be interrupted: look for a pattern that backtracks, or do less work in the script",
				limit,
			),
		}
	}
	if d.kind == BudgetKilled {
		return &BudgetError{
			d.kind,
			"could not be judged, because the process that runs scripts was killed: by somebody, or because the Pod or the node ran out of memory",
		}
	}
	return &BudgetError{d.kind, fmt.Sprintf("ended the process that runs scripts (%s): make the script simpler", d.detail)}
}

func inMiB(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

// readStderr finds out from what a runtime said last whether it was out of memory. It is the only way: a Go process
// that gets no more memory ends itself, and has no chance to answer.
func readStderr(text string) (memory bool, firstLine string) {
	for _, words := range []string{"out of memory", "cannot allocate memory", "failed to create new OS thread"} {
		if strings.Contains(text, words) {
			memory = true
		}
	}
	firstLine, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return memory, shown(firstLine)
}
