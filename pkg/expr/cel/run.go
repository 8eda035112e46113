// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// Run is one run's evaluation of a Program. It is safe for concurrent use.
type Run struct {
	program *Program
	now     ref.Val
	clock   clock.PassiveClock // of Timed
	spent   atomic.Uint64
	took    atomic.Int64
	// memories are *memory, for evaluations to come.
	memories sync.Pool
}

// NewRun begins a run. now is the variable of that name in all of the run's evaluations.
func (p *Program) NewRun(now time.Time) *Run {
	return &Run{
		program: p, now: types.Timestamp{Time: now.UTC()},
		memories: sync.Pool{New: func() any { return new(memory) }},
	}
}

// Timed makes the run measure by a clock how long its evaluations take.
func (r *Run) Timed(clk clock.PassiveClock) *Run {
	r.clock = clk
	return r
}

// measure begins to measure, and returns what ends that.
func (r *Run) measure() (end func()) {
	if r.clock == nil {
		return func() {}
	}
	begin := r.clock.Now()
	return func() { r.took.Add(int64(r.clock.Since(begin))) }
}

// LimitError says that the conditions cost more than one object, or one run, may. It is for the user to correct.
type LimitError struct {
	// Condition is the name of the condition at which the limit of an object was reached.
	Condition string
	// Limit is the limit in cost units.
	Limit uint64
	// Whole is true when it is the run's limit that was reached: no more objects can be judged.
	Whole bool
}

func (e *LimitError) Error() string {
	if e.Whole {
		return fmt.Sprintf(
			"the conditions used up the %d cost units of a whole run; select fewer objects with labelFilters or "+
				"namespace, put the cheapest condition first, or make the expressions cheaper",
			e.Limit,
		)
	}
	return fmt.Sprintf("condition %q: the conditions cost more than %d units on one object; avoid loops within loops and "+
		"texts that grow, or put a cheaper condition first", e.Condition, e.Limit)
}

// Evaluate judges one object. It matches when all conditions hold. They are asked in their order, and the first that is
// false ends it. As in a ValidatingAdmissionPolicy, a condition that fails on the object is an error only if none of
// the others is false, before or behind it. Only the cost limits end everything, with a *LimitError. An object of which
// o.Raw is not well-formed is judged arbitrarily. The message is the messages of the conditions.
func (r *Run) Evaluate(ctx context.Context, o object.Object) (matches bool, message string, err error) {
	return r.EvaluateWith(ctx, o, nil)
}

// EvaluateWith is Evaluate with data: a well-formed JSON map of the inputs that the conditions were compiled for.
func (r *Run) EvaluateWith(
	ctx context.Context,
	o object.Object,
	data object.JSON,
) (matches bool, message string, err error) {
	return r.evaluate(ctx, o, data, func(*condition) bool { return true })
}

// HasLate reports whether there are conditions that look at logs.
func (r *Run) HasLate() bool {
	return slices.ContainsFunc(r.program.conditions, func(c condition) bool { return c.late })
}

// EvaluatePart is EvaluateWith for only those conditions that look at logs, or only the others: logs are dear, and read
// only for the objects for which the others hold.
func (r *Run) EvaluatePart(
	ctx context.Context,
	o object.Object,
	data object.JSON,
	late bool,
) (matches bool, message string, err error) {
	return r.evaluate(ctx, o, data, func(c *condition) bool { return c.late == late })
}

