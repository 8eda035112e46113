// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/binary"
	"errors"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// What the parent asks. The first byte of a request.
const (
	askReady     = 1 + iota // settings; ready
	askProgram              // number, source; a program or a fault
	askCheck                // function, source; a program or a fault
	askJudge                // program, kind, count, flags, items; yes, no, beyond or a fault for each item
	askTransform            // program, kind, item; a patch or a fault
	askCollect              // first index, kind, count, items; ready
	// program, number, count, flag, places to leave out; any number of selected, then ready, beyond or a fault
	askAggregate
)

// The flags of askJudge.
const (
	judgeData = 1 << iota // the data of each item stands behind it
	judgePart             // each item is the part of an object that the script reads
)

// The flag of askAggregate: the Secrets are without their data.
const aggregateWithoutData = 1

// answerKind is the first byte of an answer. A frame of the child holds any number of answers.
type answerKind uint8

const (
	answerNo        answerKind = 1 + iota
	answerNoBecause            // no, with a message
	answerYes
	answerBeyond // the script looked further than the part that it was given; so it is for all items behind it
	answerReady
	answerProgram // what it reads of an object
	answerPrint   // what a script printed; goes before any other answer
	answerPatch
	answerSelected
	answerScriptError
	answerSyntaxError
	answerTimeout
	answerFailure
	answerOutOfTime   // the last words of a child, about the object it is at
	answerOutOfMemory // the same
	answerTooLarge    // the patch, of so many bytes
	answerAlive       // the current step takes longer because the child had no processor; goes before any other answer
)

const (
	// maxText bounds each text in an answer in bytes, as the messages of scripts are bounded.
	maxText = 1 << 10
	// maxItem bounds one object's bytes, with room over the limit of lists.
	maxItem = 9 << 20
	// maxData bounds what goes with an object besides it, in bytes.
	maxData = 4 << 20
	// maxAnswer bounds a frame of the child.
	maxAnswer = maxItem + 1<<20
	// flushSize is from which size on the child sends what it has, so that frames stay below maxAnswer.
	flushSize = 64 << 10
)

type answer struct {
	kind         answerKind
	index        uint32
	line, column uint32
	limit        time.Duration
	text, more   string
	raw          []byte
	reads        object.Part
}

func (a answer) append(b []byte) []byte {
	b = append(b, byte(a.kind))
	switch a.kind {
	case answerYes, answerNoBecause, answerPrint, answerFailure:
		b = appendText(b, a.text)
	case answerProgram:
		b = appendPart(b, a.reads)
	case answerPatch:
		b = appendText(b, a.text)
		b = appendBytes(b, a.raw)
	case answerSelected:
		b = binary.LittleEndian.AppendUint32(b, a.index)
		b = appendText(b, a.text)
		b = appendBytes(b, a.raw)
	case answerScriptError:
		b = binary.LittleEndian.AppendUint32(b, a.line)
		b = appendText(b, a.text)
	case answerSyntaxError:
		b = binary.LittleEndian.AppendUint32(b, a.line)
		b = binary.LittleEndian.AppendUint32(b, a.column)
		b = appendText(b, a.text)
		b = appendText(b, a.more)
	case answerTooLarge:
		b = binary.LittleEndian.AppendUint32(b, a.index)
	case answerTimeout:
		b = binary.LittleEndian.AppendUint32(b, a.line)
		b = binary.LittleEndian.AppendUint64(b, uint64(a.limit))
		b = appendText(b, a.text)
	}
	return b
}

// answer takes the next answer off a frame. Raw is valid as long as the frame is.
func (d *decoder) answer() (answer, error) {
	a, known := d.unchecked()
	switch {
	case !known:
		return answer{}, &protocolError{"an unknown answer"}
	case d.bad:
		return answer{}, &protocolError{"an answer that is cut short"}
	case !presentable(a.text) || !presentable(a.more):
		return answer{}, &protocolError{"a text that is too long or has control characters"}
	}
	return a, nil
}

