// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubecleaner/kubecleaner/pkg/cli/jmespath"
)

// holds is the operator between a field and the value of the condition.
func (c *condition) holds(f jmespath.Field) (string, error) {
	left, value := f.Value, c.Value
	switch c.Operator {
	case "Equals", "Equal":
		return equal(left, value, "==")
	case "NotEquals", "NotEqual":
		return equal(left, value, "!=")
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
			return "", fmt.Errorf("import supports %s only with a number, not with %q", c.Operator, value)
		}
	}
	return "", fmt.Errorf("import does not support the operator %s with such a value", c.Operator)
}

// equal is whether a value is equal to that of the policy, or unequal.
func equal(left string, value any, op string) (string, error) {
	if text, ok := value.(string); ok {
		return equalText(left, text, op), nil
	}
	text, err := jmespath.Value(value)
	if err != nil {
		return "", err
	}
	if op == "!=" {
		return "!(" + left + " == " + text + ")", nil
	}
	return left + " == " + text, nil
}

// equalText compares as Kyverno does: two durations by their time, and two quantities by their amount. A quantity is
// neither equal nor unequal to a text that is none.
func equalText(left, text, op string) string {
	is, not := matchesAny(left, []string{text}), op == "!="
	if not {
		is = "!(" + is + ")"
	}
	_, noNumber := strconv.ParseFloat(text, 64)
	_, noQuantity := resource.ParseQuantity(text)
	switch {
	case noQuantity == nil && (not || noNumber != nil):
		is = fmt.Sprintf("(isQuantity(%[1]s) ? quantity(%[1]s).compareTo(quantity(%[2]s)) %[3]s 0 : %[4]s)",
			left, jmespath.Quote(text), op, is)
	case noQuantity != nil && text != "" && (not || anyWildcard([]string{text})):
		is = fmt.Sprintf("(!isQuantity(%s) && %s)", left, is)
	}
	if _, err := time.ParseDuration(text); err != nil || text == "0" {
		return is
	}
	// What only looks like a duration is an error in CEL, and the object stays.
	return fmt.Sprintf("(%[1]s.matches('^[-+]?([0-9.]+(.?s|m|h))+$') ? duration(%[1]s) %[3]s duration(%[2]s) : %[4]s)",
		left, jmespath.Quote(text), op, is)
}

// among is whether a value is one of several, all of them compared as texts. What is no text may be a list, of which
// each element is asked.
func (c *condition) among(f jmespath.Field) (string, error) {
	texts, err := c.texts()
	if err != nil {
		return "", err
	}
	isSize := strings.HasPrefix(f.Value, "size(")
	// Kyverno takes * and ? for wildcards on both sides. No name and no label has them.
	isPlain := isSize || f.IsText && !strings.Contains(f.Value, ".annotations")
	one := func(value string) string {
		is := "false"
		if len(texts) > 0 {
			is = matchesAny(value, texts)
		}
		switch {
		case !strings.Contains(c.Operator, "Not"):
			return is
		case isPlain:
			return "!(" + is + ")"
		}
		return "!(" + is + " || " + value + ".matches('[*?]'))"
	}
	switch {
	case f.IsText:
		return one(f.Value), nil
	case isSize:
		return one("string(" + f.Value + ")"), nil
	}
	quantifier := "all"
	if c.Operator == "AnyIn" || c.Operator == "AnyNotIn" {
		quantifier = "exists"
	}
	return fmt.Sprintf("(type(%[1]s) == list ? %[1]s.%[2]s(e, %[3]s) : %[4]s)",
		"dyn("+f.Value+")", quantifier, one("string(e)"), one("string(dyn("+f.Value+"))")), nil
}

// valueRange is a range of values in Kyverno, such as 1Gi-2Gi.
var valueRange = regexp.MustCompile(`^[-+|]?\d+(\.\d+)?[A-Za-z]*!?-[-+|]?\d+(\.\d+)?[A-Za-z]*$`)

// texts are the values with which a field is compared.
func (c *condition) texts() (texts []string, err error) {
	switch value := c.Value.(type) {
	case string:
		// A single text that is JSON and no list is of the wrong type to Kyverno, and so is any to NotIn.
		isNot := strings.Contains(c.Operator, "Not") && (c.Operator == "NotIn" || json.Valid([]byte(value)))
		if isNot || valueRange.MatchString(value) || strings.HasPrefix(value, "[") {
			return nil, fmt.Errorf("import does not support %s with the text %q: write a list", c.Operator, value)
		}
		return []string{value}, nil
	case []any:
		for _, one := range value {
			switch one.(type) {
			case string, float64, bool:
				texts = append(texts, fmt.Sprint(one))
			default:
				return nil, errors.New("import does not support a value of this type")
			}
		}
		return texts, nil
	}
	return nil, errors.New("its value is no text and no list")
}
