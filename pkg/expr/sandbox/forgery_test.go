// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// forgeries are what a child might answer that scripts have taken over, by name. Each is a whole answer to the question after
// the script was compiled.
func forgeries() map[string][]byte {
	frame := func(answers ...answer) []byte {
		var content []byte
		for _, a := range answers {
			content = a.append(content)
		}
		return appendBytes(nil, content)
	}
	yes := answer{kind: answerYes, text: "fine"}
	selected := func(index uint32, raw string) answer {
		return answer{kind: answerSelected, index: index, raw: []byte(raw)}
	}
	ready := answer{kind: answerReady}
	return map[string][]byte{
		"empty frame":             make([]byte, 4),
		"huge frame":              {0xff, 0xff, 0xff, 0xff, 1},
		"frame over the limit":    append(binary.LittleEndian.AppendUint32(nil, maxAnswer+1), byte(answerYes)),
		"unknown answer":          appendBytes(nil, []byte{200}),
		"answer zero":             appendBytes(nil, []byte{0}),
		"cut text":                appendBytes(nil, []byte{byte(answerYes), 10, 0, 'x'}),
		"cut patch":               appendBytes(nil, []byte{byte(answerPatch), 0, 0, 0xff, 0xff, 0xff, 0xff, '{'}),
		"long message":            frame(answer{kind: answerYes, text: strings.Repeat("x", maxText+1)}),
		"control characters":      frame(answer{kind: answerYes, text: "\x1b[31mred"}),
		"line feed":               frame(answer{kind: answerYes, text: "a\nb"}),
		"no UTF-8":                frame(answer{kind: answerYes, text: "\xff"}),
		"error with escapes":      frame(answer{kind: answerScriptError, text: "a\x00b"}),
		"more answers":            frame(yes, yes),
		"more answers, of prints": frame(yes, answer{kind: answerPrint, text: "x"}, yes),
		"wrong kind":              frame(answer{kind: answerSyntaxError + 100}),
		"index out of range":      frame(selected(1, object1), ready),
		"largest index":           frame(selected(1<<32-1, object1), ready),
		"twice":                   frame(selected(0, object1), selected(0, object1), ready),
		"other bytes":             frame(selected(0, strings.Replace(object1, "one", "two", 1)), ready),
		"no bytes":                frame(selected(0, ""), ready),
		"patch of the name":       frame(answer{kind: answerPatch, raw: []byte(`{"metadata":{"name":"other"}}`)}),
		"patch of the metadata":   frame(answer{kind: answerPatch, raw: []byte(`{"metadata":null}`)}),
		"patch of the kind":       frame(answer{kind: answerPatch, raw: []byte(`{"kind":"Secret"}`)}),
		"patch that is a list":    frame(answer{kind: answerPatch, raw: []byte(`[1]`)}),
		"patch that is no JSON":   frame(answer{kind: answerPatch, raw: []byte(`{`)}),
		"patch and garbage":       frame(answer{kind: answerPatch, raw: []byte(`{} {}`)}),
		"early end":               nil,
		aliveWithoutEnd:           frame(answer{kind: answerAlive}),
	}
}

// aliveWithoutEnd is said again and again.
const aliveWithoutEnd = "alive without end"

const object1 = `{"metadata":{"namespace":"default","name":"one","uid":"u1","resourceVersion":"1"}}`

// forge is the child: it answers as it should until it is asked about objects, and then what its name says.
func forge(name string) int {
	in := bufio.NewReader(os.Stdin)
	for {
		request, err := readFrame(in, nil, 1<<30)
		if err != nil {
			return 0
		}
		reply := appendBytes(nil, []byte{byte(answerReady)})
		if request[0] == askProgram {
			reply = appendBytes(nil, answer{kind: answerProgram, reads: object.Part{}}.append(nil))
		}
		last := request[0] == askJudge || request[0] == askTransform || request[0] == askAggregate
		if last {
			reply = forgeries()[name]
		}
		if _, err := os.Stdout.Write(reply); err != nil || last && len(reply) == 0 {
			return 0
		}
		for name == aliveWithoutEnd && last {
			if _, err := os.Stdout.Write(reply); err != nil {
				return 0
			}
		}
		if last {
			_, _ = io.Copy(io.Discard, in)
		}
	}
}

