// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/kubecleaner/kubecleaner/pkg/suggest"
)

// keywords are those of Lua. The longer of two that are as near to a word comes first.
var keywords = []string{
	"function", "elseif", "repeat", "return", "break", "false", "local", "until", "while", "else", "goto", "then", "true",
	"and", "end", "for", "nil", "not", "do", "if", "in", "or",
}

// lastWord is a name at the end of a text. What stands behind a dot or a colon is a field, and no keyword.
var lastWord = regexp.MustCompile(`(?:^|[^.:\w])([A-Za-z_]\w*)\s*$`)

// misspelled asks whether a word where the parser stopped was to be a keyword: the token, or the word before it. A word
// that stands in the script more than once is a name. It is empty when there is none.
func misspelled(source, before, token string) string {
	for _, text := range []string{token, before} {
		found := lastWord.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		word := found[1]
		near := suggest.Nearest(word, keywords)
		isNear := near != "" && near != word && len(word) > 2 && near[0] == word[0]
		if isNear && len(regexp.MustCompile(`\b`+word+`\b`).FindAllStringIndex(source, 2)) == 1 {
			return fmt.Sprintf("; did you mean %s instead of %s?", near, word)
		}
	}
	return ""
}

// MisspelledReturn is a call of a function that the script does not have, and whose name is nearly return, as in
// retrun {matching = true}, and its line. The name is empty when there is none.
func MisspelledReturn(source string) (name string, line int) {
	statements, ok := parsed(source)
	if !ok {
		return "", 0
	}
	set := map[string]bool{}
	var called *ast.IdentExpr
	visit(reflect.ValueOf(statements), func(node any) bool {
		for _, name := range setBy(node) {
			set[name] = true
		}
		if statement, ok := node.(*ast.FuncCallStmt); ok && called == nil {
			called = calledName(statement)
		}
		return false
	})
	if called == nil || set[called.Value] {
		return "", 0
	}
	return called.Value, called.Line()
}

// calledName is the name that a statement calls if it is nearly return.
func calledName(statement *ast.FuncCallStmt) *ast.IdentExpr {
	call, ok := statement.Expr.(*ast.FuncCallExpr)
	if !ok {
		return nil
	}
	name, ok := call.Func.(*ast.IdentExpr)
	if !ok || suggest.Nearest(name.Value, []string{"return"}) == "" {
		return nil
	}
	return name
}

// WrongMatching is the first place where a script sets matching to what is surely neither true nor false, and what that
// is. Evaluate refuses such a result. It is empty when there is none.
func WrongMatching(source string) (what string, line int) {
	statements, ok := parsed(source)
	if !ok {
		return "", 0
	}
	note := func(key, value ast.Expr) {
		text, ok := key.(*ast.StringExpr)
		if !ok || !strings.EqualFold(text.Value, "matching") || what != "" {
			return
		}
		if typ := knownType(value); typ != "" && typ != aBoolean {
			what, line = typ, value.Line()
		}
	}
	visit(reflect.ValueOf(statements), func(node any) bool {
		switch node := node.(type) {
		case *ast.Field:
			note(node.Key, node.Value)
		case *ast.AssignStmt:
			for i := range min(len(node.Lhs), len(node.Rhs)) {
				if target, ok := node.Lhs[i].(*ast.AttrGetExpr); ok {
					note(target.Key, node.Rhs[i])
				}
			}
		}
		return false
	})
	return what, line
}
