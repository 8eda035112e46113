// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package jmespath translates the part of JMESPath that conditions of Kyverno and kube-janitor are usually made of into CEL. It is pure. What it does not
// know it refuses: a condition that is left out, or that means something else, would select more objects.
package jmespath

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Expr is a parsed expression: one of Path, Literal, Not, Binary and Call.
type Expr any

type (
	// Path is a.b."c"[0][]. A step is a string, an int or Flatten.
	Path []any
	// Flatten is [] or [*].
	Flatten struct{}
	// Literal is a text in single quotes, or JSON in backticks.
	Literal struct{ Value any }
	// Not is !x.
	Not struct{ Of Expr }
	// Binary is x OP y, where OP is one of && || == != < <= > >=.
	Binary struct {
		Op          string
		Left, Right Expr
	}
	// Call is name(args...).
	Call struct {
		Name string
		Args []Expr
	}
)

// maxDepth bounds how deeply parentheses may be nested.
const maxDepth = 50

// Parse parses an expression.
func Parse(text string) (Expr, error) {
	tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	e, err := p.or()
	if err == nil && p.peek().kind != end {
		err = fmt.Errorf("%s stands where nothing is expected", p.peek())
	}
	return e, err
}

type parser struct {
	tokens []token
	at     int
	depth  int
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

// take takes the next token if it is this operator.
func (p *parser) take(op string) bool {
	if t := p.peek(); t.kind != operator || t.text != op {
		return false
	}
	p.at++
	return true
}

func (p *parser) or() (Expr, error)  { return p.chain("||", p.and) }
func (p *parser) and() (Expr, error) { return p.chain("&&", p.compare) }

func (p *parser) chain(op string, part func() (Expr, error)) (Expr, error) {
	left, err := part()
	for err == nil && p.take(op) {
		var right Expr
		right, err = part()
		left = Binary{op, left, right}
	}
	return left, err
}

func (p *parser) compare() (Expr, error) {
	left, err := p.unary()
	if err != nil {
		return nil, err
	}
	for _, op := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.take(op) {
			right, err := p.unary()
			return Binary{op, left, right}, err
		}
	}
	return left, nil
}

func (p *parser) unary() (Expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("it is nested more than %d levels deep", maxDepth)
	}
	defer func() { p.depth-- }()
	switch t := p.next(); {
	case t.kind == operator && t.text == "!":
		of, err := p.unary()
		return Not{of}, err
	case t.kind == operator && t.text == "(":
		e, err := p.or()
		if err == nil && !p.take(")") {
			err = fmt.Errorf("%s stands where ) is expected", p.peek())
		}
		return e, err
	case t.kind == literal:
		return Literal{t.value}, nil
	case t.kind == name && !t.quoted && p.take("("):
		return p.call(t.text)
	case t.kind == name:
		return p.path(t.text)
	default:
		return nil, fmt.Errorf("%s stands where a field, a text or a function is expected", t)
	}
}

func (p *parser) call(function string) (Expr, error) {
	c := Call{Name: function}
	for !p.take(")") {
		if len(c.Args) > 0 && !p.take(",") {
			return nil, fmt.Errorf("%s stands where , or ) is expected", p.peek())
		}
		arg, err := p.or()
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, arg)
	}
	return c, nil
}

func (p *parser) path(first string) (Expr, error) {
	path := Path{first}
	for {
		switch {
		case p.take("."):
			t := p.next()
			if t.kind != name {
				return nil, fmt.Errorf("%s stands where a field is expected", t)
			}
			path = append(path, t.text)
		case p.take("["):
			if p.take("*") || p.at < len(p.tokens) && p.peek().text == "]" {
				p.take("]")
				path = append(path, Flatten{})
				continue
			}
			t := p.next()
			i, isNumber := t.value.(int)
			if t.kind != number || !isNumber || !p.take("]") {
				return nil, fmt.Errorf("[...] is known only with nothing in it, or one number that is not below zero, such as [0]")
			}
			path = append(path, i)
		default:
			return path, nil
		}
	}
}

type tokenKind int

const (
	end tokenKind = iota
	name
	number
	literal
	operator
)

type token struct {
	kind   tokenKind
	text   string
	value  any
	quoted bool
}

func (t token) String() string {
	if t.kind == end {
		return "the end"
	}
	return strconv.Quote(t.text)
}

func scan(text string) (tokens []token, err error) {
	for rest := strings.TrimLeft(text, " \t\r\n"); ; rest = strings.TrimLeft(rest, " \t\r\n") {
		if rest == "" {
			return append(tokens, token{kind: end}), nil
		}
		var t token
		if t, rest, err = scanOne(rest); err != nil {
			return nil, err
		}
		tokens = append(tokens, t)
	}
}

func scanOne(rest string) (token, string, error) {
	switch c := rest[0]; {
	case c == '\'' || c == '`' || c == '"':
		return scanQuoted(rest)
	case c >= '0' && c <= '9':
		n := length(rest, func(c byte) bool { return c >= '0' && c <= '9' })
		value, err := strconv.Atoi(rest[:n])
		return token{kind: number, text: rest[:n], value: value}, rest[n:], err
	case isLetter(c):
		n := length(rest, func(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' })
		return token{kind: name, text: rest[:n]}, rest[n:], nil
	}
	for _, op := range []string{"&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "(", ")", ",", ".", "[", "]", "*"} {
		if after, ok := strings.CutPrefix(rest, op); ok {
			return token{kind: operator, text: op}, after, nil
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	return token{}, "", fmt.Errorf("%s is not known here", strconv.Quote(rest[:size]))
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

func length(text string, is func(byte) bool) int {
	n := 0
	for n < len(text) && is(text[n]) {
		n++
	}
	return n
}

// scanQuoted reads 'text', `JSON` or "name".
func scanQuoted(rest string) (token, string, error) {
	quote := rest[0]
	for i := 1; i < len(rest); i++ {
		if rest[i] == '\\' {
			i++
			continue
		}
		if rest[i] != quote {
			continue
		}
		inside, whole := rest[1:i], rest[:i+1]
		var value any
		var err error
		switch quote {
		case '\'':
			value = strings.ReplaceAll(inside, `\'`, "'")
		case '"':
			var text string
			err = json.Unmarshal([]byte(whole), &text)
			return token{kind: name, text: text, quoted: true}, rest[i+1:], err
		default:
			if err = json.Unmarshal([]byte(strings.ReplaceAll(inside, "\\`", "`")), &value); err != nil {
				err = fmt.Errorf("%s is no JSON", whole)
			}
		}
		return token{kind: literal, text: whole, value: value}, rest[i+1:], err
	}
	return token{}, "", fmt.Errorf("%c has no end", quote)
}