// TestForgeries lets a child lie in all ways. No lie may become a result.
func TestForgeries(t *testing.T) {
	o := newObject(t, configMapKind, object1)
	uses := map[string]func(s *Session) (any, error){
		"Evaluate": func(s *Session) (any, error) {
			match, err := s.Evaluate(t.Context(), "x", o)
			return match.Matching || match.Message != "", err
		},
		"Stream": func(s *Session) (any, error) {
			judged := 0
			stream := s.Stream("x", func(j Judged) error {
				if j.Err == nil {
					judged++
				}
				return j.Err
			})
			_ = stream.Add(t.Context(), o)
			err := stream.Finish(t.Context())
			return judged > 0, err
		},
		"Transform": func(s *Session) (any, error) {
			patch, message, err := s.Transform(t.Context(), "x", o)
			return patch != nil || message != "", err
		},
		"Aggregate": func(s *Session) (any, error) {
			a := s.Aggregate("x")
			if err := a.Add(t.Context(), o); err != nil {
				return false, err
			}
			selected, err := a.Finish(t.Context())
			return len(selected) > 0, err
		},
	}
	for name := range forgeries() {
		for use, try := range uses {
			if name == aliveWithoutEnd && use != "Evaluate" { // 10 s of a core, in code that all uses share
				continue
			}
			t.Run(name+"/"+use, func(t *testing.T) {
				t.Parallel()
				s := open(t, newPool(t, Config{Command: []string{os.Args[0], "forge", name}}), short)
				begin := time.Now()
				result, err := try(s)
				if result != false || err == nil {
					t.Errorf("got %v, %v", result, err)
				}
				// A child that ends, or answers nothing, is no lie, but no verdict either.
				want := map[string]BudgetKind{"early end": BudgetCrash, aliveWithoutEnd: BudgetTime}[name]
				if budgetKind(err) != want || want == "" && !is[*protocolError](err) {
					t.Errorf("got %v", err)
				}
				if took := time.Since(begin); took > time.Minute {
					t.Errorf("took %s", took)
				}
			})
		}
	}
}

// TestPatchOfAForgerIsChecked: a child that does not keep to the limit is not believed, and what it writes twice counts once.
func TestPatchOfAForgerIsChecked(t *testing.T) {
	t.Parallel()
	var tooLarge *object.PatchSizeError
	long := `{"data":{"k":"` + strings.Repeat("x", object.MaxPatch) + `"}}`
	if patch, err := readPatch([]byte(long)); patch != nil || !errors.As(err, &tooLarge) || tooLarge.Bytes != len(long) {
		t.Errorf("a patch of %d bytes: got %v", len(long), err)
	}
	if patch, err := readPatch([]byte(`{"metadata":{"name":"other"},"metadata":{"labels":{"a":"<"}}}`)); err != nil || string(patch) != `{"metadata":{"labels":{"a":"<"}}}` {
		t.Errorf("got %s, %v", patch, err)
	}
}

func TestProgramThatIsNoChild(t *testing.T) {
	for command, want := range map[string]string{
		"/nonexistent":                   "finding the program that runs scripts",
		filepath.Join(programs, "probe"): "", // it is a child
		"/bin/true":                      "the process that runs scripts did not start: exit status 0",
	} {
		_, err := open(t, newPool(t, Config{Command: []string{command}}), Options{}).Evaluate(t.Context(), behave, configMap(t, "a", ""))
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: got %v", command, err)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	for _, frame := range forgeries() {
		f.Add(frame[min(len(frame), 4):])
	}
	f.Add([]byte("\x0600\x00")) // a flag that is neither 0 nor 1
	f.Fuzz(func(t *testing.T, frame []byte) {
		d := &decoder{rest: frame}
		for len(d.rest) > 0 {
			before := len(d.rest)
			a, err := d.answer()
			if err != nil {
				return
			}
			if len(d.rest) >= before || len(a.text) > maxText || len(a.more) > maxText || len(a.raw) > len(frame) {
				t.Fatalf("%+v of %d bytes", a, before)
			}
			if again := a.append(nil); string(again) != string(frame[len(frame)-before:len(frame)-len(d.rest)]) {
				t.Fatalf("%+v is written as %x", a, again)
			}
		}
	})
}
