// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// unused is a script in the manner of the published ones: a ConfigMap that no Pod's env names.
const unused = `
function evaluate()
	local used, result = {}, {}
	for _, r in ipairs(resources) do
		if r.kind == "Pod" then for _, e in ipairs(r.spec.containers[1].env or {}) do used[e.name] = true end end
	end
	for _, r in ipairs(resources) do
		if r.kind == "ConfigMap" and not used[r.metadata.name] then table.insert(result, {resource=r, message="unused " .. r.metadata.name}) end
	end
	return {resources=result}
end`

func addAll(t testing.TB, a *Aggregate, objects ...object.Object) {
	t.Helper()
	for _, o := range objects {
		if err := a.Add(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

func selectedNames(selected []Selected) []string {
	var names []string
	for _, one := range selected {
		names = append(names, fmt.Sprintf("%d %s %s", one.Index, one.Object, one.Message))
	}
	return names
}

func TestAggregate(t *testing.T) {
	s := open(t, newPool(t, Config{}), Options{})
	a := s.Aggregate(unused)
	addAll(t, a, configMap(t, "a", "1"), pod(t, 1), configMap(t, "SETTING_03", "2"), configMap(t, "b", "3"))
	got, err := a.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]string{"0 ConfigMap default/a unused a", "3 ConfigMap default/b unused b"}, selectedNames(got)); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff(configMap(t, "b", "3"), got[1].Object); diff != "" {
		t.Error(diff)
	}
	if _, err := a.Finish(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("a second Finish: %v", err)
	}
	if match, err := s.Evaluate(t.Context(), behave, configMap(t, "c", "yes")); err != nil || !match.Matching {
		t.Errorf("afterwards: %v, %v", match, err)
	}
}

// TestUnchosen: what a script may look at and not choose counts where it speaks against a choice, and nowhere else.
func TestUnchosen(t *testing.T) {
	const keepTheLast = `function evaluate()
		local result = {}
		for i = 1, #resources - 1 do result[i] = {resource=resources[i], message="of " .. #resources} end
		return {resources=result}
	end`
	const notTwice = `function evaluate()
		if #resources == 3 then error("three") end
		return {resources={{resource=resources[1]}}}
	end`
	objects := objectsOf(t, "a", "b", "c", "d")
	for name, test := range map[string]struct {
		script   string
		unchosen []int
		want     []string
		err      string
	}{
		"none":                {script: keepTheLast, want: []string{"0 a0 of 4", "1 b1 of 4", "2 c2 of 4"}},
		"the last":            {script: keepTheLast, unchosen: []int{3}, want: []string{"0 a0 of 3", "1 b1 of 3"}},
		"one of the others":   {script: keepTheLast, unchosen: []int{1}, want: []string{"0 a0 of 3", "2 c2 of 3"}},
		"two":                 {script: keepTheLast, unchosen: []int{0, 3}, want: []string{"1 b1 of 2"}},
		"all":                 {script: keepTheLast, unchosen: []int{0, 1, 2, 3}},
		"only with it":        {script: `function evaluate() return {resources=#resources == 4 and {{resource=resources[1]}} or {}} end`, unchosen: []int{3}},
		"only without it":     {script: `function evaluate() return {resources=#resources == 3 and {{resource=resources[1]}} or {}} end`, unchosen: []int{3}},
		"uses of what is not": {script: unused, unchosen: []int{0}, want: []string{"1 b1 unused b1", "2 c2 unused c2", "3 d3 unused d3"}},
		"an error without it": {script: notTwice, unchosen: []int{3}, err: "line 2: three"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := open(t, newPool(t, Config{}), Options{}).Choose(t.Context(), test.script, objects, test.unchosen...)
			if fmt.Sprint(err) != cmp.Or(test.err, "<nil>") {
				t.Fatal(err)
			}
			var names []string
			for _, one := range got {
				if string(one.Object.Raw) != string(objects[one.Index].Raw) {
					t.Errorf("of %d the bytes are %s", one.Index, one.Object.Raw)
				}
				names = append(names, strings.TrimSpace(fmt.Sprintf("%d %s %s", one.Index, one.Object.Name, one.Message)))
			}
			if diff := gocmp.Diff(test.want, names); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAggregateOfNothing(t *testing.T) {
	got, err := open(t, newPool(t, Config{}), Options{}).Aggregate(unused).Finish(t.Context())
	if len(got) != 0 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAggregateLeavesManagedFieldsOut(t *testing.T) {
	source := `function evaluate() return {resources={{resource=resources[1], message=tostring(resources[1].metadata.%s)}}} end`
	for field, want := range map[string]string{"uid": "0f1e2d3c-1", "managedFields": "table"} {
		a := open(t, newPool(t, Config{}), Options{}).Aggregate(fmt.Sprintf(source, field))
		addAll(t, a, pod(t, 1))
		got, err := a.Finish(t.Context())
		if err != nil || len(got) != 1 || !strings.HasPrefix(got[0].Message, want) {
			t.Errorf("%s: got %v, %v", field, selectedNames(got), err)
			continue
		}
		if strings.Contains(string(got[0].Object.Raw), "managedFields") != (field == "managedFields") {
			t.Errorf("%s: got %s", field, got[0].Object.Raw)
		}
	}
}

func TestTruncate(t *testing.T) {
	big := strings.Repeat("x", 20_000)
	for _, sent := range []int{0, 5, 50} { // objects before, in batches of a dozen
		for _, keep := range []int{0, 1, 5, 12, 49, 60} {
			a := open(t, newPool(t, Config{}), Options{}).Aggregate(unused)
			var want []string
			for i := range sent {
				o := configMap(t, fmt.Sprintf("o%d", i), big)
				addAll(t, a, o)
				if i < keep {
					want = append(want, fmt.Sprintf("%d %s unused %s", i, o, o.Name))
				}
			}
			a.Truncate(keep)
			for i := range 15 {
				o := configMap(t, fmt.Sprintf("again%d", i), big)
				addAll(t, a, o)
				want = append(want, fmt.Sprintf("%d %s unused %s", min(sent, keep)+i, o, o.Name))
			}
			got, err := a.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, selectedNames(got)); diff != "" {
				t.Errorf("%d sent, %d kept: %s", sent, keep, diff)
			}
		}
	}
}

// TestAggregateBesideStreams adds what a stream finds, as a run does: both use one child.
func TestAggregateBesideStreams(t *testing.T) {
	s := open(t, newPool(t, Config{}), Options{})
	a := s.Aggregate(unused)
	stream := s.Stream(behave, func(j Judged) error {
		if !j.Matching {
			return j.Err
		}
		return a.Add(t.Context(), j.Object)
	})
	for i := range 3000 {
		value := strings.Repeat("y", 1000)
		if i%3 == 0 {
			value = "yes"
		}
		if err := stream.Add(t.Context(), configMap(t, fmt.Sprintf("o%d", i), value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := a.Finish(t.Context())
	if err != nil || len(got) != 1000 || got[999].Object.Name != "o2997" {
		t.Errorf("got %d, %v", len(got), err)
	}
}

func TestAggregateFaults(t *testing.T) {
	cases := map[string]string{
		`error("no")`:       "line 1: no",
		`return 3`:          "evaluate returned a number; return a table such as {resources={{resource=obj}}}",
		`while true do end`: "evaluate took longer than 400ms and was stopped in line 1: look for an endless loop, or do less work in the script",
		`string.find(string.rep("a", 1000000), string.rep("a?", 1000) .. "b.-c")`: "took longer than 400ms, in a single step that could not be " +
			"interrupted: look for a pattern that backtracks, or do less work in the script",
		`local t = {} for i = 1, 3000 do t[i] = string.rep("x", 1000000 + i) end return table.concat(t)`: "used more than 304 MiB of memory for 1 objects: " +
			"select fewer, or look at less of each",
		`resources[1].metadata.name = "c" return {resources={{resource=resources[1]}}}`:            `resources[1].resource was`,
		`return {resources={{resource={kind="ConfigMap", apiVersion="v1", metadata={name="c"}}}}}`: `resources[1].resource is`,
	}
	p := newPool(t, Config{})
	for body, want := range cases {
		options := short
		if strings.Contains(want, "memory") {
			options.AggregateTimeout = 30 * time.Second
		}
		got, err := open(t, p, options).Choose(t.Context(), "function evaluate() "+body+" end", objectsOf(t, "a"))
		if err == nil || !strings.HasPrefix(err.Error(), want) || got != nil {
			t.Errorf("%s: got %v, %v", body, got, err)
		}
	}
}

// TestManyObjects gives a script as many objects as a session has room for.
func TestManyObjects(t *testing.T) {
	s := open(t, newPool(t, Config{MaxMemory: 160 << 20}), Options{})
	a := s.Aggregate(`function evaluate() local n = 0 for _, r in ipairs(resources) do n = n + #r.data.k end
		return {resources={{resource=resources[#resources], message="" .. n}}} end`)
	value := strings.Repeat("x", 2000)
	const count = 20_000
	for i := range count {
		addAll(t, a, configMap(t, fmt.Sprintf("o%d", i), value))
	}
	got, err := a.Finish(t.Context())
	if err != nil || len(got) != 1 || got[0].Message != fmt.Sprint(2000*count) || got[0].Index != count-1 {
		t.Errorf("got %v, %v", selectedNames(got), err)
	}
}

func TestAggregateIsTooLarge(t *testing.T) {
	a := open(t, newPool(t, Config{MaxMemory: 128 << 20}), Options{}).Aggregate(unused)
	value := strings.Repeat("x", 200_000)
	var err error
	added := 0
	for ; err == nil && added < 2_000; added++ {
		err = a.Add(t.Context(), configMap(t, fmt.Sprintf("o%d", added), value))
	}
	// How much they need depends on whether the child had collected its garbage by then, and that on how busy the machine is.
	needs := regexp.MustCompile(`objects selected so far need about [0-9]+ MiB of memory at once`)
	if budgetKind(err) != BudgetObjects || !needs.MatchString(err.Error()) || !strings.Contains(err.Error(), "--max-script-memory") {
		t.Errorf("after %d objects: %v", added, err)
	}
	if _, err := a.Finish(t.Context()); budgetKind(err) != BudgetObjects {
		t.Errorf("Finish: %v", err)
	}
}

func TestAggregateIsCancelled(t *testing.T) {
	stop := errors.New("the run was stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	a := open(t, newPool(t, Config{}), Options{}).Aggregate("function evaluate() while true do end end")
	addAll(t, a, configMap(t, "a", "1"))
	time.AfterFunc(300*time.Millisecond, func() { cancel(stop) })
	begin := time.Now()
	if _, err := a.Finish(ctx); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("took %s", took)
	}
}

// TestLeaveOutData: a script that does not look at the data of Secrets is not given it, and one that does, has it, however it gets there.
func TestLeaveOutData(t *testing.T) {
	secrets := object.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Resource: "secrets", Namespaced: true}
	const raw = `{"metadata":{"namespace":"default","name":"one","uid":"u1","resourceVersion":"1"},"data":{"k":"aHVudGVyMg=="},"type":"Opaque"}`
	objects := []object.Object{newObject(t, secrets, raw), configMap(t, "two", "v")}
	const bare = `{"metadata":{"namespace":"default","name":"one","uid":"u1","resourceVersion":"1"},"type":"Opaque"}`
	for name, test := range map[string]struct {
		body  string
		tries int
		raw   string
	}{
		"reads metadata and type": {`return {resources={{resource=resources[1], message=resources[1].metadata.name .. resources[1].type}}}`, 1, bare},
		"reads data":              {`return {resources={{resource=resources[1], message=resources[1].data.k}}}`, 1, raw},
		"names it otherwise":      {`return {resources={{resource=resources[1], message=resources[1]["da" .. "ta"].k}}}`, 2, raw},
		"by rawget":               {`return {resources={{resource=resources[1], message=rawget(resources[1], "dat" .. "a").k}}}`, 2, raw},
		"walks over it":           {`for _, v in pairs(resources[1]) do end return {resources={{resource=resources[1]}}}`, 2, raw},
		"asks for the next field": {`local k = next(resources[1]) return {resources={{resource=resources[1], message=k}}}`, 2, raw},
		"walks over another":      {`for _, v in pairs(resources[2]) do end return {resources={{resource=resources[1]}}}`, 1, bare},
		"sets a field":            {`resources[1].seen = true return {resources={{resource=resources[1]}}}`, 2, raw},
		"fails for want of it":    {`local key = "da" return {resources={{resource=resources[1], message=resources[1][key .. "ta"].k .. "x"}}}`, 2, raw},
		"hides that it looked":    {`pcall(function() return resources[1]["da" .. "ta"].k end) return {resources={{resource=resources[1]}}}`, 2, raw},
		"looks with one left out": {`if #resources == 1 then local x = resources[1]["da" .. "ta"] end return {resources={{resource=resources[1]}}}`, 2, raw},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, newPool(t, Config{}), Options{})
			var got []Selected
			var err error
			tries := 0
			for tries == 0 || is[*OutgrownError](err) && tries < 4 {
				tries++
				a := s.Aggregate("function evaluate() " + test.body + " end")
				a.LeaveOutData()
				addAll(t, a, objects...)
				if strings.Contains(test.body, "#resources == 1") {
					a.Unchosen = []int{1}
				}
				got, err = a.Finish(t.Context())
				a.Close()
			}
			if err != nil || len(got) != 1 || string(got[0].Object.Raw) != test.raw || tries != test.tries {
				t.Errorf("after %d tries: %v, %v", tries, got, err)
			}
		})
	}
}
