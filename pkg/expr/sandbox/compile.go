// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"
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

const (
	// exhaustedAgain is after how long a script that used up its time or memory is compiled again. Perhaps the machine was
	// busy; if not, it must not keep all others waiting at each check.
	exhaustedAgain = 5 * time.Minute
	// compilerKept is how long the child that compiles is kept after its last use: long enough for all Cleaners of a
	// kubectl apply, or of a start, and not for ever, because it has 10 MB, and what is known needs no compiler.
	compilerKept = 10 * time.Second
	// maxCompiled is how many scripts are remembered.
	maxCompiled = 10_000
)

// compiled remembers what was found out about scripts, so that those that are known do not wait for the compiler.
type compiled struct {
	clock clock.PassiveClock
	mu    sync.Mutex
	known map[[sha256.Size]byte]finding
}

// finding is what the compiler said, and until when that holds. The zero time is for good.
type finding struct {
	problem error
	until   time.Time
	// metadataOnly is whether evaluate surely looks at nothing of an object but its metadata, kind and apiVersion.
	metadataOnly bool
}

func (c *compiled) get(script Script) (found finding, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok = c.known[script.sum()]
	return found, ok && (found.until.IsZero() || c.clock.Now().Before(found.until))
}

func (c *compiled) put(script Script, found finding) {
	if exhausted(found.problem) {
		found.until = c.clock.Now().Add(exhaustedAgain)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) == maxCompiled {
		c.known = map[[sha256.Size]byte]finding{}
	}
	c.known[script.sum()] = found
}

func (s Script) sum() [sha256.Size]byte { return sha256.Sum256([]byte(s.Function + "\x00" + s.Source)) }

// useCompiler calls work with the worker whose child compiles.
func (p *Pool) useCompiler(ctx context.Context, work func(context.Context, *worker) error) error {
	p.mu.Lock()
	if p.compilerIdle != nil {
		p.compilerIdle.Stop()
	}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch {
		case p.closed:
		case p.compilerIdle == nil:
			p.compilerIdle = time.AfterFunc(compilerKept, p.endCompiler)
		default:
			p.compilerIdle.Reset(compilerKept)
		}
	}()
	return p.compiler.use(ctx, work)
}

// endCompiler ends the child that compiles, if there is one. The next use starts another, which takes milliseconds.
func (p *Pool) endCompiler() {
	_ = p.compiler.use(context.Background(), func(_ context.Context, w *worker) error {
		w.bury()
		return nil
	})
}

// Compile compiles scripts in a child, which is kept for a moment. Of each script it returns what is wrong with it, or
// nil: a *lua.SyntaxError, a *lua.ScriptError when it lacks its function, or a *BudgetError. An error means that no
// child could be had.
func (p *Pool) Compile(ctx context.Context, scripts []Script) (problems []error, err error) {
	problems = make([]error, len(scripts))
	for i, script := range scripts {
		found, err := p.find(ctx, script)
		if err != nil {
			return make([]error, len(scripts)), err
		}
		problems[i] = found.problem
	}
	return problems, nil
}

// ReadsMetadataOnly reports whether an evaluate script surely looks at nothing of an object but its metadata, kind and
// apiVersion, as Compile found out. It is false for a script that does not compile.
func (p *Pool) ReadsMetadataOnly(ctx context.Context, source string) (bool, error) {
	found, err := p.find(ctx, Script{Function: "evaluate", Source: source})
	return err == nil && found.problem == nil && found.metadataOnly, err
}

// find returns what is known of a script. It asks the compiler if that is nothing.
func (p *Pool) find(ctx context.Context, script Script) (found finding, err error) {
	found, ok := p.compiled.get(script)
	if ok {
		return found, nil
	}
	err = p.useCompiler(ctx, func(ctx context.Context, w *worker) (err error) {
		found, err = w.check(ctx, script)
		return err
	})
	if err != nil {
		return finding{}, err
	}
	p.compiled.put(script, found)
	return found, nil
}

func (w *worker) check(ctx context.Context, script Script) (finding, error) {
	if err := w.ready(ctx); err != nil {
		return finding{}, err
	}
	request := appendText([]byte{askCheck}, script.Function)
	request = appendBytes(request, []byte(script.Source))
	one, err := w.one(ctx, compileTimeout+grace+silence, [][]byte{request}, answerProgram)
	var died *death
	if errors.As(err, &died) && died.kind == BudgetKilled {
		return finding{}, errors.New("the process that compiles scripts was killed")
	}
	if errors.As(err, &died) {
		return finding{problem: died.budget(CompilerMemory, compileTimeout)}, nil
	}
	return finding{problem: one.fault(), metadataOnly: one.reads.MetadataOnly()}, err
}
