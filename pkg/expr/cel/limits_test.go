// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
)

// largeObject has long lists, a long text and a deep tree: about a megabyte.
func largeObject(tb testing.TB) string {
	tb.Helper()
	numbers, texts := make([]int, 20_000), make([]string, 5_000)
	for i := range numbers {
		numbers[i] = i
	}
	for i := range texts {
		texts[i] = fmt.Sprintf("%064d", i)
	}
	text, err := json.Marshal(map[string]any{
		"numbers": numbers, "texts": texts, "long": strings.Repeat("a", 200_000), "huge": "1e1000000000", "digits": strings.Repeat("9", 100_000),
		"deep": json.RawMessage(strings.Repeat(`{"a":[`, 5_000) + strings.Repeat(`]}`, 5_000)), "pattern": strings.Repeat("(a?){999}", 20),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// doubled is an expression whose value is a list that holds itself so many times over that it cannot be read to its end.
func doubled(times int) string { return "[[1, 2]]" + strings.Repeat(".map(x, x + x)", times) + "[0]" }

// nested is the same with lists in lists.
func nested(times int) string {
	return "[dyn([1, 2])]" + strings.Repeat(".map(x, dyn([x, x, x, x]))", times) + "[0]"
}

// What a hostile expression may take. It is far more than any takes: the race detector makes everything twenty times slower,
// and what is not contained takes hours and all the memory there is.
const (
	hostileTime   = 30 * time.Second
	hostileMemory = 1024 // MiB, allocated in all
)

// What is hostile ends soon, with an error that names the limit, and takes little memory on the way.
func TestHostileExpressions(t *testing.T) {
	text, large := strings.Repeat("a", 4000), raw(largeObject(t))
	for _, test := range []struct{ name, expression string }{
		{"loops in loops", "object.numbers.all(a, object.numbers.all(b, object.numbers.all(c, a + b + c >= 0)))"},
		{"loops in loops of constants", "lists.range(1000).all(a, lists.range(1000).all(b, lists.range(1000).all(c, true)))"},
		{"maps of maps", "object.numbers.map(a, object.numbers.map(b, object.numbers)).size() > 1"},
		{"search in a loop", "object.texts.all(a, a in object.texts)"},
		{"a slow pattern", "object.long.matches('" + strings.Repeat("(a?){99}", 100) + "b')"},
		{"a slow pattern in a loop", "object.texts.all(a, object.long.matches('(a|aa)+b') || true)"},
		{"a pattern from the object", "object.long.matches(object.pattern)"},
		{"patterns from the object in a loop", "object.texts.all(a, a.matches(a + object.texts[0] + a + a + a) || true)"},
		{"all that is found", "object.numbers.map(a, object.long.findAll('a')).size() > 1"},
		{"replace makes it grow", "'" + text + "'.replace('a', '" + text + "').replace('a', '" + text + "').replace('a', '" + text + "').size() > 1"},
		{"replace of nothing makes it grow", "object.long.replace('', object.long).size() > 1"},
		{"join makes it grow", "object.numbers.map(a, object.long).join(object.long).size() > 1"},
		{"join in steps", "object.texts.map(a, object.texts.join()).join().size() > 1"},
		{"format makes it grow", "'%s%s%s'.format([" + nested(12) + ", " + nested(12) + ", 1]).size() > 1"},
		{"format with a long number", "'%.999999999f'.format([1.5]).size() > 1"},
		{"texts that double", "['a']" + strings.Repeat(".map(x, x + x)", 60) + ".size() > 1 && ['a']" + strings.Repeat(".map(x, x + x)", 60) + "[0].size() > 9"},
		{"quoted again and again", "object.numbers.map(a, strings.quote(object.long)).size() > 1"},
		{"upper case again and again", "object.numbers.map(a, object.long.upperAscii()).size() > 1"},
		{"split again and again", "object.numbers.map(a, object.long.split('')).size() > 1"},
		{"a huge range", "lists.range(1000000).size() > 1"},
		{"ranges in a loop", "object.numbers.map(a, lists.range(90000)).size() > 1"},
		{"a list that doubles, compared", doubled(60) + " == " + doubled(60)},
		{"a list that doubles, searched", "7 in " + doubled(60)},
		{"a list that doubles, reversed", doubled(40) + ".reverse().size() > 1"},
		{"a list that doubles, summed", doubled(60) + ".sum() > 1"},
		{"a list that doubles, looped over", doubled(30) + ".all(x, x > 0)"},
		{"a list that doubles, as a set", "sets.contains(" + doubled(60) + ", [7])"},
		{"lists in lists, compared", nested(30) + " == " + nested(30)},
		{"lists in lists, flattened", nested(20) + ".flatten(30).size() > 1"},
		{"lists in lists, flattened again and again", "object.numbers.map(a, " + nested(7) + ".flatten(30)).size() > 1"},
		{"distinct", "object.texts.distinct().size() > 1"},
		{"equal again and again", "object.numbers.all(a, object.texts == object.texts)"},
		{"sorted again and again", "object.numbers.all(a, object.numbers.sort().size() > 1)"},
		{"a text searched in a text", "['" + text + "'].map(x, x + x).map(x, x + x).map(x, x + x).all(n, [n + n].all(h, h.indexOf(n + 'b') == 0))"},
		{"a text searched from the end", "['" + text + "'].map(x, x + x).map(x, x + x).map(x, x + x).all(n, [n + n].all(h, h.lastIndexOf('b' + n) == 0))"},
		{"a long text measured", "lists.range(700).all(i, " + strings.Repeat("size(object.long) + ", 30) + "0 > i)"},
		{"sets of sets", "sets.equivalent(object.numbers, object.numbers)"},
		{"map of everything", "object.numbers.transformMap(i, v, {'a': object.numbers, 'b': object.texts}).size() > 1"},
		{"quantities", "object.numbers.all(a, quantity(object.huge).isGreaterThan(quantity('1')))"},
		{"digits", "quantity(object.digits).isGreaterThan(quantity('1'))"},
		{"a deep tree", "object.numbers.all(a, object.deep == object.deep)"},
		{"a deep tree as text", "object.numbers.map(a, '%s'.format([object.deep])).size() > 1"},
		{"urls", "object.numbers.all(a, isURL('https://' + object.long) || true)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			program, err := Compile([]v1alpha1.MatchCondition{{Name: "hostile", Expression: test.expression}})
			if err != nil {
				if !strings.Contains(err.Error(), "a regular expression may have") {
					t.Error(err)
				}
				return
			}
			matches, _, err := program.NewRun(noon).Evaluate(t.Context(), large)
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%v, %d MiB allocated in all: %v", took, allocated, err)
			var limit *LimitError
			switch {
			case errors.As(err, &limit) && !limit.Whole && limit.Condition == "hostile":
			case err != nil && strings.Contains(err.Error(), "a quantity is too long"):
			default:
				t.Errorf("got %v, %v; want the limit", matches, err)
			}
			if took > hostileTime {
				t.Errorf("it took %v", took)
			}
			if allocated > hostileMemory {
				t.Errorf("it allocated %d MiB", allocated)
			}
		})
	}
}

// Compiling, too, must be bounded: the texts are the users'.
func TestHostileToTheCompiler(t *testing.T) {
	for name, expression := range map[string]string{
		"a long sum":         "1" + strings.Repeat("+1", 8000) + " == 1",
		"a long or":          "true" + strings.Repeat("||true", 2700),
		"a long list":        "[1" + strings.Repeat(",1", 8000) + "] == []",
		"a long map":         "{1:1" + strings.Repeat(",1:1", 4000) + "} == {}",
		"macros in macros":   strings.Repeat("[1].all(x, ", 1300) + "true" + strings.Repeat(")", 1300),
		"a chain of macros":  "[1]" + strings.Repeat(".map(x,x)", 1800) + " == []",
		"optionals":          "object" + strings.Repeat(".?a", 5000) + ".hasValue()",
		"many patterns":      "object.a.matches('(a{100}){9}')" + strings.Repeat(" || object.a.matches('(a{100}){9}')", 400),
		"constant durations": "[duration('1h')" + strings.Repeat(",duration('1h')", 1000) + "] == []",
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			_, err := Compile([]v1alpha1.MatchCondition{{Name: "c", Expression: expression}})
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			t.Logf("%v, %d MiB allocated in all, error: %v", took, (after.TotalAlloc-before.TotalAlloc)>>20, err != nil)
			if took > hostileTime {
				t.Errorf("it took %v", took)
			}
			if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > hostileMemory {
				t.Errorf("it allocated %d MiB", allocated)
			}
		})
	}
}

