// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fault turns a panic into an error. In a goroutine of its own a panic ends the process, and with it every
// other run.
package fault

import (
	"context"
	"fmt"
	"runtime/debug"

	"k8s.io/klog/v2"
)

// Words are what a user reads of a fault.
const Words = "a fault of KubeCleaner; please report it with the operator's log"

// Error is a panic. It unwraps to nothing: a fault is never an answer of the API server, nor the end of a context,
// whatever the value is.
type Error struct {
	Value any
	// Stack says where it happened.
	Stack []byte
}

// Error leaves out the stack, which is for the log.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", Words, e.Value) }

// Caught returns the error of do, or an *Error if it panics. It does not log: see Logged.
func Caught(do func() error) error { return caught(do, func(*Error) {}) }

// Logged is Caught, and logs a panic with its stack.
func Logged(ctx context.Context, do func() error) error {
	return caught(do, func(e *Error) {
		klog.FromContext(ctx).Error(e, "Recovered from a panic", "stack", string(e.Stack))
	})
}

func caught(do func() error, report func(*Error)) (err error) {
	defer func() {
		if p := recover(); p != nil { //nolint:forbidigo // this is where it is done
			fault := &Error{Value: p, Stack: debug.Stack()}
			report(fault)
			err = fault
		}
	}()
	return do()
}
