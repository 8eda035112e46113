// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/jmespath"
)

// anyAll are conditions of Kyverno: all of All must hold, and one of Any where there are some.
type anyAll struct{ Any, All []condition }

type condition struct {
	Key      any
	Operator string
	Value    any
}

// conditions are Kyverno's in CEL. An alternative that cannot be carried over is left out; then the Cleaner selects
// less.
func (p *policy) conditions(of *anyAll) (all []v1alpha1.MatchCondition) {
	if of == nil {
		return nil
	}
	for i, c := range of.All {
		expression, err := c.cel()
		if err != nil {
			all = append(all, p.lose(fmt.Sprintf("spec.conditions.all[%d]", i), "is not carried over: "+err.Error()))
			continue
		}
		p.comesFrom(p.d, expression, fmt.Sprintf("spec.conditions.all[%d]", i))
		all = append(all, v1alpha1.MatchCondition{Name: unused("condition", all), Expression: expression})
	}
	var alternatives []string
	for i, c := range of.Any {
		expression, err := c.cel()
		if err != nil {
			p.lost(p.d, fmt.Sprintf("spec.conditions.any[%d]", i), "is not carried over: "+err.Error(),
				"add it to the condition any of the Cleaner, in CEL")
			continue
		}
		alternatives = append(alternatives, "("+expression+")")
	}
	switch {
	case len(of.Any) == 0:
	case len(alternatives) == 0:
		all = append(all, v1alpha1.MatchCondition{Name: "any", Expression: "false"})
	default:
		joined := strings.Join(alternatives, " || ")
		p.comesFrom(p.d, joined, "spec.conditions.any")
		all = append(all, v1alpha1.MatchCondition{Name: "any", Expression: joined})
	}
	return all
}

var variable = regexp.MustCompile(`^\s*\{\{(.*)\}\}\s*$`)

// cel translates a condition. A field that is missing is an error in Kyverno, and the object stays; so the condition is
// false then.
func (c *condition) cel() (string, error) {
	key, ok := c.Key.(string)
	if !ok {
		return "", errors.New("its key is not a string")
	}
	inside := variable.FindStringSubmatch(key)
	if inside == nil || strings.Contains(innerVariable.ReplaceAllString(inside[1], "$1"), "{{") {
		return "", errors.New("its key is not exactly one {{ ... }} expression")
	}
	if text, ok := c.Value.(string); ok && strings.Contains(text, "{{") {
		return "", errors.New("its value has a {{ ... }}")
	}
	e, err := jmespath.Parse(innerVariable.ReplaceAllString(inside[1], "$1"))
	if err != nil {
		return "", fmt.Errorf("its key: %w", err)
	}
	if call, ok := e.(jmespath.Call); ok && call.Name == "time_since" {
		return c.age(call)
	}
	return c.compare(e)
}

// innerVariable is how arguments of functions are often written: '{{ target.metadata.creationTimestamp }}'.
var innerVariable = regexp.MustCompile(`'\{\{\s*([^{}']*?)\s*\}\}'`)

var ageOperators = map[string]string{
	"GreaterThan":                 ">",
	"GreaterThanOrEquals":         ">=",
	"LessThan":                    "<",
	"LessThanOrEquals":            "<=",
	"DurationGreaterThan":         ">",
	"DurationGreaterThanOrEquals": ">=",
	"DurationLessThan":            "<",
	"DurationLessThanOrEquals":    "<=",
}

// age is how long a time of the object was ago: time_since with two empty texts around it.
func (c *condition) age(call jmespath.Call) (string, error) {
	empty := func(e jmespath.Expr) bool {
		l, ok := e.(jmespath.Literal)
		return ok && l.Value == ""
	}
	if len(call.Args) != 3 || !empty(call.Args[0]) || !empty(call.Args[2]) {
		return "", errors.New("import supports time_since only as time_since('', TIME, '')")
	}
	path, ok := call.Args[1].(jmespath.Path)
	if !ok {
		return "", errors.New("import supports time_since only of a field")
	}
	f, err := jmespath.FieldOf(path, "target")
	if err != nil {
		return "", err
	}
	op := ageOperators[c.Operator]
	if op == "" {
		return "", fmt.Errorf("import does not support the operator %s with a duration", c.Operator)
	}
	after, err := durationOf(c.Value)
	if err != nil {
		return "", err
	}
	return unwrapped(
		f.When(fmt.Sprintf("now - timestamp(%s) %s duration('%ds')", f.Value, op, int64(after/time.Second))),
	), nil
}

// durationOf reads a value with which an age is compared: a duration, or a number of seconds.
func durationOf(value any) (time.Duration, error) {
	switch value := value.(type) {
	case string:
		after, err := time.ParseDuration(value)
		if err != nil {
			return 0, fmt.Errorf("%q is no duration of hours, minutes and seconds", value)
		}
		return after, nil
	case float64:
		return time.Duration(value * float64(time.Second)), nil
	}
	return 0, errors.New("its value is no duration")
}

// unwrapped leaves out the parentheses around a whole condition.
func unwrapped(expression string) string {
	return strings.TrimSuffix(strings.TrimPrefix(expression, "("), ")")
}

// operand is what a key means: a field, its length, or one of them with a default.
func operand(e jmespath.Expr) (f jmespath.Field, fallback any, err error) {
	if or, ok := e.(jmespath.Binary); ok && or.Op == "||" {
		return withDefault(or)
	}
	switch e := e.(type) {
	case jmespath.Path:
		f, err = jmespath.FieldOf(e, "target")
		return f, nil, err
	case jmespath.Call:
		if e.Name != "length" || len(e.Args) != 1 {
			return f, nil, fmt.Errorf("import does not support the function %s", e.Name)
		}
		of, fallback, err := operand(e.Args[0])
		if list, ok := fallback.([]any); ok && len(list) == 0 {
			fallback = float64(0)
		} else if fallback != nil {
			return f, nil, errors.New("import supports length(...) only with the default `[]`, as in length(x || `[]`)")
		}
		of.Value = "size(" + of.Value + ")"
		return of, fallback, err
	}
	return f, nil, errors.New("its key is no field of the object")
}

// withDefault is a field with what stands for it where it is missing or, to JMESPath, not true.
func withDefault(or jmespath.Binary) (f jmespath.Field, fallback any, err error) {
	value, isLiteral := or.Right.(jmespath.Literal)
	if !isLiteral {
		return f, nil, errors.New("import supports || only with a text or a value after it")
	}
	f, _, err = operand(or.Left)
	if list, ok := value.Value.([]any); !ok || len(list) > 0 { // to length, what is empty is as long as []
		f.Guards = append(slices.Clone(f.Guards), f.IsTrue())
	}
	return f, value.Value, err
}

func (c *condition) compare(e jmespath.Expr) (string, error) {
	f, fallback, err := operand(e)
	if err != nil {
		return "", err
	}
	holds, err := c.holds(f)
	if err != nil {
		return "", err
	}
	if fallback == nil {
		return unwrapped(f.When(holds)), nil
	}
	text, err := jmespath.Value(fallback)
	if err != nil {
		return "", err
	}
	if c.Operator == "Equals" && reflect.DeepEqual(fallback, c.Value) {
		return "!(" + strings.Join(f.Guards, " && ") + ") || " + holds, nil
	}
	_, isText := fallback.(string)
	otherwise, err := c.holds(jmespath.Field{Value: text, IsText: isText})
	if err != nil {
		return "", err
	}
	if len(f.Guards) == 0 {
		return holds, nil
	}
	return strings.Join(f.Guards, " && ") + " ? " + holds + " : " + otherwise, nil
}