func TestLimitIsOfAllConditionsTogether(t *testing.T) {
	one := v1alpha1.MatchCondition{Name: "first", Expression: "lists.range(25000).size() > 1"}
	second := one
	second.Name = "second"
	if matches, _, err := compiled(t, one).NewRun(noon).Evaluate(t.Context(), raw("{}")); err != nil || !matches {
		t.Fatalf("got %v, %v", matches, err)
	}
	matches, _, err := compiled(t, one, second).NewRun(noon).Evaluate(t.Context(), raw("{}"))
	var limit *LimitError
	if matches || !errors.As(err, &limit) {
		t.Fatalf("got %v, %v", matches, err)
	}
	want := `condition "second": the conditions cost more than 100000 units on one object; avoid loops within loops and texts ` +
		`that grow, or put a cheaper condition first`
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestRunHasALimit(t *testing.T) {
	run := compiled(t, v1alpha1.MatchCondition{Name: "any", Expression: "true || object.x"}).NewRun(noon)
	run.spent.Store(runCost - 1)
	var err error
	for range 10 {
		if _, _, err = run.Evaluate(t.Context(), raw("{}")); err != nil {
			break
		}
		run.spent.Add(1)
	}
	var limit *LimitError
	if !errors.As(err, &limit) || !limit.Whole {
		t.Fatalf("got %v", err)
	}
	want := `the conditions used up the 1000000000 cost units of a whole run; select fewer objects with ` +
		`labelFilters or namespace, put the cheapest condition first, or make the expressions cheaper`
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestEveryStepIsPaidFor(t *testing.T) {
	for _, test := range []struct {
		expression string
		want       uint64
	}{
		{"true", 0},
		{"object.spec.on", 3}, // each name is a step
		{"object.spec.on && object.spec.on", 6},
		{"[object.spec.on] != []", 16}, // making the list is 10
		{"object.spec.list.all(x, x > 0)", 28},
		{"object.spec.list.map(x, x).size() == 3", 47},
		{"object.spec.text.upperAscii() == 'HELLO'", 9},
	} {
		run := compiled(t, v1alpha1.MatchCondition{Name: "c", Expression: test.expression}).NewRun(noon)
		if matches, _, err := run.Evaluate(t.Context(), raw(thing)); err != nil || !matches {
			t.Errorf("%s: got %v, %v", test.expression, matches, err)
		}
		if got := run.spent.Load(); got != test.want {
			t.Errorf("%s: %d units, want %d", test.expression, got, test.want)
		}
	}
}

// What an ordinary condition costs leaves room for a million objects.
func TestOrdinaryConditionsAreCheap(t *testing.T) {
	o := realPod(t)
	for _, expression := range []string{
		"object.status.phase == 'Succeeded' && now - timestamp(object.metadata.creationTimestamp) > duration('24h')",
		"object.status.conditions.all(c, c.status == 'True') && object.spec.containers.exists(c, c.image.matches('^registry.*:1[.]'))",
		"object.metadata.?labels[?'app'].orValue('') == 'batch'",
		"object.metadata.ownerReferences.exists(o, o.kind == 'ReplicaSet') && 'checksum/config' in object.metadata.annotations",
	} {
		run := compiled(t, v1alpha1.MatchCondition{Name: "c", Expression: expression}).NewRun(noon)
		if matches, _, err := run.Evaluate(t.Context(), o); err != nil || !matches {
			t.Errorf("%s: got %v, %v", expression, matches, err)
		}
		t.Logf("%d units: %s", run.spent.Load(), expression)
		if spent := run.spent.Load(); spent == 0 || spent > runCost/1_000_000 {
			t.Errorf("%s: %d units", expression, spent)
		}
	}
}
