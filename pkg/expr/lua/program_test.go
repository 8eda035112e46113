// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestCompileErrors(t *testing.T) {
	cases := []struct{ name, source, want string }{
		{"token", "x = 1\n\nlocal function (", "line 3, column 16: syntax error near '(': local function ("},
		{"keyword", "x = 1\n  if x = 2 then\nend", "line 2, column 8: syntax error near '=': if x = 2 then"},
		{"misspelled", "x = 1\nretrn hs", "line 2, column 7: parse error near 'hs'; did you mean return instead of retrn?: retrn hs"},
		{"misspelled token", "if a annd b then end", "line 1, column 6: syntax error near 'annd'; did you mean and instead of annd?: if a annd b then end"},
		{"misspelled before a line", "if a then\n  b = 1\nelsif c\nthen end", "line 3, column 7: parse error near 'c'; did you mean elseif instead of elsif?: elsif c"},
		{"misspelled at the end", "function evaluate() x() retrun", "line 1, column 31: parse error near the end of the script; did you mean return instead of retrun?: function evaluate() x() retrun"},
		{"a name twice", "retrn = 1\nretrn hs", "line 2, column 7: parse error near 'hs': retrn hs"},
		{"a field", "x = obj.retrn )", "line 1, column 15: syntax error near ')': x = obj.retrn )"},
		{"no keyword", "x = 1\nhelper hs", "line 2, column 8: parse error near 'hs': helper hs"},
		{"a keyword", "x = 1\nreturn hs x", "line 2, column 11: syntax error near 'x': return hs x"},
		{"end", "function evaluate()\n  return {}\n\n", "line 2, column 12: syntax error near the end of the script: return {}"},
		{"string", "x = 'abc", "line 1, column 9: unterminated string near the end of the script: x = 'abc"},
		{"compiler", "x = 1\n  break", "line 2, column 3: no loop to break: break"},
		{
			"nesting", "x = 1\ny = a" + strings.Repeat("+a", maxNesting),
			"line 2, column 1: nested deeper than 400 levels; split long chains of operators, or use a table: " +
				("y = a" + strings.Repeat("+a", maxNesting))[:textLimit],
		},
		{"length", strings.Repeat(" ", MaxSource+1), "the script is 65537 bytes long, the limit is 65536: remove what it does not need"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile(c.source)
			if text(err) != c.want {
				t.Errorf("got  %s\nwant %s", text(err), c.want)
			}
			var syntax *SyntaxError
			if c.name != "length" && !errors.As(err, &syntax) {
				t.Errorf("%T is no *SyntaxError", err)
			}
		})
	}
}

func TestCompileAcceptsWhatIsSloppyButLegal(t *testing.T) {
	for _, source := range []string{
		"", "-- only a comment", "return 1", "evaluate = 3", "goto done ::done::",
		strings.Repeat("x=1 ", MaxSource/4),
		"x = a" + strings.Repeat(" or a", 300),
		"if a then b() " + strings.Repeat("elseif a then b() ", 150) + "end",
	} {
		if _, err := Compile(source); err != nil {
			t.Errorf("Compile(%.20q): %v", source, err)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		"function evaluate() return {matching=true} end", "x = ((((1))))", "local a <", "[==[", "--[[", "'\\", "\xff",
		"for i=1,2 do break end", "goto a", "a.b.c:d{}[[x]]'y'", "x = 0x", "return ...", "x = 1e", "a\r\r\rb c",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 2048 {
			t.Skip()
		}
		program, err := Compile(source)
		if (program == nil) == (err == nil) {
			t.Fatalf("program %v and error %v", program, err)
		}
		var syntax *SyntaxError
		if errors.As(err, &syntax) && (syntax.Line < 1 || syntax.Column < 1) {
			t.Fatalf("line %d, column %d", syntax.Line, syntax.Column)
		}
	})
}

// TestCompileBombs compiles the largest scripts of shapes that are slow to compile. Without limits some take minutes.
func TestCompileBombs(t *testing.T) {
	chain := func(before, again, after string) string {
		return before + strings.Repeat(again, (MaxSource-len(before)-len(after))/len(again)) + after
	}
	nested := func(open, inner, closing string) string {
		n := (MaxSource - len(inner) - 4) / (len(open) + len(closing))
		return "x = " + strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
	}
	const deep, registers = "nested deeper than 400 levels", "needs too many values at once"
	cases := []struct{ name, source, want string }{
		{"sum", chain("x=a", "+a", ""), deep},
		{"concatenation", chain("x=a", "..a", ""), deep},
		{"short concatenation", "x=a" + strings.Repeat("..a", 250), registers},
		{"power", chain("x=a", "^a", ""), deep},
		{"or", chain("x=a", " or a", ""), deep},
		{"not", chain("x=", "not ", "a"), deep},
		{"length", chain("x=", "#", "a"), deep},
		{"fields", chain("x=a", ".a", ""), deep},
		{"calls", chain("x=a", "()", ""), deep},
		{"parentheses", nested("(", "1", ")"), ""},
		{"tables", nested("{", "1", "}"), deep},
		{"arguments", nested("f(", "1", ")"), deep},
		{"functions", nested("function() return ", "1", " end"), deep},
		{"blocks", strings.Repeat("do ", 9000) + strings.Repeat("end ", 9000), deep},
		{"locals", chain("", "local a ", ""), "too many local variables"},
		{"many values", chain("f(a", ",a", ")"), registers},
		{"list", chain("x={a", ",a", "}"), ""},
		{"deep chains", chain("", "x=a"+strings.Repeat("+a", 380)+" ", ""), ""},
		{"branches", chain("", "if a then b() elseif c then d() end ", ""), ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			_, err := Compile(c.source)
			if took := time.Since(start); took > time.Minute { // without the limits it is minutes, or the end of the process
				t.Errorf("took %s", took)
			}
			if !strings.Contains(text(err), c.want) || (err == nil) != (c.want == "") {
				t.Errorf("got %.200s, want %q", text(err), c.want)
			}
		})
	}
}
