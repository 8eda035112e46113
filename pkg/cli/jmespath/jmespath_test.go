// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package jmespath_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/jmespath"
	"github.com/kubecleaner/kubecleaner/pkg/expr/cel"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// thing is what conditions are asked about.
const thing = `{"metadata": {"name": "pr-12", "creationTimestamp": "2024-05-06T07:08:09Z", "labels": {"app": "web", "app.kubernetes.io/name": "it's", "empty": ""}},
"spec": {"replicas": 0, "paused": false, "on": true, "list": ["a", "b"], "none": [], "nothing": null, "text": "abc", "in": 1, "zero": 0.0}}`

func translate(text string) (string, error) {
	e, err := jmespath.Parse(text)
	if err != nil {
		return "", err
	}
	return jmespath.Condition(e)
}

func holds(t *testing.T, expression string) (bool, error) {
	t.Helper()
	program, err := cel.Compile([]v1alpha1.MatchCondition{{Name: "c", Expression: expression}})
	if err != nil {
		t.Fatalf("%s does not compile: %v", expression, err)
	}
	matches, _, err := program.NewRun(time.Unix(0, 0)).Evaluate(t.Context(), object.Object{Raw: []byte(thing)})
	return matches, err
}

// TestConditions: what JMESPath says of the thing, by its own rules: what is missing, null, empty or false is not true, and unequal to everything.
func TestConditions(t *testing.T) {
	for text, want := range map[string]bool{
		"metadata.name == 'pr-12'": true, "metadata.name != 'pr-12'": false, "'pr-12' == metadata.name": true,
		"metadata.name == 'x' || metadata.labels.app == 'web'": true,
		"starts_with(metadata.name, 'pr-')":                    true, "ends_with(metadata.name, '-1')": false, "!starts_with(metadata.name, 'pr-')": false,
		"contains(metadata.name, 'r-1')":            true,
		"metadata.creationTimestamp > '2018-06-04'": true, "metadata.creationTimestamp > '2024-05-06T07:08:09Z'": false,
		"'2024-05-06T07:08:09Z' >= metadata.creationTimestamp": true, "metadata.creationTimestamp < '2024-05-06'": false,
		"metadata.labels.app < 'x'": true, "metadata.labels.other < 'x'": false, "metadata.labels.empty <= ''": true,
		"metadata.labels.app": true, "metadata.labels.other": false, "!(metadata.labels.other)": true, "!spec": false, "!none": true, "!(metadata.labels.app)": false,
		"metadata.labels.empty":                               false,
		`metadata.labels."app.kubernetes.io/name" == 'it\'s'`: true, `metadata.labels."app.kubernetes.io/none" == 'x'`: false,
		"metadata.annotations.a == 'x'": false,
		"metadata.annotations.a != 'x'": true, "metadata.annotations": false, "metadata.labels": true, "spec.none": false, "spec.list": true,
		"spec.list[]": true, "spec.none[*]": false,
		"spec.replicas == `0`": true, "spec.replicas < `1`": true, "spec.replicas >= `1`": false, "`1` > spec.replicas": true,
		"`1` <= spec.replicas": false, "spec.missing < `1`": false,
		"spec.paused": false, "spec.on": true, "spec.on == `true`": true, "spec.nothing": false, "spec.nothing == `null`": true,
		"spec.missing == `null`": true, "spec.text != `null`": true,
		"length(spec.list) == `2`": true, "length(spec.list) > `2`": false, "spec.list[0] == 'a'": true, "spec.list[5] == 'a'": false,
		"contains(spec.list, 'b')":  true,
		"contains(spec.text, 'bc')": true, "contains(spec.list, 'bc')": false, "contains(spec.missing, 'a')": false, "spec.in == `1`": true,
		"spec.list == `[\"a\",\"b\"]`":                        true,
		"(metadata.name == 'x' || spec.on) && !(spec.paused)": true, "metadata.name == 'x' && spec.on || spec.on": true,
		"spec.text == `\"abc\"`": true,
		// kube-janitor asks Python whether the result is true, and 0 is not. Inside an expression, it is.
		"spec.replicas": false, "spec.in": true, "metadata.name && spec.replicas": false, "spec.replicas && metadata.name": true,
		"spec.replicas || metadata.labels.app": false, "spec.missing || metadata.labels.app": true, "spec.text || spec.replicas": true,
		"spec.paused || spec.replicas": false, "!(spec.replicas)": false, "(spec.replicas || spec.missing) && spec.on": true,
		"spec.on && (spec.replicas || spec.on)": false, "(metadata.name && spec.replicas) || spec.on": false, "spec.zero": false,
		// Of what is missing, a function is an error.
		"!starts_with(metadata.labels.other, 'a')": false, "!contains(spec.missing, 'a')": false, "!(contains(spec.text, 'x'))": true,
		"length(spec.missing) != `2`": false, "length(spec.list) != `3`": true, "!ends_with(metadata.labels.app, 'x')": true,
	} {
		expression, err := translate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := holds(t, expression); got != want || err != nil {
			t.Errorf("%s, in CEL %s, is %t (%v), want %t", text, expression, got, err, want)
		}
	}
}

