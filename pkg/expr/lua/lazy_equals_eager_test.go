// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package lua

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	gopher "github.com/yuin/gopher-lua"
	utilclock "k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/object"
	seeds "github.com/kubecleaner/kubecleaner/test/testenv/seed"
)

// notes is what a script noticed: scalars as they are, tables by a number that says which one it was.
type notes struct {
	lines  []string
	tables map[gopher.LValue]int
}

var address = regexp.MustCompile(`(table|function|userdata): 0x[0-9a-f]+`)

func (n *notes) reset() { n.lines, n.tables = nil, make(map[gopher.LValue]int) }

func (n *notes) note(state *gopher.LState) int {
	var words []string
	for i := 1; i <= state.GetTop(); i++ {
		switch value := state.Get(i).(type) {
		case *gopher.LTable, *gopher.LFunction, *gopher.LUserData:
			if _, ok := n.tables[value]; !ok {
				n.tables[value] = len(n.tables)
			}
			words = append(words, fmt.Sprintf("%s %d", value.Type(), n.tables[value]))
		default:
			words = append(words, fmt.Sprintf("%s %q", value.Type(), address.ReplaceAllString(value.String(), "$1")))
		}
	}
	n.lines = append(n.lines, strings.Join(words, ", "))
	return 0
}

// engines runs one script on both.
type engines struct {
	lazy                  *Session
	eager                 *eagerSession
	lazyNotes, eagerNotes notes
}

func newEngines(t testing.TB, source string) *engines {
	program, err := Compile(source)
	if err != nil {
		t.Fatalf("%v in\n%s", err, source)
	}
	options := Options{Now: now, Clock: utilclock.RealClock{}, ObjectTimeout: time.Minute}
	e := &engines{lazy: program.NewSession(options), eager: &eagerSession{Session: program.NewSession(options)}}
	own := e.eager.functions()
	own.base["note"] = e.eagerNotes.note
	e.eager.box = newEagerSandbox(own)
	return e
}

func (e *engines) begin() {
	e.lazyNotes.reset()
	e.eagerNotes.reset()
	if e.lazy.box == nil {
		own := e.lazy.functions()
		own.base["note"] = e.lazyNotes.note
		e.lazy.box = newSandbox(own)
	}
}

// outcome is all that a caller or a script can notice.
type outcome struct {
	Result, Err string
	Notes       []string
}

// drawn is a script and the objects to run it on.
type drawn struct {
	source, function string
	items            []string
	// part is one that the script may well look beyond.
	part object.Part
}

func draw(c *chooser, objects int) drawn {
	const start = "local v1, v2, v3, v4, v5, v6 = o, o.spec, o.list, {o.metadata}, {}, nil\n"
	const startMany = "local v1, v2, v3, v4, v5, v6 = o[1], o[2].spec, o, {o[3].metadata}, {}, nil local obj = o[1]\n"
	var d drawn
	for i := range objects {
		d.items = append(d.items, c.item(string(rune('a'+i%8))))
	}
	switch c.n(4) {
	case 3:
		const startFields = "local v1, v2, v3, v4, v5, v6 = obj.a, obj.spec, obj.list, {obj.metadata.name}, {}, nil\n"
		c.fields = true
		d.function = "part"
		d.source = c.script("evaluate", startFields, []string{"{matching=v6, message=v5}", "$t", "{message=table.concat($t)}", "{matching=#$t > 1}"})
	case 0:
		d.function = "evaluate"
		d.part = object.Part{Narrow: true, ManagedFields: c.n(2) == 0, Fields: []string{"spec", c.of("metadata", "list"), c.of("a", "b", "list")}}
		d.source = c.script(d.function, start, []string{
			"{matching=true, message='m'}", "{matching=v6, message=v5}", "$t", "{message=table.concat($t)}", "{}", "{matching=#$t > 1}",
		})
	case 1:
		d.function = "transform"
		d.source = c.script(d.function, start, []string{
			"{resource=obj}", "{resource=o}", "{resource=o}", "{resource=o, message='m'}", "{resource=$t}", "nil", "$t",
			"{resource={apiVersion=o.apiVersion, kind=o.kind, metadata=o.metadata, spec=$t, list=o.list}}",
		})
	default:
		d.function = "aggregate"
		own := "{resources={{resource={apiVersion='v1', kind='Thing', metadata={namespace='default', name='b', uid=%s}}}}}"
		d.source = c.script("evaluate", startMany, []string{
			"{resources={{resource=o[2], message='m'}, {resource=o[1]}}}", "{resources={{resource=$t}}}", "{resources=$t}", "$t",
			fmt.Sprintf(own, "nil"), fmt.Sprintf(own, "'uid-b'"), fmt.Sprintf(own, "'x'"),
			"{resources={{resource=o[3]}, {resource=o[1], message=$e}}}",
		})
	}
	return d
}

