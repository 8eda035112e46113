// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"time"
)

// compileTimeout bounds the compiling of one script. A compiler cannot be interrupted, only its process can be ended.
const compileTimeout = 2 * time.Second

// Script is a script and where it stands.
type Script struct {
	// Field is for messages of the caller, for example "transform".
	Field string
	// Function is what the script must define: "evaluate" or "transform".
	Function string
	Source   string
}

// Compile compiles scripts in a child, which is kept for the next call. Of each script it returns what is wrong with it, or
// nil: a *lua.SyntaxError, a *lua.ScriptError when it lacks its function, or a *BudgetError. An error means that no child could
// be had.
func (p *Pool) Compile(ctx context.Context, scripts []Script) (problems []error, err error) {
	problems = make([]error, len(scripts))
	err = p.compiler.use(ctx, func(ctx context.Context, w *worker) error {
		for i, script := range scripts {
			var err error
			if problems[i], err = w.check(ctx, script); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return make([]error, len(scripts)), err
	}
	return problems, nil
}

func (w *worker) check(ctx context.Context, script Script) (problem, err error) {
	if err := w.ready(ctx); err != nil {
		return nil, err
	}
	request := appendText([]byte{askCheck}, script.Function)
	request = appendBytes(request, []byte(script.Source))
	one, err := w.one(ctx, compileTimeout+grace+silence, [][]byte{request}, answerReady)
	var died *death
	if errors.As(err, &died) && died.kind == BudgetKilled {
		return nil, errors.New("the process that compiles scripts was killed")
	}
	if errors.As(err, &died) {
		return died.budget(w.reserved, compileTimeout), nil
	}
	return one.fault(), err
}
