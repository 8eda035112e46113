// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package jmespath

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

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

func (t token) isDot() bool { return t.kind == operator && t.text == "." }

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
	case isDigit(c):
		n := length(rest, isDigit)
		value, err := strconv.Atoi(rest[:n])
		return token{kind: number, text: rest[:n], value: value}, rest[n:], err
	case isLetter(c):
		n := length(rest, func(c byte) bool { return isLetter(c) || isDigit(c) })
		return token{kind: name, text: rest[:n]}, rest[n:], nil
	}
	for _, op := range []string{"&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "(", ")", ",", ".", "[", "]", "*"} {
		if after, ok := strings.CutPrefix(rest, op); ok {
			return token{kind: operator, text: op}, after, nil
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	return token{}, "", fmt.Errorf("import does not support %s here", strconv.Quote(rest[:size]))
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

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
