// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cel

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// raw is an object of a made-up kind with that JSON.
func raw(text string) object.Object {
	kind := object.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Thing"), Resource: "things", Namespaced: true}
	return object.Object{Kind: kind, Raw: []byte(text), Namespace: "default", Name: "thing"}
}

// ask evaluates one expression.
func ask(t *testing.T, expression string, o object.Object) (bool, error) {
	t.Helper()
	matches, _, err := compiled(t, v1alpha1.MatchCondition{Name: "c", Expression: expression}).NewRun(noon).Evaluate(t.Context(), o)
	return matches, err
}

const thing = `{"metadata":{"name":"thing","namespace":"default","creationTimestamp":"2026-03-01T12:00:00Z","labels":{"a.b/c":"d"}},
	"spec":{"replicas":3,"ratio":0.5,"big":9223372036854775808,"whole":1.0,"on":true,"none":null,"text":"hello","list":[3,1,2],"mixed":[1,"a",null,{"k":[]}],
	"cpu":"1500m","ip":"10.1.2.3","url":"https://example.com:8080/a?b=c","version":"1.2.3","ports":[{"name":"http","port":80},{"name":"https","port":443}],
	"in":"reserved","x-y":"dashed","dup":1,"dup":2,"\u0061bc":"escaped"}}`