// unchecked takes an answer off a frame, whatever it says. known is false of one whose kind does not exist.
func (d *decoder) unchecked() (a answer, known bool) {
	a.kind = answerKind(d.u8())
	switch a.kind {
	case answerNo, answerBeyond, answerReady, answerOutOfTime, answerOutOfMemory, answerAlive:
	case answerYes, answerNoBecause, answerPrint, answerFailure:
		a.text = d.text()
	case answerProgram:
		a.reads = d.part()
	case answerPatch:
		a.text, a.raw = d.text(), d.bytes()
	case answerSelected:
		a.index, a.text, a.raw = d.u32(), d.text(), d.bytes()
	case answerScriptError:
		a.line, a.text = d.u32(), d.text()
	case answerSyntaxError:
		a.line, a.column, a.text, a.more = d.u32(), d.u32(), d.text(), d.text()
	case answerTooLarge:
		a.index = d.u32()
	case answerTimeout:
		a.line, a.limit, a.text = d.u32(), time.Duration(d.i64()), d.text()
	default:
		return answer{}, false
	}
	return a, true
}

// verdictAnswer is what evaluate said, as an answer.
func verdictAnswer(match lua.Match, err error) answer {
	switch {
	case err != nil:
		return faultAnswer(err)
	case match.Matching:
		return answer{kind: answerYes, text: match.Message}
	case match.Message != "":
		return answer{kind: answerNoBecause, text: match.Message}
	}
	return answer{kind: answerNo}
}

// faultAnswer is an error of the lua package as an answer.
func faultAnswer(err error) answer {
	var (
		script  *lua.ScriptError
		syntax  *lua.SyntaxError
		timeout *lua.TimeoutError
		large   *object.PatchSizeError
	)
	switch {
	case errors.As(err, &large):
		return answer{kind: answerTooLarge, index: uint32(large.Bytes)}
	case errors.As(err, &script):
		return answer{kind: answerScriptError, line: uint32(script.Line), text: shown(script.Msg)}
	case errors.As(err, &syntax):
		return answer{
			kind:   answerSyntaxError,
			line:   uint32(syntax.Line),
			column: uint32(syntax.Column),
			text:   shown(syntax.Msg),
			more:   shown(syntax.Text),
		}
	case errors.As(err, &timeout):
		return answer{kind: answerTimeout, line: uint32(timeout.Line), limit: timeout.Limit, text: shown(timeout.Function)}
	}
	return answer{kind: answerFailure, text: shown(err.Error())}
}

// fault is the error that an answer stands for; nil when it stands for none.
func (a answer) fault() error {
	switch a.kind {
	case answerScriptError:
		return &lua.ScriptError{Line: int(a.line), Msg: a.text}
	case answerSyntaxError:
		return &lua.SyntaxError{Line: int(a.line), Column: int(a.column), Msg: a.text, Text: a.more}
	case answerTimeout:
		return &lua.TimeoutError{Function: a.text, Limit: a.limit, Line: int(a.line)}
	case answerTooLarge:
		return &object.PatchSizeError{Bytes: int(a.index)}
	case answerFailure:
		return errors.New(a.text)
	}
	return nil
}

// mustBe is an error for an answer that is neither of the wanted kind nor a fault.
func (a answer) mustBe(wanted answerKind) error {
	if a.kind != wanted && a.fault() == nil {
		return &protocolError{"a wrong answer"}
	}
	return nil
}

// shown makes a text presentable.
func shown(text string) string {
	runes := make([]rune, 0, min(len(text), maxText))
	size := 0
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			r = ' '
		case unicode.IsControl(r):
			continue
		}
		if size += utf8.RuneLen(r); size > maxText {
			break
		}
		runes = append(runes, r)
	}
	return string(runes)
}

// settings are what a child gets first.
type settings struct {
	memory                          int64 // bytes
	now                             time.Time
	seed                            int64
	objectTimeout, aggregateTimeout time.Duration
	print                           bool
}

func (s settings) append(b []byte) []byte {
	for _, n := range []int64{
		s.memory, s.now.Unix(), int64(s.now.Nanosecond()), s.seed, int64(s.objectTimeout), int64(s.aggregateTimeout),
	} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return append(b, flag(s.print))
}

func (d *decoder) settings() settings {
	s := settings{memory: d.i64()}
	seconds, nanoseconds := d.i64(), d.i64()
	s.now, s.seed = time.Unix(seconds, nanoseconds), d.i64()
	s.objectTimeout, s.aggregateTimeout, s.print = time.Duration(d.i64()), time.Duration(d.i64()), d.flag()
	return s
}
