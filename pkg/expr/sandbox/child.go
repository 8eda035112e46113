// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubecleaner/kubecleaner/pkg/expr/lua"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// childArgument is the only argument of a child.
const childArgument = "run-scripts-of-kubecleaner"

// Main runs the script child, if this process was started as one, and does not return then. A program that uses a Pool
// calls it first of all.
func Main() {
	if len(os.Args) < 2 || os.Args[len(os.Args)-1] != childArgument {
		return
	}
	// The parent decides when a child ends, also when a terminal sends a signal to both.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	lua.Contain()
	clk := clock.RealClock{}
	c := &child{
		clock:       clk,
		reply:       newReply(os.Stdout, clk),
		sessions:    map[uint32]*lua.Session{},
		reads:       map[uint32]object.Part{},
		collections: map[uint32]*lua.Collection{},
	}
	if err := c.serve(os.Stdin); !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child answers the requests of its parent, one after the other.
type child struct {
	clock       clock.PassiveClock
	reply       *reply
	settings    settings
	sessions    map[uint32]*lua.Session // by program
	reads       map[uint32]object.Part
	collections map[uint32]*lua.Collection
}

// serve answers until there are no more requests, which is io.EOF.
func (c *child) serve(requests io.Reader) error {
	reader := bufio.NewReaderSize(requests, 64<<10)
	var buffer []byte
	for {
		frame, err := readFrame(reader, buffer, 1<<30)
		if err != nil {
			return err
		}
		buffer = frame
		c.reply.wakeWatch()
		d := &decoder{rest: frame}
		if err := c.handle(d); err != nil {
			return err
		}
		if d.bad {
			return errors.New("a request is cut short")
		}
		c.reply.flush()
	}
}

func (c *child) handle(d *decoder) error {
	switch ask := d.u8(); ask {
	case askReady:
		c.settings = d.settings()
		return c.begin(c.settings.memory)
	case askProgram:
		number, source := d.u32(), string(d.bytes())
		c.step(compileTimeout, func() answer { return c.program(number, source) })
	case askCheck:
		function, source := d.text(), string(d.bytes())
		c.step(compileTimeout, func() answer { return check(function, source) })
	case askJudge:
		c.judge(d)
	case askTransform:
		c.transform(d)
	case askCollect:
		c.step(c.settings.objectTimeout, func() answer { return c.collect(d) })
	case askAggregate:
		c.aggregate(d)
	default:
		return fmt.Errorf("an unknown request %d", ask)
	}
	return nil
}

// step does one thing under the watch's eyes and answers with its result.
func (c *child) step(limit time.Duration, do func() answer) {
	c.reply.begin(limit)
	a := do()
	c.reply.end(a)
}

// begin limits the child. The collector works harder before it has all of its memory, and the watch ends the child
// before the system does, because the watch can say why.
func (c *child) begin(memory int64) error {
	if err := contain(memory); err != nil {
		return err
	}
	debug.SetMemoryLimit(memory / 4 * 3)
	c.reply.memory = uint64(memory)
	go c.reply.watch()
	c.reply.add(answer{kind: answerReady})
	return nil
}

func (c *child) program(number uint32, source string) answer {
	program, err := lua.Compile(source)
	if err != nil {
		return faultAnswer(err)
	}
	options := lua.Options{
		Now: c.settings.now, Clock: c.clock, Seed: c.settings.seed,
		ObjectTimeout: c.settings.objectTimeout, AggregateTimeout: c.settings.aggregateTimeout,
	}
	if c.settings.print {
		options.Print = func(line string) { c.reply.add(answer{kind: answerPrint, text: shown(line)}) }
	}
	c.sessions[number], c.reads[number] = program.NewSession(options), lua.Reads(source)
	return answer{kind: answerProgram, reads: c.reads[number]}
}

func (c *child) judge(d *decoder) {
	number, kind, count, flags := d.u32(), d.kind(), d.u32(), d.u8()
	session, beyond := c.sessions[number], false
	for range count {
		raw := d.bytes()
		var data object.JSON
		if flags&judgeData != 0 {
			data = d.bytes()
		}
		if session == nil || d.bad {
			d.bad = true
			return
		}
		if beyond {
			c.reply.add(answer{kind: answerBeyond})
			continue
		}
		c.step(c.settings.objectTimeout, func() answer {
			o := object.Object{Kind: kind, Raw: raw}
			if flags&judgePart == 0 {
				return verdictAnswer(session.EvaluateWith(context.Background(), o, data))
			}
			match, err := session.EvaluatePart(context.Background(), o, data, c.reads[number])
			if beyond = errors.Is(err, lua.ErrBeyondPart); beyond {
				return answer{kind: answerBeyond}
			}
			return verdictAnswer(match, err)
		})
	}
}

func (c *child) transform(d *decoder) {
	session, kind, count := c.sessions[d.u32()], d.kind(), d.u32()
	raw := d.bytes()
	if session == nil || count != 1 || d.bad {
		d.bad = true
		return
	}
	c.step(c.settings.objectTimeout, func() answer {
		patch, message, err := session.Transform(context.Background(), object.Object{Kind: kind, Raw: raw})
		if err != nil {
			return faultAnswer(err)
		}
		raw, err := object.EncodePatch(patch)
		if err != nil {
			return faultAnswer(err)
		}
		return answer{kind: answerPatch, text: message, raw: raw}
	})
}

func (c *child) collect(d *decoder) answer {
	first, kind, count, number := d.u32(), d.kind(), d.u32(), d.u32()
	collection := c.collections[number]
	if collection == nil {
		collection = lua.NewCollection()
		c.collections[number] = collection
	}
	collection.Truncate(int(first))
	d.bad = d.bad || collection.Len() != int(first)
	for range count {
		raw := d.bytes()
		if d.bad {
			break
		}
		collection.Add(object.Object{Kind: kind, Raw: raw})
	}
	return answer{kind: answerReady}
}

func (c *child) aggregate(d *decoder) {
	session, number, count, flags := c.sessions[d.u32()], d.u32(), d.u32(), d.u8()
	without := d.places()
	collection := c.collections[number]
	if collection == nil {
		collection = lua.NewCollection()
		c.collections[number] = collection
	}
	collection.Truncate(int(count))
	if session == nil || collection.Len() != int(count) || d.bad {
		d.bad = true
		return
	}
	collection.WithoutData = flags&aggregateWithoutData != 0
	given, places := collection.Without(without)
	c.reply.begin(c.settings.aggregateTimeout)
	if len(without) > 0 { // the script is asked again in the heap that it had
		runtime.GC()
		c.reply.begin(c.settings.aggregateTimeout) // it has all of its time
	}
	selected, err := session.Aggregate(context.Background(), given)
	if errors.Is(err, lua.ErrBeyondPart) {
		c.reply.end(answer{kind: answerBeyond})
		return
	}
	if err != nil {
		c.reply.end(faultAnswer(err))
		return
	}
	for _, one := range selected {
		c.reply.add(answer{
			kind: answerSelected, index: uint32(places(one.Index)), text: one.Message, raw: given.Object(one.Index).Raw,
		})
	}
	c.reply.end(answer{kind: answerReady})
}
