// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package jmespath translates the part of JMESPath that conditions of Kyverno and kube-janitor are usually made of into
// CEL. It is pure. What it does not know it refuses: a condition that is left out, or that means something else, would
// select more objects.
package jmespath

import (
	"fmt"
	"slices"
	"strings"
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
		err = fmt.Errorf("found %s, but nothing more is expected here", p.peek())
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
	t := p.next()
	switch {
	case t.kind == operator && t.text == "!":
		return p.not()
	case t.kind == operator && t.text == "(":
		return p.group()
	case t.kind == literal:
		return Literal{t.value}, nil
	case t.kind == name && !t.quoted && p.take("("):
		return p.call(t.text)
	case t.kind == name:
		return p.path(t.text)
	}
	return nil, fmt.Errorf("found %s, but a field, a text or a function is expected here", t)
}

// not reads what stands behind a !. In JMESPath, ! binds tighter than . and []: the rest of the path is that of true or
// false, which is null.
func (p *parser) not() (Expr, error) {
	start := p.at
	of, err := p.unary()
	if _, isPath := of.(Path); err != nil || !isPath || p.tokens[start].kind != name {
		return Not{of}, err
	}
	text := ""
	for _, t := range p.tokens[start:p.at] {
		if t.quoted {
			t.text = t.String()
		}
		text += t.text
	}
	if strings.Contains(text, "[]") || slices.ContainsFunc(p.tokens[start:p.at], token.isDot) {
		return nil, fmt.Errorf("!%s is never true, because JMESPath reads the ! first; if you mean !(%s), write that", text, text)
	}
	return Not{of}, nil
}

// group reads what stands behind a (, and the ) that ends it.
func (p *parser) group() (Expr, error) {
	e, err := p.or()
	if err == nil && !p.take(")") {
		err = fmt.Errorf("found %s, but ) is expected here", p.peek())
	}
	return e, err
}

func (p *parser) call(function string) (Expr, error) {
	c := Call{Name: function}
	for !p.take(")") {
		if len(c.Args) > 0 && !p.take(",") {
			return nil, fmt.Errorf("found %s, but , or ) is expected here", p.peek())
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
				return nil, fmt.Errorf("found %s, but a field is expected here", t)
			}
			path = append(path, t.text)
		case p.take("["):
			step, err := p.index()
			if err != nil {
				return nil, err
			}
			path = append(path, step)
		default:
			return path, nil
		}
	}
}

// index reads what stands behind a [, and the ] that ends it: a number, or Flatten.
func (p *parser) index() (any, error) {
	if p.take("*") || p.at < len(p.tokens) && p.peek().text == "]" {
		p.take("]")
		return Flatten{}, nil
	}
	t := p.next()
	i, isNumber := t.value.(int)
	if t.kind != number || !isNumber || !p.take("]") {
		return nil, fmt.Errorf("import supports [...] only with nothing in it, or with one number that is not below zero, such as [0]")
	}
	return i, nil
}