func (r *Run) evaluate(
	ctx context.Context,
	o object.Object,
	data object.JSON,
	asked func(*condition) bool,
) (matches bool, message string, err error) {
	if r.spent.Load() > runCost {
		return false, "", &LimitError{Limit: runCost, Whole: true}
	}
	defer r.measure()()
	mem, _ := r.memories.Get().(*memory)
	defer func() {
		mem.reset()
		r.memories.Put(mem)
	}()
	stoppable, stop := context.WithCancel(ctx)
	defer stop()
	vars := &variables{
		object: &mapValue{
			text: o.Raw,
			kind: &o.Kind,
			mem:  mem,
		},
		data:  &mapValue{text: data, mem: mem},
		now:   r.now,
		meter: meter{left: objectCost, stop: stop},
	}
	defer func() { r.spent.Add(objectCost - vars.meter.left) }()
	var failed error
	for i := range r.program.conditions {
		c := &r.program.conditions[i]
		if !asked(c) {
			continue
		}
		holds, err := c.evaluate(stoppable, vars)
		switch {
		case vars.meter.exhausted:
			return false, "", &LimitError{Condition: c.name, Limit: objectCost}
		case ctx.Err() != nil:
			return false, "", context.Cause(ctx)
		case err != nil && failed == nil:
			failed = err
		case err == nil && !holds:
			return false, "", nil
		}
	}
	if failed != nil {
		return false, "", failed
	}
	return true, r.program.message(asked), nil
}

// Renew gives the conditions the whole cost limit of a run again, for objects that are read once more.
func (r *Run) Renew() { r.spent.Store(0) }

// Took is how long the evaluations took so far, all together. A run that is not Timed does not know.
func (r *Run) Took() time.Duration { return time.Duration(r.took.Load()) }

// message is what is said of every object that matches.
func (p *Program) message(asked func(*condition) bool) string {
	var said []string
	for i := range p.conditions {
		if c := &p.conditions[i]; c.message != "" && asked(c) {
			said = append(said, c.message)
		}
	}
	return strings.Join(said, "; ")
}

func (c *condition) evaluate(ctx context.Context, vars *variables) (holds bool, err error) {
	result, _, err := c.program.ContextEval(ctx, vars)
	if err != nil {
		return false, c.explain(err)
	}
	answer, ok := result.(types.Bool)
	if !ok {
		return false, fmt.Errorf(
			"condition %q: the result is of type %s, but it must be true or false",
			c.name,
			result.Type(),
		)
	}
	return bool(answer), nil
}

// maxDetail is how many bytes of cel-go's message are kept: it may quote a value.
const maxDetail = 400

// explain says what went wrong where, and the way out. It keeps the text only: an error of cel-go holds values, and
// they do not outlive the evaluation.
func (c *condition) explain(err error) error {
	where := ""
	var located *types.Err
	if errors.As(err, &located) && located.NodeID() != 0 {
		if at := c.source.GetStartLocation(located.NodeID()); at.Line() > 0 {
			where = fmt.Sprintf("line %d, column %d: ", at.Line(), at.Column()+1)
		}
	}
	hint := ""
	switch text := err.Error(); {
	case strings.Contains(text, "no such key"), strings.Contains(text, "no such attribute"):
		hint = "; a field may be missing: write has(object.spec.x) && ..., or object.?spec.?x.orValue(...)"
	case strings.Contains(text, "no such overload"), strings.Contains(text, "conversion error"):
		hint = "; a value is null or has another type than the expression expects: check for null, or convert with int(...) or string(...)"
	case strings.Contains(text, "out of range"), strings.Contains(text, "index out of bounds"):
		hint = "; a list may be shorter: test size(...) first"
	}
	text := err.Error()
	if len(text) > maxDetail {
		text = strings.ToValidUTF8(text[:maxDetail], "") + "..."
	}
	return fmt.Errorf("condition %q: %s%s%s", c.name, where, text, hint)
}

// variables are what an expression sees, and its meter.
type variables struct {
	object, now ref.Val
	data        *mapValue
	meter       meter
}

// meterName is the name under which the meter is found from within a loop. It cannot be written in an expression.
const meterName = "meter of the evaluation"

// ResolveName implements interpreter.Activation.
func (v *variables) ResolveName(name string) (any, bool) {
	switch name {
	case "object":
		return v.object, true
	case "now":
		return v.now, true
	case meterName:
		return &v.meter, true
	case string(Events), string(Metrics), string(Logs), string(Finding):
		return v.data.Find(types.String(name))
	}
	return nil, false
}

// Parent implements interpreter.Activation.
func (v *variables) Parent() interpreter.Activation { return nil }
