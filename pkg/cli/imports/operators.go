// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubecleaner/kubecleaner/pkg/cli/jmespath"
)

// holds is the operator between a field and the value of the condition.
func (c *condition) holds(f jmespath.Field) (string, error) {
	left, value := f.Value, c.Value
	switch c.Operator {
	case "Equals", "Equal":
		return equal(left, value)
	case "NotEquals", "NotEqual":
		is, err := equal(left, value)
		return "!(" + is + ")", err
	case "AnyIn", "In", "NotIn", "AllNotIn", "AnyNotIn", "AllIn":
		return c.among(f)
	}
	op := map[string]string{
		"GreaterThan": ">", "GreaterThanOrEquals": ">=", "LessThan": "<",
		"LessThanOrEquals": "<=",
	}[c.Operator]
	switch value := value.(type) {
	case float64:
		if op != "" {
			text, err := jmespath.Value(value)
			return left + " " + op + " " + text, err
		}
	case string:
		if n, err := strconv.ParseFloat(value, 64); op != "" && err == nil {
			return fmt.Sprintf("double(%s) %s %s", left, op, strconv.FormatFloat(n, 'f', -1, 64)), nil
		}
		if op != "" {
			return "", fmt.Errorf("%s is known only with a number, not with %q", c.Operator, value)
		}
	}
	return "", fmt.Errorf("the operator %s is not known with such a value", c.Operator)
}

func equal(left string, value any) (string, error) {
	if text, ok := value.(string); ok {
		return matchesAny(left, []string{text}), nil
	}
	text, err := jmespath.Value(value)
	if err != nil {
		return "", err
	}
	return left + " == " + text, nil
}

// among is whether a value is one of several. What is no text may be a list, of which each element is asked.
func (c *condition) among(f jmespath.Field) (string, error) {
	one, err := oneAmong(f.Value, c.Value)
	if err != nil {
		return "", err
	}
	isNot := strings.Contains(c.Operator, "Not")
	if isNot {
		one = "!(" + one + ")"
	}
	if f.IsText || strings.HasPrefix(f.Value, "size(") {
		return one, nil
	}
	element, err := oneAmong("e", c.Value)
	if err != nil {
		return "", err
	}
	if isNot {
		element = "!(" + element + ")"
	}
	quantifier := "all"
	if c.Operator == "AnyIn" || c.Operator == "In" || c.Operator == "AnyNotIn" {
		quantifier = "exists"
	}
	value := "dyn(" + f.Value + ")"
	return fmt.Sprintf(
		"(type(%s) == list ? %s.%s(e, %s) : %s)",
		value,
		value,
		quantifier,
		element,
		strings.ReplaceAll(one, f.Value, value),
	), nil
}

func oneAmong(left string, value any) (string, error) {
	var texts []string
	switch value := value.(type) {
	case string:
		texts = append(texts, value)
	case []any:
		for _, one := range value {
			text, ok := one.(string)
			if !ok {
				list, err := jmespath.Value(value)
				return left + " in " + list, err
			}
			texts = append(texts, text)
		}
	default:
		return "", errors.New("its value is no text and no list")
	}
	if len(texts) == 0 {
		return "false", nil
	}
	return matchesAny(left, texts), nil
}