// TestRefused: what is not known is refused, with what it is.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"": "found the end, but a field", "a.": "found the end, but a field is expected here", "a b": `found "b", but nothing more is expected here`,
		"a | b": `import does not support "|" here`,
		"a[?b]": `import does not support "?" here`, "a[-1]": `import does not support "-" here`, "a[0": "import supports [...] only", "a[b]": "import supports [...] only",
		"a[].b == 'x'":   "import supports [] only at the end",
		"keys(a) == 'x'": "import does not support the function keys", "to_number(a)": "import does not support the function to_number",
		"length(a)": "import does not support the function length",
		"a == b":    "import supports a comparison only with a text", "a < 'x'": "import supports < only with a number", "'x'": "a text or a number alone",
		"contains(a)":    "contains takes a field and a text",
		"contains(a, b)": "contains takes a field and a text", "(a": "found the end, but ) is expected here",
		"f(a": "found the end, but , or ) is expected here", "'a": "' has no end",
		"`{`": "`{` is no JSON", "a == `{\"b\": 1}`": "import does not support a value of this type", "_context.random": "import supports _context only in",
		"@.a": `import does not support "@" here`,
		// ! binds tighter than the . behind it.
		"!a.b":           "!a.b is never true, because JMESPath reads the ! first; if you mean !(a.b), write that",
		`c && !a[0]."b"`: `!a[0]."b" is never true`, "!(!a.b)": "!a.b is never true", "!!a.b": "!a.b is never true", "!a[]": "!a[] is never true",
		"!a == 'x'": "import supports a comparison only of a field", "a[99999999999999999999]": "out of range", "\"a\\q\"": "invalid character",
		strings.Repeat("(", 60) + "a" + strings.Repeat(")", 60): "nested more than 50 levels",
	} {
		if got, err := translate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %s (%v), want %s", text, got, err, want)
		}
	}
}

func TestRoot(t *testing.T) {
	e, err := jmespath.Parse("target.spec.on")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := jmespath.Condition(e, "target"); err != nil || !strings.Contains(got, "object.spec.on") {
		t.Errorf("%s (%v)", got, err)
	}
	for _, text := range []string{"request.object", "target"} {
		if e, err = jmespath.Parse(text); err != nil {
			t.Fatal(err)
		}
		if got, err := jmespath.Condition(e, "target"); err == nil {
			t.Errorf("%s is %s", text, got)
		}
	}
}

// TestQuote: a text is the same text in CEL.
func TestQuote(t *testing.T) {
	for _, text := range []string{"", "plain", "it's", `"`, `a\b`, "a\nb\tc", "\u202e", "é€😀", "\x00", "{{ }}"} {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		program, err := cel.Compile([]v1alpha1.MatchCondition{{Name: "c", Expression: "object.a == " + jmespath.Quote(text)}})
		if err != nil {
			t.Errorf("%q does not compile: %v", text, err)
			continue
		}
		if is, _, err := program.NewRun(time.Unix(0, 0)).Evaluate(t.Context(),
			object.Object{Raw: []byte(`{"a": ` + string(quoted) + `}`)}); !is || err != nil {
			t.Errorf("%q is another text: %v", text, err)
		}
	}
}

// FuzzTranslate: nothing panics, and what is not refused compiles.
func FuzzTranslate(f *testing.F) {
	for _, text := range []string{
		"a.b == 'c' && !d", "starts_with(a, 'b') || a[0].\"c d\" < `3`", "length(a[]) == `2`",
		"contains(metadata.labels.x, 'y')", "((", "`[1,2]` == a",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		expression, err := translate(text)
		if err != nil || len(expression) > 10_000 {
			return
		}
		if _, err := cel.Compile([]v1alpha1.MatchCondition{{Name: "c", Expression: expression}}); err != nil {
			t.Errorf("%q is %s in CEL, which does not compile: %v", text, expression, err)
		}
	})
}