func TestExpressions(t *testing.T) {
	for _, test := range []struct{ name, expression string }{
		{"kind and apiVersion are there", "object.kind == 'Thing' && object.apiVersion == 'v1'"},
		{"now", "now == timestamp('2026-03-04T12:00:00Z')"},
		{"age", "now - timestamp(object.metadata.creationTimestamp) == duration('72h')"},
		{"day of the week", "now.getDayOfWeek() == 3 && now.getHours('Europe/Berlin') == 13"},
		{"int", "type(object.spec.replicas) == int && object.spec.replicas == 3"},
		{"double", "type(object.spec.ratio) == double && object.spec.ratio < 1"},
		{"too large for an int", "type(object.spec.big) == double && object.spec.big > 9e18"},
		{"1.0 is a double that equals 1", "type(object.spec.whole) == double && object.spec.whole == 1"},
		{"bool", "object.spec.on"},
		{"null is there", "has(object.spec.none) && object.spec.none == null && type(object.spec.none) == null_type"},
		{"missing is not", "!has(object.spec.missing) && !('missing' in object.spec)"},
		{"text", "object.spec.text.startsWith('he') && size(object.spec.text) == 5"},
		{"label by index", "object.metadata.labels['a.b/c'] == 'd'"},
		{"plain names", "object.metadata.namespace == 'default' && object.spec['in'] == 'reserved' && object.spec['x-y'] == 'dashed'"},
		{"the last of two counts", "object.spec.dup == 2 && object.spec.filter(k, k == 'dup').size() == 1"},
		{"a name with escapes", "object.spec.abc == 'escaped'"},
		{"map size and keys", "object.metadata.size() == 4 && object.metadata.map(k, k) == ['name', 'namespace', 'creationTimestamp', 'labels']"},
		{"root keys", "object.map(k, k) == ['apiVersion', 'kind', 'metadata', 'spec']"},
		{"equal to literals", "object.metadata.labels == {'a.b/c': 'd'} && {'a.b/c': 'd'} == object.metadata.labels"},
		{"list literals", "object.spec.list == [3, 1, 2] && [3, 1, 2] == object.spec.list && object.spec.list != [1, 2, 3]"},
		{"mixed list", "object.spec.mixed == [dyn(1), dyn('a'), dyn(null), dyn({'k': []})] && [dyn(1), dyn('a'), dyn(null), dyn({'k': []})] == object.spec.mixed"},
		{"in", "2 in object.spec.list && object.spec.replicas in [1, 2, 3] && object.spec.text in ['hello', 'you']"},
		{"concatenation", "object.spec.list + [4] == [3, 1, 2, 4] && ([0] + object.spec.list).size() == 4"},
		{"all, exists", "object.spec.ports.all(p, p.port > 1) && object.spec.ports.exists_one(p, p.name == 'http')"},
		{"map and filter", "object.spec.ports.filter(p, p.port > 100).map(p, p.name) == ['https']"},
		{"two variables", "object.spec.ports.all(i, p, i < 2 && p.port > 0) && object.metadata.labels.exists(k, v, k == 'a.b/c' && v == 'd')"},
		{"transformMap", "object.metadata.labels.transformMap(k, v, v + '!') == {'a.b/c': 'd!'}"},
		{"optional", "object.?spec.?missing.orValue(7) == 7 && object.?spec.?replicas.orValue(7) == 3"},
		{"optional index", "object.metadata.?labels[?'a.b/c'].hasValue() && !object.spec.list[?9].hasValue()"},
		{"quantity", "quantity(object.spec.cpu).isGreaterThan(quantity('1')) && isQuantity('1Gi') && !isQuantity('x')"},
		{"no quantities", "['preview-9', 'review-1', 'release-1', 'team-e-1', 'preview9', 'e1000', '', '1ex1000'].all(t, !isQuantity(t))"},
		{"no quantities, of constants", "!isQuantity('preview-9') && !isQuantity('1e1000-x')"},
		{"quantities of any case", "['1e3', '1E-3', '1e+03', '1e0001', '-.5Ki', '12'].all(t, isQuantity(t))"},
		{"no quantity, and long", "!isQuantity(lists.range(200).map(i, 'a').join()) && !isQuantity(lists.range(200).map(i, '1').join('-'))"},
		{"matches", "object.spec.text.matches('^h.*o$') && !object.spec.text.matches('x')"},
		{"find", "object.spec.text.find('l+') == 'll' && object.spec.text.findAll('[a-z]', 2) == ['h', 'e']"},
		{"a pattern that is not known beforehand", "object.spec.text.matches('^' + object.spec.text) && object.spec.text.find(object.spec.text) == 'hello'"},
		{"url", "url(object.spec.url).getHostname() == 'example.com' && isURL(object.spec.url)"},
		{"ip", "ip(object.spec.ip).family() == 4 && isIP(object.spec.ip)"},
		{"cidr", "cidr('10.0.0.0/8').containsIP(object.spec.ip)"},
		{"semver", "semver(object.spec.version).isGreaterThan(semver('1.2.0'))"},
		{"lists of Kubernetes", "object.spec.list.max() == 3 && object.spec.list.sum() == 6 && object.spec.list.indexOf(1) == 1 && !object.spec.list.isSorted()"},
		{"lists", "object.spec.list.sort() == [1, 2, 3] && object.spec.list.reverse() == [2, 1, 3] && [[1], [2]].flatten() == [1, 2]"},
		{"more lists", "[1, 1].distinct() == [1] && lists.range(3) == [0, 1, 2] && object.spec.list.slice(0, 1) == [3]"},
		{"sortBy", "object.spec.ports.sortBy(p, -p.port)[0].name == 'https'"},
		{"named formats", "!format.dns1123Label().validate(object.metadata.name).hasValue()"},
		{"strings", "object.spec.text.upperAscii() == 'HELLO' && object.spec.text.replace('l', 'L') == 'heLLo' && 'a,b'.split(',').join('-') == 'a-b'"},
		{"more strings", "object.spec.text.substring(1, 3) == 'el' && object.spec.text.charAt(0) == 'h' && ' x '.trim() == 'x'"},
		{"format", "'%s has %d, %.2f'.format([object.metadata.name, object.spec.replicas, object.spec.ratio]) == 'thing has 3, 0.50'"},
		{"format of maps and lists", "'%s %s'.format([object.metadata.labels, object.spec.list]) == '{\"a.b/c\":\"d\"} [3, 1, 2]'"},
		{"sets", "sets.contains(object.spec.list, [1, 2]) && sets.intersects([9, 3], object.spec.list) && sets.equivalent(object.spec.list, [1, 2, 3])"},
		{"conversions", "string(object.spec.replicas) == '3' && int('7') == 7 && double(object.spec.replicas) == 3.0"},
		{"comparison of an int and a double", "object.spec.replicas > object.spec.ratio"},
		{"a failing half of or does not count", "object.spec.missing == 1 || true"},
		{"dyn", "dyn(object.spec.on)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if matches, err := ask(t, test.expression, raw(thing)); err != nil || !matches {
				t.Errorf("got %v, %v", matches, err)
			}
		})
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	const missing = "; a field may be missing: write has(object.spec.x) && ..., or object.?spec.?x.orValue(...)"
	const wrong = "; a value is null or has another type than the expression expects: check for null, or convert with int(...) or string(...)"
	for _, test := range []struct{ name, expression, want string }{
		{"missing key", "object.spec.missing == 1", `condition "c": line 1, column 12: no such key: missing` + missing},
		{"missing on the second line", "object.spec.on &&\nobject.spec.missing == 1", `condition "c": line 2, column 12: no such key: missing` + missing},
		{"types", "object.spec.replicas > 'a'", `condition "c": line 1, column 22: no such overload` + wrong},
		{"null", "object.spec.none > 1", `condition "c": line 1, column 18: no such overload: _>_` + wrong},
		{"conversion", "int(object.spec.text) == 1", `condition "c": line 1, column 4: type conversion error from 'string' to 'int'` + wrong},
		{"index", "object.spec.list[7] == 1", `condition "c": line 1, column 17: index out of bounds: 7; a list may be shorter: test size(...) first`},
		{"division", "1 / (object.spec.replicas - 3) == 1", `condition "c": line 1, column 3: division by zero`},
		{"not a condition", "object.spec.text", `condition "c": the result is of type string, but it must be true or false`},
		{"a map as a key", "object[object.spec] == 1", `condition "c": line 1, column 7: invalid qualifier type: *cel.mapValue`},
		{
			"long text", "object.spec[lists.range(500).map(i, object.spec.text).join()] == 1",
			`condition "c": line 1, column 12: no such key: ` + strings.Repeat("hello", 78)[:387] + "..." + missing,
		},
		{"no quantity", "quantity('preview-9').isGreaterThan(quantity('1'))", `condition "c": line 1, column 9: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`},
		{"huge number that may be a quantity", "isQuantity('1e1000000000')", `condition "c": line 1, column 11: a quantity is too long or has too large an exponent to be read`},
		{"long number that may be a quantity", "isQuantity(lists.range(200).map(i, '1').join())", `condition "c": line 1, column 11: a quantity is too long or has too large an exponent to be read`},
		{"hostile quantity", "quantity('1e1000000000').isGreaterThan(quantity('1'))", `condition "c": line 1, column 9: a quantity is too long or has too large an exponent to be read`},
	} {
		t.Run(test.name, func(t *testing.T) {
			matches, err := ask(t, test.expression, raw(thing))
			if err == nil || matches {
				t.Fatalf("got %v, %v", matches, err)
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAllMustHold(t *testing.T) {
	const yes, no, fails = "object.spec.on", "!object.spec.on", "object.spec.missing == 1"
	for _, test := range []struct {
		name        string
		expressions []string
		want        string
	}{
		{"none", nil, "matches: "},
		{"one", []string{yes}, "matches: m0"},
		{"two", []string{yes, yes}, "matches: m0; m1"},
		{"one is false", []string{yes, no, yes}, "does not match"},
		{"a false one before an error", []string{no, fails}, "does not match"},
		{"a false one behind an error", []string{fails, no}, "does not match"},
		{"an error and no false one", []string{yes, fails, yes}, "error"},
		{"an error alone", []string{fails}, "error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var conditions []v1alpha1.MatchCondition
			for i, expression := range test.expressions {
				number := string(rune('0' + i))
				conditions = append(conditions, v1alpha1.MatchCondition{Name: "c" + number, Expression: expression, Message: "m" + number})
			}
			matches, message, err := compiled(t, conditions...).NewRun(noon).Evaluate(t.Context(), raw(thing))
			got := "does not match"
			switch {
			case err != nil:
				got = "error"
			case matches:
				got = "matches: " + message
			}
			if got != test.want {
				t.Errorf("got %s (%v), want %s", got, err, test.want)
			}
			if err == nil && !matches && message != "" {
				t.Errorf("an object that does not match got the message %q", message)
			}
		})
	}
}

func TestFirstFalseEndsIt(t *testing.T) {
	run := compiled(
		t,
		v1alpha1.MatchCondition{Name: "cheap", Expression: "false"},
		v1alpha1.MatchCondition{Name: "dear", Expression: "lists.range(20000).all(x, x >= 0)"},
	).NewRun(noon)
	if matches, _, err := run.Evaluate(t.Context(), raw(thing)); matches || err != nil {
		t.Fatalf("got %v, %v", matches, err)
	}
	if spent := run.spent.Load(); spent > 10 {
		t.Errorf("%d units were spent on conditions that did not matter", spent)
	}
}

func TestMessagesOnlyOfThoseThatHaveOne(t *testing.T) {
	run := compiled(
		t,
		v1alpha1.MatchCondition{Name: "a", Expression: "true", Message: "failed"},
		v1alpha1.MatchCondition{Name: "b", Expression: "true"},
		v1alpha1.MatchCondition{Name: "c", Expression: "true", Message: "a day ago"},
	).NewRun(noon)
	if _, message, _ := run.Evaluate(t.Context(), raw(thing)); message != "failed; a day ago" {
		t.Errorf("got %q", message)
	}
}

func TestEndedContextIsNoAnswer(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the operator stops")
	cancel(cause)
	run := compiled(t, v1alpha1.MatchCondition{Name: "a", Expression: "object.l.all(x, x < 0 || true)"}).NewRun(noon)
	if matches, _, err := run.Evaluate(ctx, raw(`{"l":[1`+strings.Repeat(",1", 5000)+`]}`)); matches || !errors.Is(err, cause) {
		t.Fatalf("got %v, %v", matches, err)
	}
	if spent := run.spent.Load(); spent > 20*interruptEvery {
		t.Errorf("it went on for %d units", spent)
	}
}

func TestNothingOfAnObjectIsKept(t *testing.T) {
	mem := new(memory)
	root := &mapValue{text: object.JSON(thing), mem: mem}
	if root.Size() == nil || len(mem.entries) == 0 {
		t.Fatal("nothing was read")
	}
	mem.reset()
	for i, e := range mem.entries[:cap(mem.entries)] {
		if e.key != nil || e.text != nil || e.val != nil {
			t.Errorf("entry %d is still there", i)
		}
	}
	mem.entries = make([]entry, 5, 10*maxKept)
	if mem.reset(); cap(mem.entries) > maxKept {
		t.Errorf("memory for %d entries is kept", cap(mem.entries))
	}
}

// A Program and a Run serve several lists at once; values of one object must never be seen in another.
func TestManyAtOnce(t *testing.T) {
	run := compiled(t, v1alpha1.MatchCondition{
		Name:       "own",
		Expression: "object.spec.all(k, object.spec[k] == object.name) && object.spec.size() == 3 && object.spec == {'a': object.name, 'b': object.name, 'c': object.name}",
	}).NewRun(noon)
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 300 {
				name := strings.Repeat(string(rune('a'+worker)), 1+i%50)
				o := raw(strings.ReplaceAll(`{"name":"X","spec":{"a":"X","b":"X","c":"X"}}`, "X", name))
				if matches, _, err := run.Evaluate(t.Context(), o); err != nil || !matches {
					t.Errorf("got %v, %v", matches, err)
					return
				}
			}
		})
	}
	group.Wait()
}