func (e *engines) compare(t testing.TB, d drawn, objects ...object.Object) {
	e.begin()
	var lazy, eager any
	var lazyErr, eagerErr error
	switch d.function {
	case "evaluate":
		e.comparePart(t, d.source, objects[0], d.part)
		e.begin()
		lazy, lazyErr = e.lazy.Evaluate(t.Context(), objects[0])
		eager, eagerErr = e.eager.Evaluate(objects[0])
	case "transform":
		lazy, lazyErr = transformed(e.lazy.Transform(t.Context(), objects[0]))
		eager, eagerErr = transformed(e.eager.Transform(objects[0]))
	case "part":
		e.comparePart(t, d.source, objects[0], Reads(d.source))
		return
	case "aggregate":
		lazy, lazyErr = e.lazy.Aggregate(t.Context(), collection(objects...))
		eager, eagerErr = e.eager.Aggregate(objects)
	}
	want := seen(t, eager, eagerErr, e.eagerNotes.lines)
	if diff := cmp.Diff(want, seen(t, lazy, lazyErr, e.lazyNotes.lines)); diff != "" {
		t.Fatalf("eager (-) and lazy (+) differ:\n%s\non %s\nby %s", diff, objects[0].Raw, strings.TrimPrefix(d.source, prelude))
	}
}

func seen(t testing.TB, result any, err error, lines []string) outcome {
	return outcome{
		Result: address.ReplaceAllString(encode(t, result), "$1"), Err: address.ReplaceAllString(text(err), "$1"), Notes: lines,
	}
}

func transformed(patch map[string]any, message string, err error) ([]any, error) {
	return []any{patch, message}, err
}

func objectsOf(d drawn) []object.Object {
	var objects []object.Object
	for _, item := range d.items {
		objects = append(objects, object.Object{Kind: kind("", "v1", "Thing"), Raw: []byte(item)})
	}
	return objects
}

// compareAll runs the script on each object, or, when it wants many, on three at a time. It returns the number of pairs.
func compareAll(t testing.TB, d drawn) int {
	e := newEngines(t, d.source)
	defer e.lazy.Close()
	defer e.eager.box.state.Close()
	objects := objectsOf(d)
	step := 1
	if d.function == "aggregate" {
		step = 3
	}
	pairs := 0
	for i := 0; i+step <= len(objects); i++ {
		e.compare(t, d, objects[i:i+step]...)
		pairs++
	}
	return pairs
}

// TestMillionPairs compares the engines on random scripts and objects: 3,000 pairs of them, or as many as PAIRS says.
func TestMillionPairs(t *testing.T) {
	wanted := 3000
	if text := os.Getenv("PAIRS"); text != "" {
		var err error
		if wanted, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	first := seeds.New() << 24 // what another seed tries is far away
	workers := min(runtime.GOMAXPROCS(0), 8)
	var wait sync.WaitGroup
	for worker := range workers {
		wait.Go(func() {
			// Fatal ends the goroutine, as it should.
			for pairs, seed := 0, first+uint64(worker); pairs < wanted/workers && !t.Failed(); seed += uint64(workers) {
				d := draw(newChooser(nil, seed), 24)
				pairs += compareAll(quietly{t, seed}, d)
			}
		})
	}
	wait.Wait()
}

// quietly lets a goroutine of a test fail it, with the seed.
type quietly struct {
	*testing.T
	seed uint64
}

func (q quietly) Fatalf(format string, arguments ...any) {
	q.Errorf("seed %d: "+format, append([]any{q.seed}, arguments...)...)
	runtime.Goexit()
}

// FuzzLazyEqualsEager is the same, steered by the fuzzer.
func FuzzLazyEqualsEager(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, []byte{byte(seed), 200, 3, 7, 9, 11})
	}
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		if len(data) > 4096 {
			t.Skip()
		}
		compareAll(t, draw(newChooser(data, seed), 4))
	})
}
